/** What runs on a node: the real plugins, on the simulation's store, with a model and a tool at the other end of its network. */
import { type AnyPlugin, definePlugin, Fault } from "../../kernel/plugin.ts";
import accounts from "../../plugins/accounts/plugin.ts";
import agent from "../../plugins/agent/plugin.ts";
import delegation from "../../plugins/delegation/plugin.ts";
import jobs from "../../plugins/jobs/plugin.ts";
import jobQueue from "../../plugins/jobs/queue/plugin.ts";
import memory from "../../plugins/memory/plugin.ts";
import { memoryTools } from "../../plugins/memory/tools/tools.ts";
import { streamSteadily } from "../../plugins/models/providers/retry.ts";
import type { Model, ModelPart, ModelRequest } from "../../plugins/models/services.ts";
import { addUsage } from "../../plugins/models/spending/prices.ts";
import { createSpending, MIGRATIONS as SPENDING } from "../../plugins/models/spending/spending.ts";
import { openStoredSettings } from "../../plugins/store/stored-settings/stored-settings.ts";
import { createUserStorage } from "../../plugins/store/user-storage.ts";
import workspace from "../../plugins/workspace/plugin.ts";
import workspaceTools from "../../plugins/workspace/tools/plugin.ts";
import type { Database } from "./memory.ts";
import { openNodeStore } from "./node-store.ts";
import type { Signalling } from "./signalling.ts";
import type { SimulatedNode, World } from "./world.ts";

const MODEL = { provider: "simulated", name: "echo" };
const MAX_BYTES = 1e9;
/** Each answer costs a cent, so that sums are exact. */
const CENT = 0.01;

export function pluginsOf(
  world: World,
  node: SimulatedNode,
  database: Database,
  signalling: Signalling,
): readonly AnyPlugin[] {
  return [
    storePlugin(world, node, database, signalling),
    modelsPlugin(world, node),
    toolsPlugin(world, node),
    accounts,
    agent,
    workspace,
    workspaceTools,
    memory,
    memoryToolsPlugin,
    jobs,
    delegation,
    jobQueue,
  ] as readonly AnyPlugin[];
}

const storePlugin = (world: World, node: SimulatedNode, database: Database, signalling: Signalling) =>
  definePlugin({
    name: "store",
    needs: ["kernel"],
    provides: ["store", "settings", "storage", "storeHealth"],
    configure: () => ({}),
    async start({ use: { kernel }, log, onStop }) {
      const store = await openNodeStore(database, signalling, node, world);
      onStop(() => store.close());
      const settings = await openStoredSettings({ ...kernel.settings, store, log, watches: kernel.stays });
      onStop(() => settings.close());
      const storage = createUserStorage(store, kernel.tables, MAX_BYTES);
      return { store, settings, storage, storeHealth: { describe: async () => undefined } };
    },
  });

const modelsPlugin = (world: World, node: SimulatedNode) =>
  definePlugin({
    name: "models",
    needs: ["store"],
    provides: ["models"],
    configure: () => ({}),
    async start({ use: { store } }) {
      const sql = await store.tables("models", SPENDING);
      const model = simulatedModel(world, node);
      return {
        models: {
          name: () => MODEL,
          current: async () => [model],
          list: async () => ({ items: [MODEL], unlisted: [] }),
          choose: async () => MODEL,
          hostOf: async () => undefined,
          chain: async () => [model],
          stream: streamSteadily,
          addCost: (usage, _, tokens) => ({
            ...usage,
            outputTokens: usage.outputTokens + tokens.outputTokens,
            totalCost: ((usage.outputTokens + tokens.outputTokens) * CENT).toFixed(2),
          }),
          addUsage,
          dailyCap: async () => undefined,
          ...createSpending(sql),
        },
      };
    },
  });

/** The calls of tools that messages such as "append x" ask for. */
const CALLS: Readonly<Record<string, (what: string) => readonly [tool: string, params: object]>> = {
  post: (what) => ["post", { what }],
  ask: (what) => ["ask", { what }],
  append: (what) => ["workspace_write", { path: LINES, text: what, append: true }],
  write: (what) => ["workspace_write", { path: `/${what}`, text: what }],
  save: (what) => ["memory_write", { path: LINES, text: what, append: true }],
  delegate: (what) => ["task_delegate", { task: `append ${what}` }],
  propose: (what) => ["routine_propose", { schedule: "2030-01-01 at 9:00", text: what, tz: "UTC" }],
};
/** The file, and the document in memory, to which lines are added. */
export const LINES = "/lines.txt";

/** Answers "say x" with "x". For the others it calls the tool, and answers with "x" or "failed". */
function simulatedModel(world: World, node: SimulatedNode): Model {
  return {
    name: MODEL,
    window: 100_000,
    takes: new Set(),
    formats: new Set(),
    async *stream(request: ModelRequest): AsyncGenerator<readonly ModelPart[]> {
      const last = request.messages.at(-1);
      const parts = await world
        .request(node, "request to the model", (): ModelPart[] => {
          world.billed++;
          world.heard.push(
            request.messages.flatMap((one) =>
              one.role === "user" ? [one.text.split(/\s/).at(-1) as string] : [],
            ),
          );
          if (last?.role === "tool") {
            // A task that has completed may not have done it.
            const isDone = !last.failed && !last.output.includes('"answer":"failed"');
            return [{ type: "text", delta: isDone ? last.call.id : "failed" }];
          }
          const [, verb = "say", what = ""] = /([a-z]+) (\S+)\s*$/.exec(last?.text ?? "") ?? [];
          const call = CALLS[verb]?.(what);
          if (call === undefined) return [{ type: "text", delta: what }];
          const [name, params] = call;
          return [{ type: "call", call: { id: what, name, params: JSON.stringify(params) } }];
        })
        .catch(() => {
          throw new Fault("turn", "model_unreachable", "The model does not answer.");
        });
      const counted = { inputTokens: 0, outputTokens: 1, cachedTokens: 0, reasoningTokens: 0 };
      const reason = parts[0]?.type === "call" ? "tool_calls" : "stop";
      yield [...parts, { type: "usage", ...counted }, { type: "finish", reason }];
    },
  };
}

/** As in the service, but with no files of the home that the model may not write. */
const memoryToolsPlugin = definePlugin({
  name: "memory-tools",
  needs: ["agent", "memory"],
  extends: ["agent"],
  configure: () => ({}),
  start({ use: { agent, memory }, onStop }) {
    onStop(agent.extend({ tools: memoryTools(memory, new Set()) }));
  },
});

/** A service that cannot tell a repeat from something new. */
const toolsPlugin = (world: World, node: SimulatedNode) =>
  definePlugin({
    name: "tools",
    provides: ["tools"],
    configure: () => ({}),
    start: () => ({
      tools: {
        list: async () =>
          ["post", "ask"].map((name) => ({
            name,
            version: "1.0.0",
            description: `The ${name} tool.`,
            schema: { type: "object" },
            grants: ["may post"],
            writes: true,
          })),
        call: async ({ name, params }) => {
          const { what } = JSON.parse(params) as { what: string };
          try {
            await world.request(node, `${name} ${what}`, () => void world.posted.push(what));
            return { status: "ok", output: "posted" };
          } catch (error) {
            return { status: "error", code: "failed", message: String(error) };
          }
        },
        resume: async () => ({ status: "error" as const, code: "missing", message: "nothing was asked" }),
      },
    }),
  });
