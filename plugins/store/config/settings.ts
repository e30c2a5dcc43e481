/** Reads the settings of the store. */
import { join } from "node:path";
import type { Env } from "../../../kernel/plugin.ts";
import { readSecretsKey } from "../keys/secrets-key.ts";
import { type PostgresSettings, readPostgresSettings } from "./postgres-url.ts";

/** Says whether a commit waits for the disk. */
export type Durability = "full" | "normal";

/** The store is a file, the home's own where none is named, or a database. */
export type StoreSettings = {
  readonly secretsKey: string | undefined;
  readonly backup: BackupSettings | undefined;
  /** Also if no backups are made any more: old ones may be there. */
  readonly backupFolder: string | undefined;
  readonly retention: RetentionSettings;
  readonly userBytes: number;
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
  const backups = readBackupSettings(env);
  const retention = readRetention(env);
  const userBytes = 1_000_000 * readUserStorage(env);
  const settings = readPostgresSettings(env, url);
  if (settings !== undefined) {
    if (secretsKey === undefined)
      env.refuse(
        "POSTERN_SECRETS_KEY",
        "the key that all nodes on PostgreSQL share (openssl rand -base64 32)",
      );
    return { engine: "postgres", settings, secretsKey, ...backups, retention, userBytes };
  }
  if (url !== undefined && !/^(sqlite|postgres|postgresql):\/\/.+/i.test(url))
    env.refuse("STORE_URL", "sqlite://<path to a file> or postgres://<user>:<password>@<host>/<database>");
  return {
    engine: "sqlite",
    file: url?.replace(/^sqlite:\/\//, ""),
    durability,
    secretsKey,
    ...backups,
    retention,
    userBytes,
  };
}

const readUserStorage = (env: Env): number =>
  env.integer(
    "USER_STORAGE_MB",
    2000,
    { min: 1, max: 100_000_000 },
    "Megabytes that a user may keep in threads, files, memory and jobs together",
  );

export const fileOf = ({ file }: { readonly file: string | undefined }, home: string): string =>
  file ?? join(home, "store.sqlite");

const UNITS = { h: 3_600_000, d: 86_400_000 } as const;
const MAX_MS = 90 * UNITS.d;

export type BackupSettings = NonNullable<ReturnType<typeof readBackupSettings>["backup"]>;

export function readBackupSettings(env: Env) {
  const every = env.text(
    "BACKUP_EVERY",
    "off",
    "How often the service writes a backup, such as 24h or 7d; off for never",
  );
  const backupFolder = env.text(
    "BACKUP_FOLDER",
    undefined,
    "Where these backups go; default backups in the home",
  );
  const keep = env.integer("BACKUP_KEEP", 7, { min: 1, max: 1000 }, "How many of them are kept");
  if (/^(?:off|no|never|false|0)$/i.test(every)) return { backupFolder, backup: undefined };
  const [, count, unit] = /^(\d{1,4})([hd])$/i.exec(every) ?? [];
  const everyMillis = Number(count) * UNITS[(unit?.toLowerCase() ?? "h") as keyof typeof UNITS];
  if (everyMillis >= UNITS.h && everyMillis <= MAX_MS)
    return { backupFolder, backup: { everyMillis, folder: backupFolder, keep } };
  env.refuse("BACKUP_EVERY", "hours or days, such as 24h or 7d, up to 90d; or off");
  return { backupFolder, backup: undefined };
}

/** Days by kind; 0 keeps everything. Other kinds have bounds of their own. */
export type RetentionSettings = Readonly<Record<string, number>>;

function readRetention(env: Env): RetentionSettings {
  const days = (name: string, about: string) => env.integer(name, 0, { min: 0, max: 36_500 }, about);
  return {
    threads: days(
      "THREADS_RETENTION_DAYS",
      "Days until an untouched thread is deleted that is not pinned and waits for nothing; 0 keeps them",
    ),
    receipts: days(
      "RECEIPTS_RETENTION_DAYS",
      "Days until the receipt of a tool call is deleted; 0 keeps the newest 10,000",
    ),
  };
}
