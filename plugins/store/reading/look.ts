/** A look into the store that writes nothing, whatever it finds: no table is made, no file appears beside it. */
import { existsSync } from "node:fs";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { pathToFileURL } from "node:url";
import type { Session } from "../../../kernel/cli/session.ts";
import type { StoreLook } from "../../../kernel/plugin.ts";
import { fileOf, readStoreSettings } from "../config/settings.ts";
import { lookIntoShared } from "../postgres/reading.ts";

export interface OpenLook extends StoreLook {
  /** How a person would name it; undefined where there is none yet. */
  readonly place: string | undefined;
  close(): Promise<void>;
}

export async function lookIntoStore({ settings, home }: Session): Promise<OpenLook> {
  const found = readStoreSettings(settings.for("store"));
  if (found.engine === "postgres") {
    const { shared, close } = await lookIntoShared(settings.for("store"));
    const sql = shared === undefined || shared === "unreachable" ? undefined : shared.sql;
    return {
      place: sql && `${found.settings.database} at ${found.settings.host}`,
      rows: async <Row>(text: string, ...values: readonly string[]) =>
        sql === undefined ? [] : await sql.all<Row & object>(text, ...values).catch(() => []),
      close,
    };
  }
  const file = fileOf(found, home);
  const database = existsSync(file) ? openFile(file) : undefined;
  return {
    place: database && file,
    async rows<Row>(text: string, ...values: readonly SQLInputValue[]) {
      try {
        return (database?.prepare(text).all(...values) ?? []) as Row[];
      } catch {
        // The table is not there yet.
        return [];
      }
    },
    async close() {
      database?.close();
    },
  };
}

function openFile(file: string): DatabaseSync | undefined {
  const url = pathToFileURL(file);
  // A reader of a file that nobody has open would make the files of its write-ahead log, and leave them there.
  if (!existsSync(`${file}-wal`)) url.searchParams.set("immutable", "1");
  try {
    return new DatabaseSync(url, { readOnly: true });
  } catch {
    return undefined;
  }
}
