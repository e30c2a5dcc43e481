/** The processes that this one started, without the bundler's: an earlier test's gateway leaves it for the next. */
import { readdirSync, readFileSync } from "node:fs";

/** By number: what each holds of the machine's memory and shares with nobody. */
export function childrenBytes(): Map<number, number> {
  const found = new Map<number, number>();
  for (const pid of readdirSync("/proc").map(Number).filter(Number.isInteger)) {
    try {
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      if (status.startsWith("Name:\tesbuild\n")) continue;
      const [, parent] = /^PPid:\s+(\d+)$/m.exec(status) ?? [];
      const [, kib = 0] = /^RssAnon:\s+(\d+) kB$/m.exec(status) ?? [];
      if (Number(parent) === process.pid) found.set(pid, Number(kib) * 1024);
    } catch {
      // It has ended meanwhile.
    }
  }
  return found;
}
