/** Findings of `postern doctor` about the store. */
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { SqlValue } from "../../../kernel/kit/store.ts";
import { type DiagnoseContext, type Finding, reason } from "../../../kernel/plugin.ts";
import type { PostgresSettings } from "../config/postgres-url.ts";
import type { BackupSettings } from "../config/settings.ts";
import { type Durability, fileOf, type StoreSettings } from "../config/settings.ts";
import { APPLIED, type Applied, refuseOtherSchema } from "../engine/migrations.ts";
import { createRing } from "../keys/ring.ts";
import { survey } from "../keys/rotation.ts";
import { keyFileOf, loadKeys, parseKeys } from "../keys/secrets-key.ts";
import { openToRead } from "../reading/look.ts";
import { explain } from "../sqlite/connection.ts";
import {
  FREE,
  type FreeRow,
  growthInWords,
  judge,
  measure,
  SIZES,
  type SizeRow,
  type StoreSize,
  sizeOfFile,
} from "./growth.ts";
import type { BackupRow } from "./scheduled-backup.ts";

const FLUSHES = 20;
const PAGE_BYTES = 4096;

export type Examination = Pick<
  DiagnoseContext<StoreSettings>,
  "config" | "home" | "shared" | "stored" | "tables"
>;

export async function examineStore(context: Examination): Promise<readonly Finding[]> {
  const { config, home } = context;
  const found = await (config.engine === "postgres"
    ? examineDatabase(config.settings, context)
    : examineFile(fileOf(config, home), config.durability, context));
  return [...found, await examineKey(home, config.secretsKey), ...(await examineOldKeys(context))];
}

async function examineFile(
  file: string,
  durability: Durability,
  { config, stored }: Examination,
): Promise<readonly Finding[]> {
  if (!statSync(file, { throwIfNoEntry: false }))
    return [{ name: "store", ok: true, detail: "no store yet; the first start creates it" }];
  const problem = quickCheck(file);
  if (problem !== undefined) return [{ name: "store", ok: false, detail: problem }];
  try {
    refuseOtherSchema(await stored.rows<Applied>(APPLIED), file);
  } catch (error) {
    return [{ name: "store", ok: false, detail: reason(error) }];
  }
  return [
    { name: "store", ok: true, detail: `${file} is intact` },
    examineFlush(dirname(file), durability),
    examineSize(sizeOfFile(file, (await stored.rows<FreeRow>(FREE))[0]?.free ?? 0), await stored.rows(SIZES)),
    ...examineBackups(config.backup, await stored.rows<BackupRow>(BACKUPS)),
  ];
}

async function examineDatabase(
  settings: PostgresSettings,
  { config, shared, stored }: Examination,
): Promise<readonly Finding[]> {
  const { probePostgres } = await import("../postgres/store.ts");
  const name = "store";
  const place = `${settings.database} at ${settings.host}`;
  try {
    const { version, millis } = await probePostgres(settings);
    const detail = `PostgreSQL ${version}, ${place}, answers in ${millis.toFixed(1)} ms`;
    const found = { name, ok: true, detail };
    if (typeof shared !== "object") return [found];
    refuseOtherSchema(await stored.rows<Applied>(APPLIED), place);
    return [
      found,
      examineSize(await measure(shared.sql, undefined), await stored.rows<SizeRow>(SIZES)),
      ...examineBackups(config.backup, await stored.rows<BackupRow>(BACKUPS)),
    ];
  } catch (error) {
    return [{ name, ok: false, detail: reason(error) }];
  }
}

const BACKUPS = "SELECT * FROM store_backups";

async function examineKey(home: string, configured: string | undefined): Promise<Finding> {
  const name = "secrets key";
  // Asking for a key that is not there would make one.
  if (configured === undefined && !existsSync(keyFileOf(home)))
    return { name, ok: true, detail: "none yet; the first start creates one" };
  try {
    await loadKeys(home, configured);
    const detail = configured === undefined ? keyFileOf(home) : "from POSTERN_SECRETS_KEY";
    return { name, ok: true, detail };
  } catch (error) {
    return { name, ok: false, detail: reason(error) };
  }
}

/** Keys that are listed only to open what is old. Most people have none, and then there is nothing to say. */
async function examineOldKeys(context: Examination): Promise<readonly Finding[]> {
  const { home, shared, stored, tables } = context;
  const { secretsKey } = context.config;
  const file = keyFileOf(home);
  if (secretsKey === undefined && !existsSync(file)) return [];
  const name = "old secrets key";
  try {
    const keys = parseKeys(secretsKey ?? readFileSync(file, "utf8"), file);
    if (keys.length === 1 || shared === "unreachable") return [];
    const all = async <Row>(...query: [string, ...SqlValue[]]) => [...(await stored.rows<Row>(...query))];
    const counts = await survey(
      { all },
      await tables(),
      createRing(() => keys),
    );
    const old = counts.reduce((sum, count) => sum + count.old, 0);
    const remove =
      secretsKey === undefined
        ? "postern secret rotate --remove-old"
        : "leave only the first in POSTERN_SECRETS_KEY on every node";
    const detail =
      old > 0
        ? `an old key is listed and ${old} values are still sealed under it: run postern secret rotate`
        : `an old key is listed and nothing stored is sealed under it any more: ${remove}`;
    return [{ name, ok: true, warning: true, detail }];
  } catch (error) {
    return [{ name, ok: false, detail: reason(error) }];
  }
}

function examineSize(size: StoreSize, rows: readonly SizeRow[]): Finding {
  const growth = judge(size, rows, Date.now());
  const warning = growth.problem === undefined ? undefined : true;
  return { name: "store size", ok: true, warning, detail: growthInWords(growth) };
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

/** Returns what is wrong. A file that cannot be read now, as on a full disk, may be intact. */
function quickCheck(file: string): string | undefined {
  try {
    using database = openToRead(file);
    const verdict = String(database.prepare("PRAGMA quick_check(1)").get()?.["quick_check"]);
    if (verdict === "ok") return undefined;
    return `${file} is damaged (${verdict}): stop Postern and restore a backup or a ${file}.before-* snapshot`;
  } catch (error) {
    return reason(explain(error, file));
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

/** Returns how long the disk takes to make a page durable: the median of a few. */
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
