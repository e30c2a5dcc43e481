/**
 * A server for one caller, for both revisions and every transport. The SDK's low-level `Server`: the other compiles the schemas
 * of tools, and those are strangers'.
 */
import { Server } from "@modelcontextprotocol/server";
import type { Caller } from "../../kernel/plugin.ts";
import { createPlaces } from "./asking/places.ts";
import { createStates } from "./asking/states.ts";
import { guard } from "./guard.ts";
import { type Change, createListChanges, type ListChanges } from "./lists/changes.ts";
import { offerCapabilities, withOffers } from "./lists/offers.ts";
import { servePrompts } from "./lists/prompts.ts";
import { serveResources } from "./lists/resources.ts";
import type { ServerParts } from "./parts.ts";
import { MIGRATIONS as TASK_TABLES, OWNER as TASKS } from "./tasks/rows.ts";
import { taskCapabilities, withTasks } from "./tasks/serving.ts";
import { createTasks } from "./tasks/tasks.ts";
import { serveTools } from "./tools/tools.ts";

export interface Servers {
  /** For one request, session or connection. */
  create(caller: Caller, era: "legacy" | "modern"): Server;
  /** Tells its client what changes for the caller, on a connection that stays. Answers how to stop. */
  announce(server: Server, caller: Caller): () => void;
  readonly changes: ListChanges;
  /** Waits for calls that go on without their request. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

const INSTRUCTIONS =
  "Sandboxed tools, and `ask`: an agent that has memory and can use them. Tools that change things ask a person first. " +
  "`ask` names the thread it answers on; pass it back as thread_id to go on.";

/** How often one call may ask, and how long it waits for each answer, where the client of an earlier revision is asked. */
const ASKING = { maxRounds: 20, roundTimeoutMs: 600_000 };

export async function createServers(parts: ServerParts): Promise<Servers> {
  const { store, log, kernel, mcpOffers: offers } = parts;
  const [statesOf, sql] = await Promise.all([createStates(store), store.tables(TASKS, TASK_TABLES)]);
  const tasks = createTasks({ sql, store, log, sweeps: kernel.serving });
  const places = createPlaces(parts.page);
  const changes = createListChanges(parts);
  /** The resources that a client of 2025-11-25 wants to hear of. */
  const subscribed = new WeakMap<Server, Set<string>>();
  return {
    create(caller, era) {
      const states = statesOf(caller);
      const server = new Server(
        { name: "postern", title: "Postern", version: parts.version },
        {
          capabilities: {
            tools: { listChanged: true },
            prompts: { listChanged: true },
            resources: { listChanged: true, subscribe: true },
            ...taskCapabilities(era),
            ...offerCapabilities(offers),
          },
          instructions: INSTRUCTIONS,
          inputRequired: ASKING,
          requestState: { verify: states.verify },
        },
      );
      const guarded = guard(server, log);
      const serving = {
        tasks,
        owner: { user: caller.user, token: caller.scope?.token ?? "" },
        era,
        afterMillis: parts.taskAfterMillis,
        readState: states.verify,
      };
      const extended = withOffers(withTasks(guarded, serving), { server, caller, states, offers });
      serveTools(extended, { ...parts, server, caller, states, places });
      servePrompts(extended, { ...parts, caller });
      const uris = new Set<string>();
      subscribed.set(server, uris);
      serveResources(extended, { ...parts, caller, subscribed: uris });
      return server;
    },
    announce: (server, caller) =>
      changes.follow(caller, (change) => {
        const told = tell(server, change, subscribed.get(server));
        told.catch((error) => log.debug({ error }, "a change could not be told to an MCP client"));
      }),
    changes,
    drain: tasks.drain,
    async close() {
      changes.close();
      await tasks.stop();
    },
  };
}

async function tell(
  server: Server,
  change: Change,
  subscribed: ReadonlySet<string> | undefined,
): Promise<void> {
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
