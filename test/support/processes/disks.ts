/** Disks of a test's own: one that can be full, and one that loses what is written to it. Only root can have them. */
import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../home.ts";
import { afterThisTest } from "../undo.ts";

export interface SmallDisk {
  readonly folder: string;
  /** Leaves no byte free. */
  fill(): void;
  free(): void;
  /** From here on nothing can be written. */
  readOnly(): void;
}

export interface FailingDisk {
  readonly folder: string;
  /** From here on, whoever flushes a file to new places of the disk is told of an error, and what was written is lost. */
  fail(): void;
  mend(): void;
  /** Takes the disk away and back: what is found then is what is really on it. No file of it may be open. */
  replug(): void;
}

const run = (command: string, ...args: readonly string[]) =>
  void execFileSync(command, args, { stdio: ["ignore", "ignore", "pipe"] });

function isDone(command: string, ...args: readonly string[]): boolean {
  try {
    run(command, ...args);
    return true;
  } catch {
    return false;
  }
}

export const canMount = (): boolean => isDone("unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt");

export const canLoop = (): boolean => canMount() && isDone("losetup", "--find") && isDone("mkfs.ext4", "-V");

export function smallDisk(size: string, later = afterThisTest): SmallDisk {
  const folder = temporaryFolder(later);
  run("mount", "-t", "tmpfs", "-o", `size=${size},mode=0700`, "tmpfs", folder);
  later(() => run("umount", "--lazy", folder));
  const filler = join(folder, "filler");
  return {
    folder,
    fill: () => fill(filler),
    free: () => rmSync(filler),
    readOnly: () => run("mount", "-o", "remount,ro", folder),
  };
}

function fill(file: string): void {
  const to = openSync(file, "a");
  try {
    for (let size = 2 ** 20; size >= 1; size /= 2) while (hasTaken(to, Buffer.alloc(size))) {}
  } finally {
    closeSync(to);
  }
}

function hasTaken(to: number, bytes: Buffer): boolean {
  try {
    return writeSync(to, bytes) === bytes.length;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOSPC") return false;
    throw error;
  }
}

/** A file system in a sparse file: where the disk below is full, the one above has to take back what it took. */
export function failingDisk(later = afterThisTest): FailingDisk {
  const below = smallDisk("48m", later);
  const image = join(below.folder, "image");
  const folder = join(temporaryFolder(later), "disk");
  mkdirSync(folder);
  run("truncate", "--size", "256M", image);
  // Its own tables are written now; only what files hold is to fail.
  run("mkfs.ext4", "-q", "-O", "^has_journal", "-E", "lazy_itable_init=0,nodiscard", image);
  const mount = () => run("mount", "-o", "loop,errors=continue", image, folder);
  mount();
  later(() => run("umount", "--lazy", folder));
  return {
    folder,
    fail: below.fill,
    mend: below.free,
    replug() {
      run("umount", folder);
      mount();
    },
  };
}
