/** A backup now and then, by one of all nodes, in a process of its own that keeps nobody waiting. */

import { execFile } from "node:child_process";
import { mkdirSync, statfsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../../../kernel/kit/files.ts";
import { Fault, type Log, type Queries, reason } from "../../../kernel/plugin.ts";
import type { BackupSettings } from "../config/settings.ts";
import { backupName, openNote, removeUnfinished, rotate } from "../copy/backup.ts";
import type { Node } from "../services.ts";
import { bytesInWords } from "./growth.ts";

export interface BackupRow {
  readonly begun_at: number;
  readonly ended_at: number | null;
  readonly error: string | null;
  readonly good_at: number | null;
  readonly good_file: string | null;
}

export interface BackupParts {
  readonly sql: Queries;
  readonly node: Pick<Node, "id" | "living">;
  readonly home: string;
  readonly settings: BackupSettings;
  /** The store's settings, for the process that makes the backup. */
  readonly environment: Readonly<Record<string, string>>;
  readonly log: Log;
  now(): number;
  bytes(): Promise<number>;
}

const NAME = "scheduled";
const RETRY_MS = 3_600_000;
const DEADLINE_MS = 6 * 3_600_000;
const SPARE_BYTES = 64 * 2 ** 20;
const MAX_OUTPUT_BYTES = 2 ** 20;

const run = promisify(execFile);

/** Makes one where it is due and nobody else is at it. */
export async function backUpWhenDue(parts: BackupParts, signal: AbortSignal): Promise<void> {
  const { sql, node, settings, log, now } = parts;
  const begun = now();
  if (!(await claim(parts, begun))) return;
  const folder = resolve(parts.home, settings.folder ?? "backups");
  const finish = (changes: string, ...values: (string | number | null)[]) =>
    sql.run(
      `UPDATE store_backups SET ended_at = ?, ${changes} WHERE name = ? AND node = ?`,
      now(),
      ...values,
      NAME,
      node.id,
    );
  try {
    const file = await write(parts, folder, begun, signal);
    await finish("error = NULL, good_at = ?, good_file = ?", begun, file);
    const removed = rotate(folder, settings.keep);
    log.info({ file, bytes: statSync(file).size, removed: removed.length }, "backup written and verified");
  } catch (error) {
    // The next node that starts begins it again.
    if (signal.aborted) return;
    await finish("error = ?", reason(error).slice(0, 1000));
    log.error({ code: "backup_failed", error }, "scheduled backup failed; older backups were left alone");
  }
}

/** A backup that a dead node began is begun again; one that failed is tried again within the hour. */
async function claim({ sql, node, settings }: BackupParts, begun: number): Promise<boolean> {
  const { everyMillis } = settings;
  return (
    (await sql.run(
      `INSERT INTO store_backups (name, node, begun_at) VALUES (?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET node = excluded.node, begun_at = excluded.begun_at, ended_at = NULL
       WHERE (store_backups.ended_at IS NULL AND store_backups.node NOT IN ${node.living})
         OR (store_backups.ended_at IS NOT NULL AND (store_backups.begun_at <= ?
           OR (store_backups.error IS NOT NULL AND store_backups.begun_at <= ?)))`,
      NAME,
      node.id,
      begun,
      begun - everyMillis,
      begun - Math.min(everyMillis, RETRY_MS),
    )) === 1
  );
}

async function write(
  { home, environment, bytes }: BackupParts,
  folder: string,
  begun: number,
  signal: AbortSignal,
): Promise<string> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  removeUnfinished(folder);
  const { bavail, bsize } = statfsSync(folder);
  const [left, needed] = [bavail * bsize, (await bytes()) + SPARE_BYTES];
  if (left < needed) {
    const message = `${folder} has ${bytesInWords(left)} left and a backup may need ${bytesInWords(needed)}: make room, or set BACKUP_FOLDER`;
    throw new Fault("unavailable", "backup_no_room", message);
  }
  const file = join(folder, backupName(begun));
  const args = [join(ROOT, "kernel", "cli", "bin.js"), "store", "backup", file, "--replace", "--json"];
  const env = { ...environment, POSTERN_HOME: home };
  const limits = { signal, timeout: DEADLINE_MS, maxBuffer: MAX_OUTPUT_BYTES };
  try {
    await run(process.execPath, args, { env, cwd: home, ...limits });
  } catch (error) {
    const said = (error as { stderr?: string }).stderr?.trim().replace(/^postern: /, "");
    throw new Fault("unavailable", "backup_failed", said || reason(error), { cause: error });
  }
  // That process has read every row and file of it again; this is the name that a restore would open.
  openNote(file);
  return file;
}
