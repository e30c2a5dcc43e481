/** `postern status`: whether a service is running with this home, with which plugins, and all nodes of its store. */

import { say, sayJson } from "../../terminal/output.ts";
import { table } from "../../terminal/table.ts";
import type { NodeInfo } from "../../vocabulary/store.ts";
import { findRunning, type Notice } from "../service/home.ts";
import { pluginTable } from "../service/plugin-table.ts";

/** `fleet`: the nodes of a store that several machines share; absent where the home has a store of its own. */
export function showStatus(home: string, json: boolean, fleet: readonly NodeInfo[] | undefined): void {
  const notice = findRunning(home);
  process.exitCode = notice ? 0 : 1;
  const nodes = fleet ?? (notice === undefined ? [] : [nodeOf(notice)]);
  if (json) {
    sayJson(notice ? { running: true, home, ...notice, nodes } : { running: false, home, nodes });
    return;
  }
  if (notice) {
    say(
      `Postern ${notice.version} has been running since ${notice.startedAt} (pid ${notice.pid}, home ${home})\n${pluginTable(notice.plugins)}`,
    );
  } else {
    say(`Postern is not running with the home ${home}. Start it with "postern serve".\n`);
  }
  if (fleet !== undefined) say(nodeTable(fleet, notice?.node));
}

function nodeOf({ node = "", version, startedAt }: Notice): NodeInfo {
  return { id: node, version, startedAt, lastSeenAt: new Date().toISOString() };
}

function nodeTable(nodes: readonly NodeInfo[], own: string | undefined): string {
  if (nodes.length === 0) return "No node is running on this store.\n";
  const rows = nodes.map(({ id, version, startedAt, lastSeenAt }) => [
    id,
    version,
    startedAt,
    lastSeenAt,
    id === own ? "this home's" : "",
  ]);
  return `\n${table(["NODE", "VERSION", "STARTED", "LAST SEEN", ""], rows, { indent: "  " })}`;
}
