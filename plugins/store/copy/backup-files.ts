/** The files of scheduled backups: what they are called, and which of them go. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

const NAME = /^postern-\d{8}T\d{6}Z\.backup$/;
const UNFINISHED = /^postern-\d{8}T\d{6}Z\.backup\.partial(?:-wal|-shm|-journal)?$/;

export const backupName = (now: number): string =>
  `postern-${new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z.backup`;

/** A backup holds no backups, wherever in the home they are. */
export const isBackupFile = (name: string): boolean => NAME.test(name) || UNFINISHED.test(name);

/** What a process that died left behind. */
export function removeUnfinished(folder: string): void {
  for (const name of readdirSync(folder))
    if (UNFINISHED.test(name)) rmSync(join(folder, name), { force: true });
}

/** Keeps the newest. What has another name is somebody else's. */
export function rotate(folder: string, keep: number): readonly string[] {
  const old = readdirSync(folder)
    .filter((name) => NAME.test(name))
    .sort()
    .slice(0, -keep);
  for (const name of old) rmSync(join(folder, name), { force: true });
  return old;
}
