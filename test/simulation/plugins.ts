/** What runs on a node: the real plugins, on the simulation's store, with a model and a tool at the other end of its network. */
import { type AnyPlugin, definePlugin, Fault } from "../../kernel/plugin.ts";
import accounts from "../../plugins/accounts/plugin.ts";
import agent from "../../plugins/agent/plugin.ts";
import jobs from "../../plugins/jobs/plugin.ts";
import jobQueue from "../../plugins/jobs/queue/plugin.ts";
import { streamSteadily } from "../../plugins/models/providers/retry.ts";
import type { Model, ModelPart, ModelRequest } from "../../plugins/models/services.ts";
import { addUsage } from "../../plugins/models/spending/prices.ts";
import { createSpending, MIGRATIONS as SPENDING } from "../../plugins/models/spending/spending.ts";
import { openStoredSettings } from "../../plugins/store/stored-settings/stored-settings.ts";
import { createUserStorage } from "../../plugins/store/user-storage.ts";
import workspace from "../../plugins/workspace/plugin.ts";
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
    jobs,
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

/** Answers "say x" with "x"; for "post x" or "ask x" it calls the tool of that name and answers with what that returns. */
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
          if (last?.role === "tool") return [{ type: "text", delta: last.failed ? "failed" : "done" }];
          const [, verb = "say", what = ""] = /(say|post|ask) (\S+)\s*$/.exec(last?.text ?? "") ?? [];
          if (verb === "say") return [{ type: "text", delta: what }];
          return [
            { type: "call", call: { id: `call-${what}`, name: verb, params: JSON.stringify({ what }) } },
          ];
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
