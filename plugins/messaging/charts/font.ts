/** The outlines of a font's letters, from a WOFF file with TrueType outlines, as they are needed to draw words. */
import { inflateSync } from "node:zlib";

export type Point = readonly [x: number, y: number];

export interface Letter {
  /** Closed lines; curves are cut into pieces. In ems, upwards from the line that letters stand on. */
  readonly outlines: readonly (readonly Point[])[];
  readonly width: number;
}

const HEADER_BYTES = 44;
const ENTRY_BYTES = 20;
const CURVE_STEPS = 4;
const MAX_DEPTH = 4;

/** Returns what finds a letter; undefined for one that the font does not have. */
export function readFont(file: Buffer): (letter: string) => Letter | undefined {
  const tables = readTables(file);
  const table = (name: string): Buffer => {
    const found = tables.get(name);
    if (found === undefined) throw new Error(`the font has no table ${name}`);
    return found;
  };
  const [head, cmap, glyf, loca, hmtx] = ["head", "cmap", "glyf", "loca", "hmtx"].map(table) as [
    Buffer,
    Buffer,
    Buffer,
    Buffer,
    Buffer,
  ];
  const em = head.readUInt16BE(18);
  const isLong = head.readInt16BE(50) === 1;
  const metrics = table("hhea").readUInt16BE(34);
  const numberOf = readMap(cmap);
  const known = new Map<string, Letter | undefined>();

  const place = (glyph: number) => (isLong ? loca.readUInt32BE(glyph * 4) : loca.readUInt16BE(glyph * 2) * 2);

  /** In units of the font. */
  function outlinesOf(glyph: number, depth = 0): readonly (readonly Point[])[] {
    const [from, to] = [place(glyph), place(glyph + 1)];
    if (from === to || depth > MAX_DEPTH) return [];
    const data = glyf.subarray(from, to);
    const count = data.readInt16BE(0);
    return count < 0 ? composed(data, depth) : simple(data, count);
  }

  /** A letter made of others, such as an accented one. */
  function composed(data: Buffer, depth: number): readonly (readonly Point[])[] {
    const outlines: (readonly Point[])[] = [];
    for (let at = 10, flags = 0x20; flags & 0x20; ) {
      flags = data.readUInt16BE(at);
      const part = data.readUInt16BE(at + 2);
      const isWide = (flags & 1) !== 0;
      const dx = isWide ? data.readInt16BE(at + 4) : data.readInt8(at + 4);
      const dy = isWide ? data.readInt16BE(at + 6) : data.readInt8(at + 5);
      at += isWide ? 8 : 6;
      const scaleBytes = flags & 8 ? 2 : flags & 0x40 ? 4 : flags & 0x80 ? 8 : 0;
      const scale = (offset: number) => (scaleBytes === 0 ? 1 : data.readInt16BE(offset) / 16384);
      const [across, up] = [scale(at), scale(at + Math.max(0, scaleBytes - 2))];
      at += scaleBytes;
      for (const line of outlinesOf(part, depth + 1))
        outlines.push(line.map(([x, y]) => [x * across + dx, y * up + dy] as const));
    }
    return outlines;
  }

  return (letter) => {
    if (!known.has(letter)) {
      const glyph = numberOf(letter.codePointAt(0) ?? 0);
      const width = glyph && hmtx.readUInt16BE(Math.min(glyph, metrics - 1) * 4) / em;
      const outlines = glyph
        ? outlinesOf(glyph).map((line) => line.map(([x, y]) => [x / em, y / em] as const))
        : [];
      known.set(letter, glyph ? { outlines, width: width ?? 0 } : undefined);
    }
    return known.get(letter);
  };
}

function readTables(file: Buffer): ReadonlyMap<string, Buffer> {
  if (file.toString("latin1", 0, 4) !== "wOFF") throw new Error("the font is not a WOFF file");
  const tables = new Map<string, Buffer>();
  for (let number = 0; number < file.readUInt16BE(12); number++) {
    const at = HEADER_BYTES + number * ENTRY_BYTES;
    const [start, packed, whole] = [4, 8, 12].map((field) => file.readUInt32BE(at + field)) as [
      number,
      number,
      number,
    ];
    const data = file.subarray(start, start + packed);
    tables.set(file.toString("latin1", at, at + 4), packed < whole ? inflateSync(data) : data);
  }
  return tables;
}

