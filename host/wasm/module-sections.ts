/** A core module as a row of sections: taken apart, and put together again with some of them replaced. */
import { Cursor } from "./instructions.ts";

export const EXPORT = 7;

export interface Section {
  readonly id: number;
  readonly start: number;
  readonly end: number;
}

export function sections(module: Uint8Array): Section[] {
  const cursor = new Cursor(module, 8);
  const found: Section[] = [];
  while (cursor.at < module.length) {
    const id = cursor.byte();
    const size = cursor.u32();
    const start = cursor.at;
    cursor.skip(size);
    found.push({ id, start, end: cursor.at });
  }
  return found;
}

/** A number as the format writes it. */
export function leb(value: number): number[] {
  const out: number[] = [];
  let rest = value;
  do {
    const low = rest & 0x7f;
    rest >>>= 7;
    out.push(rest === 0 ? low : low | 0x80);
  } while (rest !== 0);
  return out;
}

// Sections other than custom ones come in the order of their numbers, save two that were added later.
const order = (id: number) => (id === 12 ? 9.5 : id === 13 ? 5.5 : id);

export function assemble(module: Uint8Array, all: Section[], replaced: Map<number, Uint8Array>): Uint8Array {
  const parts: Uint8Array[] = [module.subarray(0, 8)];
  const put = (id: number, content: Uint8Array) =>
    parts.push(Uint8Array.from([id, ...leb(content.length)]), content);
  const waiting = new Map([...replaced].sort(([one], [other]) => order(one) - order(other)));
  for (const { id, start, end } of all) {
    for (const [missing, content] of waiting) {
      if (id === 0 || order(missing) >= order(id)) break;
      put(missing, content);
      waiting.delete(missing);
    }
    put(id, waiting.get(id) ?? module.subarray(start, end));
    waiting.delete(id);
  }
  for (const [id, content] of waiting) put(id, content);
  return Buffer.concat(parts);
}
