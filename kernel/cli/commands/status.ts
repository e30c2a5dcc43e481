/** `postern status`: whether a service is running with this home, since when, with which plugins. */
import { findRunning } from "../home.ts";
import { table } from "../table.ts";

export function showStatus(home: string, json: boolean): void {
  const notice = findRunning(home);
  process.exitCode = notice ? 0 : 1;
  if (json) {
    process.stdout.write(
      `${JSON.stringify(notice ? { running: true, home, ...notice } : { running: false, home })}\n`,
    );
  } else if (notice) {
    const rows = notice.plugins.map(({ name, on, detail }) => [name, on ? "on" : "off", detail]);
    process.stdout.write(
      `Postern ${notice.version} has been running since ${notice.startedAt} (pid ${notice.pid}, home ${home})\n${table(rows)}`,
    );
  } else {
    process.stdout.write(`Postern is not running with the home ${home}. Start it with "postern serve".\n`);
  }
}
