/** A claim on a folder, which the operating system drops with the process, so that none is ever stale. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

export const claimFile = (folder: string) => join(folder, "running.lock");

/** Returns how to give it back; undefined where somebody else has it. Throws where the folder cannot be written. */
export function claimFolder(folder: string): (() => void) | undefined {
  const lock = new DatabaseSync(claimFile(folder));
  try {
    lock.exec("BEGIN EXCLUSIVE");
    return () => lock.close();
  } catch (error) {
    lock.close();
    if (isBusy(error)) return undefined;
    throw error;
  }
}

export function isClaimed(folder: string): boolean {
  if (!existsSync(claimFile(folder))) return false;
  // To read needs no room on the disk, and is refused while another process holds the lock.
  using lock = new DatabaseSync(claimFile(folder), { readOnly: true });
  try {
    lock.exec("SELECT 1 FROM sqlite_schema");
    return false;
  } catch (error) {
    return isBusy(error);
  }
}

const SQLITE_BUSY = 5;

const isBusy = (error: unknown): boolean =>
  ((error as { readonly errcode?: number }).errcode ?? 0) % 256 === SQLITE_BUSY;
