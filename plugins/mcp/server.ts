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
import { MIGRATIONS as TASK_TABLES, OWNER as TASKS } from "./tasks/rows.ts";
import { taskCapabilities, withTasks } from "./tasks/serving.ts";
import { createTasks } from "./tasks/tasks.ts";
import { serveTools } from "./tools/tools.ts";

export interface Servers {
  /** For one request, session or connection. */
  create(caller: Caller, era: "legacy" | "modern"): Server;
  /** Waits for calls that go on without their request. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

const INSTRUCTIONS =
  "Sandboxed tools, and `ask`: an agent that has memory and can use them. Tools that change things ask a person first. " +
  "`ask` names the thread it answers on; pass it back as thread_id to go on.";

export async function createServers(parts: ServerParts): Promise<Servers> {
  const { store, log, kernel } = parts;
  const sql = await store.tables(TASKS, TASK_TABLES);
  const tasks = createTasks({ sql, store, log, sweeps: kernel.serving });
  return {
    drain: tasks.drain,
    close: tasks.stop,
    create(caller, era) {
      const server = new Server(
        { name: "postern", title: "Postern", version: parts.version },
        {
          capabilities: { tools: {}, prompts: {}, resources: {}, ...taskCapabilities(era) },
          instructions: INSTRUCTIONS,
        },
      );
      const guarded = guard(server, parts.log);
      const serving = {
        tasks,
        owner: { user: caller.user, token: caller.scope?.token ?? "" },
        era,
        afterMillis: parts.taskAfterMillis,
        readState: async (state: string) => state,
      };
      serveTools(withTasks(guarded, serving), { ...parts, server, caller });
      servePrompts(guarded, { ...parts, caller });
      serveResources(guarded, { ...parts, caller });
      return server;
    },
  };
}
