/** Reads the settings of scheduled backups and of what is deleted when it is old. */
import type { Env } from "../../../kernel/plugin.ts";

export interface BackupSettings {
  readonly everyMillis: number;
  /** Undefined for `backups` in the home. */
  readonly folder: string | undefined;
  readonly keep: number;
}

const UNITS = { h: 3_600_000, d: 86_400_000 } as const;
const MAX_MS = 90 * UNITS.d;

export function readBackupSettings(env: Env): BackupSettings | undefined {
  const every = env.text(
    "BACKUP_EVERY",
    "off",
    "How often the service writes a backup, such as 24h or 7d; off for never",
  );
  const folder = env.text("BACKUP_FOLDER", undefined, "Where these backups go; default backups in the home");
  const keep = env.integer("BACKUP_KEEP", 7, { min: 1, max: 1000 }, "How many of them are kept");
  if (/^(?:off|no|never|false|0)$/i.test(every)) return undefined;
  const [, count, unit] = /^(\d{1,4})([hd])$/i.exec(every) ?? [];
  const everyMillis = Number(count) * UNITS[(unit?.toLowerCase() ?? "h") as keyof typeof UNITS];
  if (everyMillis >= UNITS.h && everyMillis <= MAX_MS) return { everyMillis, folder, keep };
  env.refuse("BACKUP_EVERY", "hours or days, such as 24h or 7d, up to 90d; or off");
  return undefined;
}

/** Days by kind; 0 keeps everything. Other kinds have bounds of their own. */
export type RetentionSettings = Readonly<Record<string, number>>;

export function readRetention(env: Env): RetentionSettings {
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
