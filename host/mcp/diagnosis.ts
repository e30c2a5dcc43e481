/** The MCP servers in `postern doctor`: it shows what the processes that use them found, and reaches none itself. */
import { type Finding, reason } from "../../kernel/plugin.ts";
import { isHeld } from "./tools/agreement.ts";
import type { ServerState, StoredTool } from "./tools/rows.ts";
import { parseServerFile } from "./tools/server-file.ts";

export const SERVERS = "mcp_servers";

export interface ServerRow {
  readonly name: string;
  readonly file: string;
  readonly tools: string;
  readonly state: string;
}

export function diagnoseServers(rows: readonly ServerRow[]): readonly Finding[] {
  return rows.map(({ name: server, file, tools, state }): Finding => {
    const name = `MCP server ${server}`;
    try {
      const { target } = parseServerFile(file);
      const { trouble } = JSON.parse(state) as ServerState;
      if (trouble !== undefined)
        return { name, ok: false, detail: `${trouble.status} since ${trouble.at}. ${trouble.why}` };
      const offered = (JSON.parse(tools) as StoredTool[]).filter(({ isThere }) => isThere);
      const held = offered.filter(isHeld).length;
      const where = target.type === "http" ? target.url : `the command ${target.command[0]}`;
      const waiting = held === 0 ? "" : `, ${held} held back until you have seen what is new`;
      return { name, ok: true, detail: `${where}, ${offered.length} tools${waiting}` };
    } catch (error) {
      return { name, ok: false, detail: reason(error) };
    }
  });
}
