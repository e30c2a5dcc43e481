/** Each commit to a store waits for the disk: where there is room, the stores of services in the tests' own process are in memory. */
import { statfsSync } from "node:fs";
import { tmpdir } from "node:os";

export const MEMORY = hasRoom("/dev/shm") ? "/dev/shm" : tmpdir();

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize > 2 ** 30;
  } catch {
    return false;
  }
}
