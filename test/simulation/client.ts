/** People and programs outside: they ask a node, hear an answer or none, and try again elsewhere. */
import type { Services } from "../../kernel/plugin.ts";
import { inside } from "./machine.ts";
import type { SimulatedNode, World } from "./world.ts";

export type Attempted<Value> = { readonly value: Value } | { readonly error: unknown };

const PATIENCE_MS = 5000;
const AGAIN_MS = 1000;

type Use = <Name extends keyof Services>(name: Name) => Services[Name];

export const pause = ({ machine }: World, millis: number): Promise<void> =>
  new Promise((resolve) => machine.after(millis, resolve));

/** Asks one of the nodes. Undefined where no answer came. */
export async function ask<Value>(
  world: World,
  work: (use: Use, node: SimulatedNode) => Promise<Value>,
): Promise<Attempted<Value> | undefined> {
  const serving = world.serving();
  const node = serving[Math.floor(world.machine.chance() * serving.length)];
  if (node === undefined) return undefined;
  const answer = inside(node, () => work((name) => world.service(node, name), node)).then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  return await Promise.race([answer, pause(world, PATIENCE_MS).then(() => undefined)]);
}

/** Tries until somebody has answered with something that `isAnswer` takes for one; a value is one always. */
export async function insist<Value>(
  world: World,
  work: (use: Use, node: SimulatedNode) => Promise<Value>,
  isAnswer: (error: unknown) => boolean = () => false,
): Promise<Attempted<Value>> {
  for (;;) {
    const answer = await ask(world, work);
    if (answer && ("value" in answer || isAnswer(answer.error))) return answer;
    await pause(world, AGAIN_MS);
  }
}
