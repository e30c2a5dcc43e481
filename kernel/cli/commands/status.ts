/** `postern status`: whether a service is running with this home, since when, with which plugins. */

import { findRunning } from "../home.ts";
import { say, sayJson } from "../output.ts";
import { table } from "../table.ts";

export function showStatus(home: string, json: boolean): void {
  const notice = findRunning(home);
  process.exitCode = notice ? 0 : 1;
  if (json) {
    sayJson(notice ? { running: true, home, ...notice } : { running: false, home });
  } else if (notice) {
    const rows = notice.plugins.map(({ name, on, detail }) => [name, on ? "on" : "off", detail]);
    say(
      `Postern ${notice.version} has been running since ${notice.startedAt} (pid ${notice.pid}, home ${home})\n${table(rows)}`,
    );
  } else {
    say(`Postern is not running with the home ${home}. Start it with "postern serve".\n`);
  }
}
