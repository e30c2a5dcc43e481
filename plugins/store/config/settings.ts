/** Reads the settings of the store. */

import { join } from "node:path";
import type { Env } from "../../../kernel/plugin.ts";
import { readSecretsKey } from "../keys/secrets-key.ts";
import {
  type BackupSettings,
  type RetentionSettings,
  readBackupSettings,
  readRetention,
} from "./maintenance.ts";
import { type PostgresSettings, readPostgresSettings } from "./postgres-url.ts";

/** Says whether a commit waits for the disk. */
export type Durability = "full" | "normal";

/** The store is a file, the home's own where none is named, or a database. */
export type StoreSettings = {
  readonly secretsKey: string | undefined;
  /** Undefined where the service makes none. */
  readonly backup: BackupSettings | undefined;
  readonly retention: RetentionSettings;
} & (
  | { readonly engine: "sqlite"; readonly file: string | undefined; readonly durability: Durability }
  | { readonly engine: "postgres"; readonly settings: PostgresSettings }
);

export function readStoreSettings(env: Env): StoreSettings {
  const url = env.connection(
    "STORE_URL",
    "Where state is kept: sqlite://<file>, or postgres://<user>:<password>@<host>/<database> for any number of nodes; default store.sqlite in the home",
  );
  const durability = env.oneOf(
    "STORE_SYNC",
    ["full", "normal"],
    "full",
    "Whether a commit on SQLite waits for the disk: normal is faster, and a power cut loses the last moments",
  );
  const secretsKey = readSecretsKey(env);
  const backup = readBackupSettings(env);
  const retention = readRetention(env);
  const settings = readPostgresSettings(env, url);
  if (settings !== undefined) {
    if (secretsKey === undefined)
      env.refuse(
        "POSTERN_SECRETS_KEY",
        "the key that all nodes on PostgreSQL share (openssl rand -base64 32)",
      );
    return { engine: "postgres", settings, secretsKey, backup, retention };
  }
  if (url !== undefined && !/^(sqlite|postgres|postgresql):\/\/.+/i.test(url))
    env.refuse("STORE_URL", "sqlite://<path to a file> or postgres://<user>:<password>@<host>/<database>");
  return {
    engine: "sqlite",
    file: url?.replace(/^sqlite:\/\//, ""),
    durability,
    secretsKey,
    backup,
    retention,
  };
}

export const fileOf = ({ file }: { readonly file: string | undefined }, home: string): string =>
  file ?? join(home, "store.sqlite");
