import { random } from "../support/services/chat-model.ts";
import { approvalsPart } from "./approvals.ts";
import { jobsPart } from "./jobs.ts";
import { limitsPart } from "./limits.ts";
import { openMemory } from "./memory.ts";
import { routinesPart, spendingPart } from "./routines.ts";
import { workspacePart } from "./workspace.ts";
import { type Plan, play, TROUBLE_MS } from "./world.ts";

const KINDS = ["submit", "submit", "submit", "routine", "take", "take", "ask", "write", "write", "undo"];
const parts = () => [
  jobsPart(),
  routinesPart(),
  spendingPart(),
  limitsPart(),
  approvalsPart(),
  workspacePart(),
];

export function planOf(seed: number): Plan {
  const chance = random(seed ^ 0x9a1a);
  const isFleet = chance() < 0.75;
  const count = 2 + Math.floor(chance() * 8);
  return {
    seed,
    isFleet,
    nodes: isFleet ? 2 + Math.floor(chance() * 2) : 1,
    rate: chance() ** 2 * 0.15,
    deeds: Array.from({ length: count }, (_, number) => ({
      at: Math.floor(chance() * TROUBLE_MS * 0.7),
      kind: KINDS[Math.floor(chance() * KINDS.length)] as string,
      number,
    })),
  };
}

export async function run(args: string[]): Promise<number> {
  const [from, to] = [Number(args[0]), Number(args[1] ?? args[0])];
  for (const isFleet of [false, true])
    await play({ ...planOf(0), isFleet, rate: 0 }, async (engine, now) => openMemory(engine, now), parts);
  const since = performance.now();
  for (let seed = from; seed <= to; seed++) {
    const isTraced = from === to;
    const outcome = await play(planOf(seed), async (engine, now) => openMemory(engine, now), parts, isTraced);
    if (isTraced) console.log(outcome.logs.join("\n") + outcome.trace.join("\n"));
    if (isTraced || outcome.violations.length)
      console.log(seed, outcome.hash, outcome.steps, outcome.seconds, outcome.counts, outcome.violations);
  }
  console.log(`${Math.round(performance.now() - since)} ms`);
  return 0;
}