/** Reads which number a character's outline has: the table for the first 65,536 characters, which every font has. */
function readMap(cmap: Buffer): (code: number) => number | undefined {
  const starts = Array.from({ length: cmap.readUInt16BE(2) }, (_, at) => cmap.readUInt32BE(8 + at * 8));
  const start = starts.find((at) => cmap.readUInt16BE(at) === 4);
  if (start === undefined) throw new Error("the font has no usable map of characters");
  const segments = cmap.readUInt16BE(start + 6);
  const read = (part: number, at: number) => cmap.readUInt16BE(start + 14 + part * segments + at);
  return (code) => {
    for (let at = 0; at < segments; at += 2) {
      if (code > read(0, at)) continue;
      // After the ends stands a pad of two bytes.
      const first = cmap.readUInt16BE(start + 16 + segments + at);
      if (code < first) return undefined;
      const delta = cmap.readUInt16BE(start + 16 + 2 * segments + at);
      const rangeAt = start + 16 + 3 * segments + at;
      const range = cmap.readUInt16BE(rangeAt);
      const found = range === 0 ? code : cmap.readUInt16BE(rangeAt + range + (code - first) * 2);
      return found === 0 ? undefined : (found + delta) & 0xffff || undefined;
    }
    return undefined;
  };
}

interface Knot {
  readonly x: number;
  readonly y: number;
  /** False for the point that a curve bends towards. */
  readonly isOn: boolean;
}

function simple(data: Buffer, count: number): readonly (readonly Point[])[] {
  const ends = Array.from({ length: count }, (_, at) => data.readUInt16BE(10 + at * 2));
  const total = (ends.at(-1) ?? -1) + 1;
  let at = 10 + count * 2;
  at += 2 + data.readUInt16BE(at);
  const flags: number[] = [];
  while (flags.length < total) {
    const flag = data.readUInt8(at++);
    for (let times = flag & 8 ? data.readUInt8(at++) + 1 : 1; times > 0; times--) flags.push(flag);
  }
  const read = (short: number, same: number): readonly number[] => {
    let value = 0;
    return flags.slice(0, total).map((flag) => {
      if (flag & short) value += flag & same ? data.readUInt8(at++) : -data.readUInt8(at++);
      else if (!(flag & same)) {
        value += data.readInt16BE(at);
        at += 2;
      }
      return value;
    });
  };
  const xs = read(2, 16);
  const ys = read(4, 32);
  return ends.map((end, number) => {
    const from = number === 0 ? 0 : (ends[number - 1] ?? 0) + 1;
    const knots = xs
      .slice(from, end + 1)
      .map((x, step): Knot => ({ x, y: ys[from + step] ?? 0, isOn: ((flags[from + step] ?? 0) & 1) === 1 }));
    return flatten(knots);
  });
}

const between = (one: Knot, other: Knot): Knot => ({
  x: (one.x + other.x) / 2,
  y: (one.y + other.y) / 2,
  isOn: true,
});

function flatten(knots: readonly Knot[]): readonly Point[] {
  const [first] = knots;
  const last = knots.at(-1);
  if (first === undefined || last === undefined) return [];
  let before = first.isOn ? first : last.isOn ? last : between(first, last);
  const start = before;
  const points: Point[] = [[before.x, before.y]];
  let bend: Knot | undefined;
  const go = (to: Knot) => {
    const through = bend;
    for (let step = 1; step <= (through ? CURVE_STEPS : 1); step++) {
      const t = through ? step / CURVE_STEPS : 1;
      const [a, b, c] = [(1 - t) ** 2, 2 * t * (1 - t), t ** 2];
      points.push([
        a * before.x + b * (through?.x ?? 0) + c * to.x,
        a * before.y + b * (through?.y ?? 0) + c * to.y,
      ]);
    }
    before = to;
    bend = undefined;
  };
  for (const knot of [...knots.slice(first.isOn ? 1 : 0), start]) {
    if (knot.isOn) go(knot);
    else {
      if (bend) go(between(bend, knot));
      bend = knot;
    }
  }
  return points;
}
