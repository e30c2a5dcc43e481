/** Growth: what the loop costs for the nth turn on a thread, with a model that answers at once. */
import { join } from "node:path";
import { openStore } from "../../plugins/store/sqlite/store.ts";
import { openAgent } from "./support/agent.ts";
import { atMost, type Bench, compare, interleave } from "./support/bench.ts";
import { inFolder } from "./support/programs.ts";

const ROUNDS = 9;
const LONG = [100, 1000, 10_000];

export const bench: Bench = {
  name: "agent-turn",
  about:
    "growth: the nth turn on a thread, without the model and the flushes; turn 1,000 within 3× of turn 10",
  run: (progress) =>
    inFolder(async (home) => {
      // Flushes are the disk's, and the same for every turn.
      const store = openStore(join(home, "store.sqlite"), { durability: "normal" });
      const { agent, history, turn } = await openAgent(store, home);
      const threadOf = async (turns: number) => {
        const thread = await turn();
        for (let count = 1; count < turns; count++) await turn(thread);
        return thread;
      };
      const timed = async (thread: string) => {
        const began = performance.now();
        await turn(thread);
        return performance.now() - began;
      };
      const cold = (thread: string) => {
        history.forget(thread);
        return timed(thread);
      };
      try {
        // A thread of ten stays one: each round takes a new one.
        const short: string[] = [];
        for (let count = 0; count < 2 * ROUNDS; count++) short.push(await threadOf(10));
        const next = () => short.pop() ?? "";
        const warm: Record<string, () => Promise<number>> = { "turn 10": () => timed(next()) };
        const first: Record<string, () => Promise<number>> = { "turn 10": () => cold(next()) };
        for (const turns of LONG) {
          const name = `turn ${turns.toLocaleString("en")}`;
          progress(`filling a thread up to ${name}`);
          const thread = await threadOf(turns);
          warm[name] = () => timed(thread);
          first[name] = () => cold(thread);
        }
        const what = "first after a start";
        // What the model is sent grows with the thread, and is read anew after a start: no worse than the turns themselves.
        const goals = { "turn 1,000": atMost(3), "turn 10,000": atMost(10) };
        const firstGoals = { "turn 10,000": atMost(1000) };
        return [
          ...compare(await interleave(warm, ROUNDS, progress), { unit: "ms", goals }),
          ...compare(await interleave(first, ROUNDS, progress), { unit: "ms", what, goals: firstGoals }),
        ];
      } finally {
        await agent.stop();
        await store.close();
      }
    }),
};
