/** `postern config`: every setting, its value and where it came from, with secrets hidden. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Fault, reason } from "../../fault.ts";
import type { AnyPlugin } from "../../plugin.ts";
import { liveReaders } from "../../settings/live.ts";
import { say, sayJson, warn } from "../../terminal/output.ts";
import { table } from "../../terminal/table.ts";
import type { Session } from "../service/session.ts";
import type { StoreAccess } from "../store-access.ts";

const HIDDEN = "(set, hidden)";

interface Row {
  readonly name: string;
  readonly value: string | null;
  readonly source: string;
  readonly type: string;
  readonly about: string;
}

/** Shows all settings, or the one that is named. */
export async function showConfig(
  session: Session,
  plugins: readonly AnyPlugin[],
  store: StoreAccess,
  json: boolean,
  only?: string,
): Promise<void> {
  const { folder, home, given } = session;
  const { settings, ignored } = await store.peekSettings(session.settings, home, liveReaders(plugins));
  const broken: string[] = [];
  for (const plugin of plugins) {
    try {
      plugin.configure(settings.for(plugin.name));
    } catch (error) {
      broken.push(`plugin "${plugin.name}" cannot be configured: ${reason(error)}`);
    }
  }
  const declared = new Map(
    [...session.settings.declared, ...settings.declared].map((one) => [one.name, one]),
  );
  const rows = [...declared.values()].map(({ name, plugin, type, about, secret, source, value }) => ({
    ...{ name, plugin, type, about, secret },
    source: given.includes(name) ? "option" : source,
    value: secret && value !== undefined ? HIDDEN : (value ?? null),
  }));
  if (only !== undefined) return showOne(rows, only, json);
  const problems = [...session.settings.problems, ...settings.problems];
  if (json) {
    sayJson({ settings: rows, problems, ignored: Object.fromEntries(ignored) }, 2);
  } else {
    const lines = rows.map(({ name, value, source, type, about }) => [
      name,
      value ?? "(unset)",
      source,
      type,
      about,
    ]);
    say(table(["NAME", "VALUE", "FROM", "TYPE", "MEANING"], lines));
  }
  const here = join(folder, ".env");
  if (folder !== home && existsSync(here))
    warn(`postern: ${here} counts only where the service starts, so it is not shown here\n`);
  for (const [name, why] of ignored) warn(`postern: the stored setting ${name} is ignored: ${why}\n`);
  if (broken.length > 0) throw new Fault("config", "bad_plugin", broken.join("\n"));
  session.settings.assertSound();
  settings.assertSound();
}

function showOne(rows: readonly Row[], name: string, json: boolean): void {
  const row = rows.find((one) => one.name === name);
  if (row === undefined)
    throw new Fault("missing", "no_such_setting", `There is no setting ${name}: "postern config" lists all.`);
  if (json) sayJson(row, 2);
  else say(`${row.value ?? ""}\n`);
  if (row.value === null) process.exitCode = 1;
}
