/** A core module as a row of sections: taken apart, and put together again with some of them replaced. */
import { Cursor } from "./instructions.ts";

const CUSTOM = 0;
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

/** A component with more sections than this would only keep us busy; toolchains make a few thousand at most. */
const MAX_SECTIONS = 100_000;

/** The custom sections of that name: where each begins, where its content does, and where it ends. */
export function* customSections(module: Uint8Array, name: string) {
  const wanted = Buffer.from(name);
  const cursor = new Cursor(module, 8);
  for (let count = 0; cursor.at < module.length && count < MAX_SECTIONS; count++) {
    const headAt = cursor.at;
    const id = cursor.byte();
    const size = cursor.u32();
    const begins = cursor.at;
    cursor.skip(size);
    if (id !== CUSTOM) continue;
    const inside = new Cursor(module.subarray(0, cursor.at), begins);
    const length = inside.u32();
    if (length !== wanted.length) continue;
    const nameAt = inside.at;
    inside.skip(length);
    if (wanted.equals(module.subarray(nameAt, inside.at))) yield { headAt, start: inside.at, end: cursor.at };
  }
}

export function customSection(name: string, content: Uint8Array): Uint8Array {
  const label = Buffer.from(name);
  const body = Buffer.concat([Uint8Array.from(leb(label.length)), label, content]);
  return Buffer.concat([Uint8Array.from([CUSTOM, ...leb(body.length)]), body]);
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
