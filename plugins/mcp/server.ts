/**
 * A server for one caller, for both revisions and every transport. The SDK's low-level `Server`: the other compiles the schemas
 * of tools, and those are strangers'.
 */
import { Server } from "@modelcontextprotocol/server";
import type { Caller } from "../../kernel/plugin.ts";
import { guard } from "./guard.ts";
import type { ServerParts } from "./parts.ts";
import { servePrompts } from "./prompts.ts";
import { serveResources } from "./resources.ts";
import { serveTools } from "./tools/tools.ts";

export interface Servers {
  /** For one request, session or connection. */
  create(caller: Caller): Server;
}

const INSTRUCTIONS =
  "Sandboxed tools, and `ask`: an agent that has memory and can use them. Tools that change things ask a person first. " +
  "`ask` names the thread it answers on; pass it back as thread_id to go on.";

export async function createServers(parts: ServerParts): Promise<Servers> {
  return {
    create(caller) {
      const server = new Server(
        { name: "postern", title: "Postern", version: parts.version },
        { capabilities: { tools: {}, prompts: {}, resources: {} }, instructions: INSTRUCTIONS },
      );
      const guarded = guard(server, parts.log);
      serveTools(guarded, { ...parts, server, caller });
      servePrompts(guarded, { ...parts, caller });
      serveResources(guarded, { ...parts, caller });
      return server;
    },
  };
}
