/** What `postern doctor` says about the store. */
import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { reason } from "../fault.ts";
import type { Finding } from "../plugin.ts";
import type { PostgresSettings } from "./postgres/settings.ts";
import type { Durability } from "./sqlite/database.ts";

const FLUSHES = 20;
const PAGE_BYTES = 4096;

export function examineFile(file: string, durability: Durability): readonly Finding[] {
  if (!statSync(file, { throwIfNoEntry: false }))
    return [{ name: "store", ok: true, detail: "no store yet; the first start creates it" }];
  const verdict = quickCheck(file);
  if (verdict === "ok")
    return [
      { name: "store", ok: true, detail: `${file} is intact` },
      examineFlush(dirname(file), durability),
    ];
  const wayOut = `stop Postern and restore a backup or a ${file}.before-* snapshot`;
  return [{ name: "store", ok: false, detail: `${file} is damaged (${verdict}): ${wayOut}` }];
}

export async function examinePostgres(settings: PostgresSettings): Promise<readonly Finding[]> {
  const { probePostgres } = await import("./postgres/store.ts");
  const name = "store";
  try {
    const { version, millis } = await probePostgres(settings);
    const detail = `PostgreSQL ${version}, ${settings.database} at ${settings.host}, answers in ${millis.toFixed(1)} ms`;
    return [{ name, ok: true, detail }];
  } catch (error) {
    return [{ name, ok: false, detail: reason(error) }];
  }
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
