/** Modules out of random code, marked and not: they compute the same, and everything they write is found. */
import { expect, test } from "vitest";
import { bytesOf, type Exports, held, keptMemories, marked, open } from "../../support/marked-module.ts";
import { randomModule } from "../../support/random-module.ts";

function outcome(exports: Exports, [first, second]: readonly [number, number]): unknown {
  try {
    return exports.run(first, second);
  } catch (error) {
    return (error as Error).message;
  }
}

/** Calls both with the same, and puts one back by hand and the other by its marks. */
function compareCalls(
  seed: number,
  own: Exports,
  rewritten: Exports,
  cores: { exports: object }[],
  args: readonly (readonly [number, number])[],
) {
  const start = held(rewritten.memory);
  const pointer = rewritten.pointer.value;
  const copy = keptMemories(cores);
  for (const pair of args) {
    Buffer.from(own.memory.buffer).set(start);
    own.pointer.value = pointer;
    expect([seed, pair, outcome(rewritten, pair)]).toEqual([seed, pair, outcome(own, pair)]);
    expect(bytesOf(rewritten.memory).equals(bytesOf(own.memory)), `seed ${seed}: the same memory`).toBe(true);
    expect(rewritten.pointer.value).toBe(own.pointer.value);
    if (!copy.restore()) return;
    rewritten.pointer.value = pointer;
    expect(bytesOf(rewritten.memory).equals(start), `seed ${seed}: put back after ${pair}`).toBe(true);
  }
}

const SEEDS = Array.from({ length: 100 }, (_, seed) => seed);

test("random modules compute the same, trap the same and are put back exactly", () => {
  for (const seed of SEEDS) {
    const { bytes, arguments: args } = randomModule(seed);
    const rewritten = open(marked(bytes));
    compareCalls(seed, open(bytes), rewritten, [{ exports: rewritten }], args);
  }
});

test("random modules that write to another module's memory are put back exactly", () => {
  for (const seed of SEEDS) {
    const { bytes, pages } = randomModule(seed);
    const guest = randomModule(seed + 1000, pages);
    const pair = (one: Uint8Array, other: Uint8Array) => {
      const owner = open(one);
      const second = open(other, { env: { memory: owner.memory } });
      const both: Exports = {
        memory: owner.memory,
        pointer: second.pointer,
        run: (x, y) => owner.run(x, y) + second.run(y, x),
      };
      return { both, cores: [{ exports: owner }, { exports: second }], owner };
    };
    const own = pair(bytes, guest.bytes);
    const rewritten = pair(marked(bytes), marked(guest.bytes));
    own.owner.pointer.value = rewritten.owner.pointer.value;
    compareCalls(seed, own.both, rewritten.both, rewritten.cores, guest.arguments.slice(0, 1));
  }
});
