/** Notes where the last backup of a home went, so that an upgrade can ask for one. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface LastBackup {
  readonly file: string;
  readonly madeAt: string;
}

const fileIn = (home: string) => join(home, "last-backup.json");

export function noteBackup(home: string, backup: LastBackup): void {
  writeFileSync(fileIn(home), JSON.stringify(backup), { mode: 0o600 });
}

export function readLastBackup(home: string): LastBackup | undefined {
  try {
    const { file, madeAt } = JSON.parse(readFileSync(fileIn(home), "utf8")) as Partial<LastBackup>;
    return typeof file === "string" && typeof madeAt === "string" ? { file, madeAt } : undefined;
  } catch {
    return undefined;
  }
}
