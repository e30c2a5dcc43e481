/** Four tasks of one answer beside one, with a model that takes half a second for each answer. */
import type { AnyPlugin } from "../../kernel/plugin.ts";
import store from "../../plugins/store/plugin.ts";
import { type ChatRequest, startModelServer } from "../support/servers/model-server.ts";
import { agentPlugins } from "../support/services/agent-plugins.ts";
import { bootBare } from "../support/services/bare-kernel.ts";
import { atMost, type Bench, compare, interleave } from "./support/bench.ts";
import { inFolder } from "./support/programs.ts";

const ROUNDS = 3;
const MODEL_MS = 500;

const isTold = ({ messages }: ChatRequest): boolean => messages.some(({ role }) => role === "tool");
const wanted = ({ messages }: ChatRequest): number =>
  Number(/Delegate (\d)/.exec(JSON.stringify(messages.at(-1)?.content))?.[1] ?? 0);

export const bench: Bench = {
  name: "delegation",
  about: "four tasks delegated in one answer, beside one; the model takes half a second for each answer",
  run: (progress) =>
    inFolder(async (home) => {
      const model = await startModelServer();
      model.otherwise((request) => {
        const count = isTold(request) ? 0 : wanted(request);
        if (count === 0) return { text: "Done.", delay: MODEL_MS };
        const call = { name: "task_delegate", arguments: { task: "Think about it" } };
        return { text: "So.", calls: Array.from({ length: count }, () => call), delay: MODEL_MS };
      });
      const service = await bootBare([store as AnyPlugin, ...agentPlugins], home, {
        MODEL_BASE_URL: model.url,
        MODEL_NAME: "scripted",
        CHAT_TITLES: "false",
      });
      const time = (count: number) => async () => {
        const input = { type: "message", text: `Delegate ${count}` } as const;
        const began = performance.now();
        const turn = await service.service("agent").run({ user: "ann", channel: "bench", input });
        const { items, status } = await turn.record;
        const done = items.filter((item) => item.type === "tool_result" && item.outcome.status === "ok");
        if (status !== "completed" || done.length !== count) throw new Error("a task did not end well");
        return performance.now() - began;
      };
      try {
        const times = await interleave({ "one task": time(1), "four at once": time(4) }, ROUNDS, progress);
        return compare(times, { unit: "ms", goals: { "four at once": atMost(1.3) } });
      } finally {
        await service.stop();
        await model.close();
      }
    }),
};
