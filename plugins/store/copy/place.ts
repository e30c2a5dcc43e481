/** A store by its URL, as one end of a copy. */
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { SealingKey } from "../../../kernel/kit/secrets.ts";
import type { OwnedTables } from "../../../kernel/kit/store.ts";
import { Fault, type Sql } from "../../../kernel/plugin.ts";
import { nameOf, type PostgresSettings, readPostgresUrl } from "../config/postgres-url.ts";
import { fileOf, type StoreSettings } from "../config/settings.ts";
import type { OpenStore } from "../engine/open-store.ts";
import type { Source, Target } from "./side.ts";

export interface StoreLocation {
  readonly name: string;
  readonly engine: Sql["engine"];
  /** The home that the store's files are in; undefined where it is no home's own. */
  readonly home?: string;
  source(): Promise<Source>;
  target(): Promise<Target>;
  /** Opens it as the service would, and makes it where it is not there yet. */
  open(secretsKey: SealingKey): Promise<OpenStore>;
}

export function placeOfUrl(url: string): StoreLocation {
  if (/^postgres(ql)?:\/\//i.test(url)) {
    const settings = readPostgresUrl(url, { poolSize: 2, statementSecs: 3600, tls: "prefer" });
    if (typeof settings === "string") throw badUrl(settings);
    return placeOfDatabase(settings);
  }
  const file = /^sqlite:\/\/(.+)$/.exec(url)?.[1];
  if (file === undefined) throw badUrl("sqlite://<file> or postgres://<user>:<password>@<host>/<database>");
  return placeOfFile(resolve(file));
}

/** The store that a home's settings name. */
export const ownPlace = (config: StoreSettings, home: string): StoreLocation =>
  config.engine === "postgres" ? placeOfDatabase(config.settings) : placeOfFile(fileOf(config, home), home);

/** A store in a home's own place belongs to that home. */
export function placeOfFile(
  file: string,
  home = file.endsWith("/store.sqlite") ? dirname(file) : undefined,
): StoreLocation {
  return {
    name: file,
    engine: "sqlite",
    home,
    async source() {
      if (!existsSync(file))
        throw new Fault("invalid", "no_store", `there is no store ${file}`, { param: file, usage: true });
      return (await import("./sqlite-side.ts")).openSqliteSource(file);
    },
    target: async () => (await import("./sqlite-side.ts")).openSqliteTarget(file),
    async open(key) {
      const { openPrivateStore } = await import("../sqlite/store.ts");
      return openPrivateStore(file, { secretsKey: async () => key });
    },
  };
}

function placeOfDatabase(settings: PostgresSettings): StoreLocation {
  return {
    engine: "postgres",
    name: nameOf(settings),
    source: async () => (await import("./postgres-side.ts")).openPostgresSource(settings),
    target: async () => (await import("./postgres-side.ts")).openPostgresTarget(settings),
    async open(secretsKey) {
      const { openPostgresStore } = await import("../postgres/store.ts");
      return openPostgresStore(settings, { secretsKey, serves: false });
    },
  };
}

/** Makes every table, so that there is a place for each row. */
export async function prepare(store: OpenStore, owned: readonly OwnedTables[]): Promise<void> {
  for (const { owner, migrations } of owned) await store.tables(owner, migrations);
}

const badUrl = (accepted: string) =>
  new Fault("invalid", "bad_store_url", `that is no URL of a store: use ${accepted}`, { usage: true });
