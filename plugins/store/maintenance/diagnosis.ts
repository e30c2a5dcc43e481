/** What `postern doctor` says about the store. */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { reason } from "../../../kernel/fault.ts";
import type { DiagnoseContext, Finding } from "../../../kernel/plugin.ts";
import type { BackupSettings } from "../config/maintenance.ts";
import type { PostgresSettings } from "../config/postgres-url.ts";
import type { Durability } from "../sqlite/database.ts";
import { readTable } from "../sqlite/store.ts";
import {
  growthInWords,
  judge,
  measure,
  readSizes,
  type SizeRow,
  type StoreSize,
  sizeOfFile,
} from "./growth.ts";
import type { BackupRow } from "./scheduled-backup.ts";

const FLUSHES = 20;
const PAGE_BYTES = 4096;

export function examineFile(
  file: string,
  durability: Durability,
  backup: BackupSettings | undefined,
): readonly Finding[] {
  if (!statSync(file, { throwIfNoEntry: false }))
    return [{ name: "store", ok: true, detail: "no store yet; the first start creates it" }];
  const verdict = quickCheck(file);
  if (verdict === "ok")
    return [
      { name: "store", ok: true, detail: `${file} is intact` },
      examineFlush(dirname(file), durability),
      examineSize(sizeOfFile(file, freeIn(file)), readTable<SizeRow>(file, "store_sizes")),
      ...examineBackups(backup, readTable<BackupRow>(file, "store_backups")),
    ];
  const wayOut = `stop Postern and restore a backup or a ${file}.before-* snapshot`;
  return [{ name: "store", ok: false, detail: `${file} is damaged (${verdict}): ${wayOut}` }];
}

export async function examinePostgres(
  settings: PostgresSettings,
  backup: BackupSettings | undefined,
  shared: DiagnoseContext<unknown>["shared"],
): Promise<readonly Finding[]> {
  const { probePostgres } = await import("../postgres/store.ts");
  const name = "store";
  try {
    const { version, millis } = await probePostgres(settings);
    const detail = `PostgreSQL ${version}, ${settings.database} at ${settings.host}, answers in ${millis.toFixed(1)} ms`;
    const found = { name, ok: true, detail };
    if (typeof shared !== "object") return [found];
    const { sql } = shared;
    const sizes = (await shared.has("store_sizes")) ? await readSizes(sql) : [];
    const backups = (await shared.has("store_backups"))
      ? await sql.all<BackupRow>("SELECT * FROM store_backups")
      : [];
    return [found, examineSize(await measure(sql, undefined), sizes), ...examineBackups(backup, backups)];
  } catch (error) {
    return [{ name, ok: false, detail: reason(error) }];
  }
}

function examineSize(size: StoreSize, rows: readonly SizeRow[]): Finding {
  const growth = judge(size, rows, Date.now());
  const name = "store size";
  return {
    name,
    ok: true,
    ...(growth.problem !== undefined && { warning: true }),
    detail: growthInWords(growth),
  };
}

function examineBackups(
  settings: BackupSettings | undefined,
  [last]: readonly BackupRow[],
): readonly Finding[] {
  if (settings === undefined) return [];
  const name = "backups";
  const warn = (detail: string): readonly Finding[] => [{ name, ok: true, warning: true, detail }];
  const isOld = (at: number) => Date.now() - at > 2 * settings.everyMillis;
  if (last === undefined) return [{ name, ok: true, detail: "none yet; the service makes the first one" }];
  const good =
    last.good_at === null
      ? "none was written yet"
      : `the last good one is ${last.good_file} of ${new Date(last.good_at).toISOString()}`;
  if (last.error !== null) return warn(`the last one failed (${last.error}); ${good}`);
  if (isOld(last.good_at ?? last.begun_at))
    return warn(`${good}, more than twice BACKUP_EVERY ago: is the service running?`);
  return [{ name, ok: true, detail: good }];
}

function freeIn(file: string): number {
  using database = new DatabaseSync(file, { readOnly: true });
  const [row] = database
    .prepare("SELECT freelist_count * page_size AS free FROM pragma_freelist_count, pragma_page_size")
    .all();
  return Number(row?.["free"] ?? 0);
}

function quickCheck(file: string): string {
  try {
    using database = new DatabaseSync(file, { readOnly: true });
    const [first] = database.prepare("PRAGMA quick_check(1)").all();
    return String(first?.["quick_check"]);
  } catch (error) {
    return reason(error);
  }
}

function examineFlush(folder: string, durability: Durability): Finding {
  const name = "store flush";
  try {
    const millis = flushMillis(folder);
    const cost = `takes this disk ${millis.toFixed(millis < 10 ? 1 : 0)} ms`;
    if (durability === "full")
      return { name, ok: true, detail: `what is acknowledged survives a power cut; a flush ${cost}` };
    const detail = `STORE_SYNC=normal: a power cut loses the last messages that were acknowledged. With STORE_SYNC=full an answer waits for a flush, which ${cost}`;
    return { name, ok: true, warning: true, detail };
  } catch (error) {
    return { name, ok: false, detail: `the disk of ${folder} cannot be written: ${reason(error)}` };
  }
}

/** How long the disk takes to make a page durable: the median of a few. */
export function flushMillis(folder: string): number {
  const aside = mkdtempSync(join(folder, ".flush-"));
  try {
    const file = openSync(join(aside, "page"), "w");
    const page = Buffer.alloc(PAGE_BYTES, 1);
    const took = Array.from({ length: FLUSHES }, () => {
      const start = performance.now();
      writeSync(file, page);
      fdatasyncSync(file);
      return performance.now() - start;
    });
    closeSync(file);
    return took.sort((a, b) => a - b)[FLUSHES / 2] as number;
  } finally {
    rmSync(aside, { recursive: true });
  }
}
