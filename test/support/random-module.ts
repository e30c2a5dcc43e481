/**
 * Core modules out of random code: stores of every kind at every sort of address, in blocks, loops and calls, with
 * memory that grows and traps in the middle. Every loop ends, and the same seed makes the same module.
 */
import { leb } from "../../host/wasm/module-sections.ts";
import { constant, FUNCTIONS, I32, PARAMS, RandomCode } from "./random-code.ts";

export interface RandomModule {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** What its memory starts with. */
  readonly pages: number;
  /** Numbers worth calling it with. */
  readonly arguments: readonly (readonly [number, number])[];
}

function randomNumbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

/** With `imported`, its memory is another module's, which starts with so many pages. */
export function randomModule(seed: number, imported?: number): RandomModule {
  const random = randomNumbers(seed);
  const imports = imported !== undefined;
  const pages = imported ?? 1 + random(3);
  const usesVectors = random(3) === 0;
  const bodies = Array.from({ length: FUNCTIONS }, (_, index) =>
    new RandomCode(random, index, pages, usesVectors).body(),
  );
  const text = (value: string) => [value.length, ...Buffer.from(value)];
  const vector = (items: readonly (readonly number[])[]) => [...leb(items.length), ...items.flat()];
  const section = (id: number, content: readonly number[]) => [id, ...leb(content.length), ...content];
  const memory = [1, ...leb(pages), ...leb(pages + 2)];
  const data = Array.from({ length: 5000 }, () => random(256));
  const bytes = Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(
      1,
      vector([
        [0x60, 2, ...PARAMS, 1, I32],
        [0x60, 1, I32, 1, I32],
      ]),
    ),
    ...(imports ? section(2, vector([[...text("env"), ...text("memory"), 2, ...memory]])) : []),
    ...section(3, vector(bodies.map(() => [0]))),
    ...(imports ? [] : section(5, vector([memory]))),
    ...section(6, vector([[I32, 1, ...constant(1000 + random(70_000)), 0x0b]])),
    ...section(
      7,
      vector([
        [...text("run"), 0, 0],
        ...(imports ? [] : [[...text("memory"), 2, 0]]),
        [...text("pointer"), 3, 0],
      ]),
    ),
    ...section(12, leb(1)),
    ...section(10, vector(bodies.map((body) => [...leb(body.length), ...body]))),
    ...section(11, vector([[1, ...leb(data.length), ...data]])),
  ]);
  const edges = [0, 8, 1019, 1024, 4090, 65_530, pages * 65_536 - 5, pages * 65_536, -3, -1500, 2 ** 31 - 1];
  const number = () => (random(3) > 0 ? random(pages * 65_536) : (edges[random(edges.length)] as number));
  return { bytes, pages, arguments: Array.from({ length: 6 }, () => [number(), number()] as const) };
}
