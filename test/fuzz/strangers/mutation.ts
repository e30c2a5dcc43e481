/** Changes inputs so that they stay nearly what they were: bytes by bytes, and documents of JSON by their values. */
export type Random = () => number;

const below = (random: Random, limit: number) => Math.floor(random() * limit);
const pick = <Value>(random: Random, from: readonly Value[]): Value =>
  from[below(random, from.length)] as Value;

const BYTES = [0, 1, 0x0a, 0x0d, 0x22, 0x2f, 0x5c, 0x7f, 0x80, 0xc0, 0xff] as const;
const MAX_BYTES = 200_000;

export function mutateBytes(bytes: Buffer, other: Buffer, random: Random): Buffer {
  const at = below(random, bytes.length + 1);
  const end = Math.min(bytes.length, at + below(random, random() < 0.8 ? 8 : bytes.length));
  const cut = bytes.subarray(at, end);
  const from = below(random, other.length);
  const put = pick<() => Buffer>(random, [
    () => Buffer.alloc(0),
    () => Buffer.from([pick(random, BYTES)]),
    () => Buffer.from([pick(random, BYTES), pick(random, BYTES), pick(random, BYTES), pick(random, BYTES)]),
    () => Buffer.concat(Array.from({ length: 1 + below(random, 200) }, () => cut)),
    () => other.subarray(from, from + below(random, 200)),
    () => Buffer.from(cut).reverse(),
    () => Buffer.from(String(pick(random, [-1, 0, 65_536, 2 ** 31, 2 ** 32, 2 ** 53, 1e21]))),
  ])();
  return Buffer.concat([bytes.subarray(0, at), put, bytes.subarray(end)]).subarray(0, MAX_BYTES);
}

const VALUES: readonly unknown[] = [
  null,
  true,
  "",
  "x",
  "\u0000",
  "\ud800",
  "\u202e",
  "../..",
  "__proto__",
  "https://[::1]/",
  "a".repeat(5000),
  -1,
  0,
  0.5,
  2 ** 53,
  1e308,
  [],
  {},
  [[[[[[]]]]]],
  Array(300).fill(0),
];
const NAMES = [
  "__proto__",
  "constructor",
  "toString",
  "$ref",
  "type",
  "",
  "a".repeat(300),
  "\u0000",
] as const;

/** Changes one value, or the name or number of it. */
export function mutateJson(value: unknown, other: unknown, random: Random): unknown {
  if (typeof value !== "object" || value === null || random() < 0.08)
    return random() < 0.3 ? pick(random, partsOf(other)) : pick(random, VALUES);
  if (Array.isArray(value)) {
    const at = below(random, value.length + 1);
    if (random() < 0.15) return value.toSpliced(at, 1);
    if (random() < 0.15) return value.toSpliced(at, 0, value[at] ?? pick(random, VALUES));
    return at === value.length ? value : value.with(at, mutateJson(value[at], other, random));
  }
  const entries = Object.entries(value);
  const at = below(random, entries.length + 1);
  const entry = entries[at];
  if (entry === undefined) entries.push([pick(random, NAMES), pick(random, VALUES)]);
  else if (random() < 0.12) entries.splice(at, 1);
  else if (random() < 0.1) entries[at] = [pick(random, NAMES), entry[1]];
  else entries[at] = [entry[0], mutateJson(entry[1], other, random)];
  return Object.fromEntries(entries);
}

function partsOf(value: unknown): readonly unknown[] {
  if (typeof value !== "object" || value === null) return [value];
  return [value, ...Object.values(value).flatMap(partsOf)];
}

/** The same numbers for the same seed. */
export function createRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
