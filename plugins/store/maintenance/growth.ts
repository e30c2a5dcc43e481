/** Measures how large the store is, how fast it grows, and when its disk is full. It keeps one small row a day. */
import { statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { defineTables } from "../../../kernel/kit/store.ts";
import type { Queries } from "../../../kernel/plugin.ts";

/** They describe this store on this machine: a copy elsewhere does not take them along. */
export const MAINTENANCE_TABLES = defineTables(
  ({ text, integer, keyed }) => `
  CREATE TABLE store_sizes (day ${text} PRIMARY KEY, at ${integer} NOT NULL, bytes ${integer} NOT NULL) ${keyed};
  CREATE TABLE store_backups (
    name ${text} PRIMARY KEY, node ${text} NOT NULL, begun_at ${integer} NOT NULL, ended_at ${integer},
    error ${text}, good_at ${integer}, good_file ${text}
  ) ${keyed};`,
);

export interface StoreSize {
  readonly bytes: number;
  /** The bytes that new rows can use: pages of a SQLite file that hold nothing. */
  readonly free: number;
  /** Undefined where the disk is another machine's. */
  readonly disk?: { readonly left: number; readonly whole: number };
}

export interface SizeRow {
  readonly at: number;
  readonly bytes: number;
}

export interface Growth extends StoreSize {
  /** Undefined until there is a day to compare with. */
  readonly perDay: number | undefined;
  /** Days until the disk is full; undefined where it does not grow, or nothing is known. */
  readonly daysLeft: number | undefined;
  /** Undefined where there is room. */
  readonly problem: string | undefined;
}

const DAY_MS = 86_400_000;
const LOOKED_BACK_DAYS = 7;
const KEPT_DAYS = 90;
const MIN_BYTES = 2e9;
const MIN_SHARE = 0.1;
const MIN_DAYS = 14;
/** So long ago at least says how fast it grows. */
const MIN_COMPARED_MS = 0.9 * DAY_MS;

export interface FreeRow {
  readonly free: number;
}

export const FREE = "SELECT freelist_count * page_size AS free FROM pragma_freelist_count, pragma_page_size";

export function sizeOfFile(file: string, free: number): StoreSize {
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const { bavail, blocks, bsize } = statfsSync(dirname(file));
  return {
    bytes: sizeOf(file) + sizeOf(`${file}-wal`),
    free,
    disk: { left: bavail * bsize, whole: blocks * bsize },
  };
}

/** A file that is undefined is a database on PostgreSQL. */
export async function measure(sql: Queries, file: string | undefined): Promise<StoreSize> {
  if (file === undefined) {
    const row = await sql.get<{ bytes: number }>("SELECT pg_database_size(current_database()) AS bytes");
    return { bytes: Number(row?.bytes ?? 0), free: 0 };
  }
  return sizeOfFile(file, (await sql.get<FreeRow>(FREE))?.free ?? 0);
}

/** Keeps the size as today's. True for the one node, of all, that is the first to do so today. */
export async function keepSize(sql: Queries, { bytes }: StoreSize, now: number): Promise<boolean> {
  const isFirst =
    (await sql.run(
      "INSERT INTO store_sizes (day, at, bytes) VALUES (?, ?, ?) ON CONFLICT (day) DO NOTHING",
      new Date(now).toISOString().slice(0, 10),
      now,
      bytes,
    )) === 1;
  if (isFirst) await sql.run("DELETE FROM store_sizes WHERE at < ?", now - KEPT_DAYS * DAY_MS);
  return isFirst;
}

export const SIZES = "SELECT at, bytes FROM store_sizes ORDER BY at";

export function judge(size: StoreSize, rows: readonly SizeRow[], now: number): Growth {
  const since = rows.find(({ at }) => at >= now - LOOKED_BACK_DAYS * DAY_MS && now - at >= MIN_COMPARED_MS);
  const perDay = since && ((size.bytes - since.bytes) * DAY_MS) / (now - since.at);
  // Free pages inside the file are filled first.
  const daysLeft =
    size.disk && perDay !== undefined && perDay > 0 ? (size.disk.left + size.free) / perDay : undefined;
  return { ...size, perDay, daysLeft, problem: problemOf(size, daysLeft) };
}

function problemOf({ disk }: StoreSize, daysLeft = Number.POSITIVE_INFINITY): string | undefined {
  if (disk === undefined) return undefined;
  if (daysLeft < MIN_DAYS) return `the disk is full in about ${daysInWords(daysLeft)}`;
  // On a small disk so many bytes may be all that there is.
  const isNearlyFull =
    disk.left < disk.whole * MIN_SHARE || (disk.left < MIN_BYTES && disk.left < disk.whole / 2);
  return isNearlyFull ? "the disk is nearly full" : undefined;
}

const UNITS = ["bytes", "kB", "MB", "GB", "TB"] as const;

export function bytesInWords(bytes: number): string {
  let [amount, unit] = [bytes, 0];
  while (Math.abs(amount) >= 1000 && unit < UNITS.length - 1) {
    amount /= 1000;
    unit++;
  }
  return `${unit === 0 || Math.abs(amount) >= 100 ? Math.round(amount) : Number(amount.toFixed(1))} ${UNITS[unit]}`;
}

const daysInWords = (days: number) => (days < 1.5 ? "a day" : `${Math.round(days)} days`);

/** For `doctor`, the log and the page. */
export function growthInWords({ bytes, free, disk, perDay, daysLeft, problem }: Growth): string {
  const parts = [
    bytesInWords(bytes) + (free > bytes / 10 ? ` (${bytesInWords(free)} of it free)` : ""),
    perDay === undefined
      ? "growth not known yet"
      : Math.abs(perDay) < 1000
        ? "not growing"
        : `${perDay > 0 ? "grows" : "shrinks"} by ${bytesInWords(Math.abs(perDay))} a day`,
    disk === undefined
      ? "the disk is the database server's"
      : `${bytesInWords(disk.left)} of ${bytesInWords(disk.whole)} left on the disk`,
  ];
  if (problem !== undefined)
    return `${parts.join(", ")}: ${problem}. Delete what is old with postern store prune, or make room`;
  if (daysLeft !== undefined && daysLeft < 3650) parts.push(`full in about ${daysInWords(daysLeft)}`);
  return parts.join(", ");
}
