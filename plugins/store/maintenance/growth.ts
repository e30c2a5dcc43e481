/** How large the store is, how fast it grows, and when its disk is full. One small row a day remembers. */

import { statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { defineTables } from "../../../kernel/kit.ts";
import type { Queries } from "../../../kernel/plugin.ts";
import { bytesInWords } from "./bytes.ts";

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
  readonly perDay?: number;
  /** Days until the disk is full; undefined where it does not grow, or nothing is known. */
  readonly daysLeft?: number;
  /** What is wrong; undefined where there is room. */
  readonly problem?: string;
}

const DAY_MS = 86_400_000;
const LOOKED_BACK_DAYS = 7;
const KEPT_DAYS = 90;
const MIN_BYTES = 2e9;
const MIN_SHARE = 0.1;
const MIN_DAYS = 14;
/** So long ago at least says how fast it grows. */
const MIN_COMPARED_MS = 0.9 * DAY_MS;

/** `free`: bytes of pages that hold nothing. */
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
  const row = await sql.get<{ free: number }>(
    "SELECT freelist_count * page_size AS free FROM pragma_freelist_count, pragma_page_size",
  );
  return sizeOfFile(file, row?.free ?? 0);
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
  if (since === undefined) return { ...size, ...problemOf(size, undefined) };
  const perDay = ((size.bytes - since.bytes) * DAY_MS) / (now - since.at);
  // What is free inside the file is filled first.
  const daysLeft = size.disk && perDay > 0 ? (size.disk.left + size.free) / perDay : undefined;
  return { ...size, perDay, ...(daysLeft !== undefined && { daysLeft }), ...problemOf(size, daysLeft) };
}

function problemOf(
  { disk }: StoreSize,
  daysLeft: number | undefined,
): { readonly problem: string } | undefined {
  if (disk === undefined) return undefined;
  if (daysLeft !== undefined && daysLeft < MIN_DAYS)
    return { problem: `the disk is full in about ${daysInWords(daysLeft)}` };
  if (disk.left < MIN_BYTES || disk.left < disk.whole * MIN_SHARE)
    return { problem: "the disk is nearly full" };
  return undefined;
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
    ...(daysLeft !== undefined && daysLeft < 3650 && problem === undefined
      ? [`full in about ${daysInWords(daysLeft)}`]
      : []),
  ];
  const what = parts.join(", ");
  return problem === undefined
    ? what
    : `${what}: ${problem}. Delete what is old with postern store prune, or make room`;
}
