/** A server for one caller. `McpServer` compiles the schemas of tools, which are strangers', so it is a `Server`. */
import { Server } from "@modelcontextprotocol/server";
import type { Caller } from "../../agent/services.ts";
import { createPageLinks } from "../elicitation/page-links.ts";
import { createRequestStates } from "../elicitation/request-state.ts";
import { offerCapabilities, withOffers } from "../features/offers.ts";
import { servePrompts, serveResources } from "../features/resources.ts";
import { serveTools } from "../features/tools.ts";
import type { ServerParts } from "../parts.ts";
import { createHandlers } from "../protocol/handlers.ts";
import { MIGRATIONS as TASK_TABLES, OWNER as TASKS } from "../tasks/rows.ts";
import { taskCapabilities, withTasks } from "../tasks/task-requests.ts";
import { createTasks } from "../tasks/tasks.ts";
import { type Change, createListChanges } from "./list-changes.ts";

export type Servers = Awaited<ReturnType<typeof createServers>>;

const INSTRUCTIONS =
  "Sandboxed tools, and `ask`: an agent that has memory and can use them. Tools that change things ask a person first. " +
  "`ask` names the thread it answers on; pass it back as thread_id to continue.";

/** For clients of an earlier revision, which are asked while the call waits. */
const INPUT_REQUIRED = { maxRounds: 20, roundTimeoutMs: 600_000 };

export async function createServers(parts: ServerParts) {
  const { store, log, kernel } = parts;
  const [statesOf, sql] = await Promise.all([createRequestStates(store), store.tables(TASKS, TASK_TABLES)]);
  const tasks = createTasks({ sql, store, log, sweeps: kernel.serving });
  const links = createPageLinks(parts.page);
  const changes = createListChanges(parts);
  /** The resources that a client of 2025-11-25 has subscribed to. */
  const subscribed = new WeakMap<Server, Set<string>>();
  return {
    /** For one request, session or connection. */
    create(caller: Caller, era: "legacy" | "modern"): Server {
      const states = statesOf(caller);
      const server = new Server(
        { name: "postern", title: "Postern", version: parts.version },
        {
          capabilities: {
            tools: { listChanged: true },
            prompts: { listChanged: true },
            resources: { listChanged: true, subscribe: true },
            ...taskCapabilities(era),
            ...offerCapabilities(parts.mcpOffers),
          },
          instructions: INSTRUCTIONS,
          inputRequired: INPUT_REQUIRED,
          requestState: { verify: states.verify },
        },
      );
      const serving = {
        tasks,
        owner: { user: caller.user, token: caller.scope?.token ?? "" },
        era,
        afterMillis: parts.taskAfterMillis,
        readState: states.verify,
      };
      const callParts = { ...parts, server, caller, states, links };
      const handlers = withOffers(withTasks(createHandlers(server, log), serving), callParts);
      const uris = new Set<string>();
      subscribed.set(server, uris);
      serveTools(handlers, callParts);
      servePrompts(handlers, callParts);
      serveResources(handlers, { ...callParts, subscribed: uris });
      return server;
    },
    /** Tells the client what changes for the caller, on a connection that stays. Returns a function that stops. */
    announce: (server: Server, caller: Caller): (() => void) =>
      changes.follow(caller, (change) => {
        const sent = notify(server, change, subscribed.get(server));
        sent.catch((error) => log.debug({ error }, "could not notify an MCP client of a change"));
      }),
    changes,
    /** Waits for calls that outlive their request. */
    drain: tasks.drain,
    async close(): Promise<void> {
      changes.close();
      await tasks.stop();
    },
  };
}

async function notify(server: Server, change: Change, subscribed?: ReadonlySet<string>): Promise<void> {
  switch (change.kind) {
    case "tools":
      return server.sendToolListChanged();
    case "prompts":
      return server.sendPromptListChanged();
    case "resources":
      return server.sendResourceListChanged();
    case "resource":
      return subscribed?.has(change.uri) ? server.sendResourceUpdated({ uri: change.uri }) : undefined;
  }
}
