/** Limits: never more than so many in any minute, over all nodes. */
import { ask, pause } from "./client.ts";
import { CHAT_LIMIT, type Part } from "./world.ts";

const WINDOW_MS = 60_000;
const ROUNDS = 3;
const ROUND_MS = 12_000;

export function limitsPart(): Part {
  const taken: number[] = [];
  return {
    deeds: {
      async take(world, { number }) {
        // Several at once, as messages come, and more within the same minute.
        for (let round = 0; round < ROUNDS; round++) {
          for (let count = 0; count < 3 + (number % 4); count++)
            void ask(world, (use) => use("agent").chatLimit.take("bob")).then((answer) => {
              if (answer && "value" in answer && answer.value.ok) taken.push(world.machine.now());
            });
          await pause(world, ROUND_MS);
        }
      },
    },
    async check(world) {
      // One process alone goes by its own clock, and notes a place while it answers.
      const lenience = world.plan.isFleet ? 0 : world.hasMet("crash before") + world.hasMet("crash after");
      if (!world.plan.isFleet && world.hasMet("clock jump")) return;
      for (const at of taken) {
        const count = taken.filter((other) => other > at - WINDOW_MS && other <= at).length;
        if (count > CHAT_LIMIT + lenience)
          world.violate("never more than the limit", `${count} in the minute to ${(at / 1000).toFixed(1)} s`);
      }
    },
  };
}
