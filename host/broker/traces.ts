/** Known values in content made to hide them: spaced, cut, reversed, packed, encoded. It is a filter, not a boundary. */
import type { Duplex } from "node:stream";
import { setImmediate as breathe } from "node:timers/promises";
import { createInflateRaw, createZstdDecompress } from "node:zlib";
import {
  type Automaton,
  base64Within,
  canBeHidden,
  createAutomaton,
  createMatcher,
  type Matcher,
  startCursor,
} from "../../kernel/kit/secrets.ts";
import { readings } from "../../kernel/kit/untrusted.ts";

/** Letters and digits alone; fewer would be found in ordinary text. */
const MIN_TRACE_LENGTH = 10;
/** Half a value is looked for at so many places of it. */
const HALVES = 9;
/** Content is looked at in pieces, with others' work between them; what is cut in two is whole in the next. */
const PIECE = 128 * 1024;
const OVERLAP = 16 * 1024;
/** Bounds the bytes that are unpacked, and how often. */
const MAX_UNPACKED = 2 * 1024 * 1024;
const MAX_PACKED = 8;

export interface SecretMatcher extends Matcher {
  /** True where the content was made to hide a known value, or half of one: spaced out, reversed, packed, encoded. */
  discloses(content: Uint8Array): Promise<boolean>;
}

export function createSecretMatcher(values: readonly string[]): SecretMatcher {
  const { automaton, ...matcher } = createMatcher(values);
  let traced: SecretMatcher["discloses"] | undefined;
  // Built when a response first needs it.
  const tracer = () => {
    traced ??= createTracer(values, (bytes) => automaton.next(bytes, 0, startCursor()) !== -1);
    return traced;
  };
  return { ...matcher, discloses: (content) => tracer()(content) };
}

/** Finds and hides what either of them does. */
export function eitherMatcher(first: SecretMatcher, second: SecretMatcher): SecretMatcher {
  return {
    finds: (content) => first.finds(content) || second.finds(content),
    hide: (text) => second.hide(first.hide(text)),
    scrub: (bytes) => second.scrub(first.scrub(bytes)),
    discloses: async (content) => (await first.discloses(content)) || second.discloses(content),
  };
}

function createTracer(
  values: readonly string[],
  holds: (bytes: Uint8Array) => boolean,
): SecretMatcher["discloses"] {
  const traces = [...new Set(values.filter(canBeHidden).flatMap(tracesOf))].map((trace) =>
    Buffer.from(trace),
  );
  const automaton = traces.length === 0 ? undefined : createAutomaton(traces);
  const shows = (reading: Buffer) =>
    holds(reading) || (automaton !== undefined && holdsTrace(automaton, reading));

  async function look(content: Buffer, packed: Packed[]): Promise<boolean> {
    packed.push(...packedIn(content));
    for (let at = 0; at === 0 || at + OVERLAP < content.length; at += PIECE - OVERLAP) {
      if (at > 0) await breathe();
      const [plain, ...decoded] = readings(content.subarray(at, at + PIECE));
      if (plain !== undefined && shows(plain)) return true;
      for (const reading of decoded) {
        if (shows(reading)) return true;
        // Packed content may be encoded too, like a file inside JSON.
        packed.push(...packedIn(reading));
      }
    }
    return false;
  }

  return async (content) => {
    const packed: Packed[] = [];
    if (await look(Buffer.from(content.buffer, content.byteOffset, content.byteLength), packed)) return true;
    for (const each of packed.slice(0, MAX_PACKED)) if (await look(await unpack(each), [])) return true;
    return false;
  };
}

/** The value without everything but letters and digits, as it is, in hex and in base64; halves of it; and all of them reversed. */
function tracesOf(value: string): string[] {
  const bytes = Buffer.from(value.toWellFormed());
  const bare = squeeze(bytes).toString("latin1");
  const coded = [bytes.toString("hex"), ...[0, 1, 2].map((offset) => base64Within(bytes, offset))];
  const size = Math.ceil(bare.length / 2);
  const step = (bare.length - size) / (HALVES - 1);
  const halves = Array.from({ length: HALVES }, (_, at) => bare.slice(Math.round(at * step)).slice(0, size));
  return [bare, ...halves, ...coded.map((text) => squeeze(Buffer.from(text)).toString("latin1"))]
    .filter(({ length }) => length >= MIN_TRACE_LENGTH)
    .flatMap((trace) => [trace, [...trace].reverse().join("")]);
}

function holdsTrace(automaton: Automaton, bytes: Uint8Array): boolean {
  return automaton.next(squeeze(bytes), 0, startCursor()) !== -1;
}

/** Letters and digits, in lower case. */
function squeeze(bytes: Uint8Array): Buffer {
  const kept = Buffer.allocUnsafe(bytes.length);
  let count = 0;
  for (const byte of bytes) {
    const isUpper = byte >= 0x41 && byte <= 0x5a;
    if (isUpper || (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x30 && byte <= 0x39))
      kept[count++] = isUpper ? byte + 0x20 : byte;
  }
  return kept.subarray(0, count);
}

interface Packed {
  readonly bytes: Buffer;
  readonly open: () => Duplex;
}

/** The signatures of packed content; `length` returns undefined where it turns out to be something else. */
const KINDS: readonly {
  readonly magic: Buffer;
  readonly open: () => Duplex;
  readonly header: (bytes: Buffer) => number | undefined;
}[] = [
  // Without its header and its check at the end, which a tool may ignore too.
  { magic: Buffer.from([0x1f, 0x8b, 0x08]), open: createInflateRaw, header: gzipHeader },
  { magic: Buffer.from("PK\u0003\u0004"), open: createInflateRaw, header: zipHeader },
  { magic: Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), open: createZstdDecompress, header: () => 0 },
];

function packedIn(content: Buffer): readonly Packed[] {
  const found: Packed[] = [];
  for (const { magic, open, header } of KINDS) {
    for (let at = content.indexOf(magic); at !== -1; at = content.indexOf(magic, at + 1)) {
      if (found.length === MAX_PACKED) return found;
      const start = header(content.subarray(at));
      if (start !== undefined) found.push({ bytes: content.subarray(at + start), open });
    }
  }
  const [first = 0, second = 0] = content;
  // A zlib stream has no mark but a check of its first two bytes.
  if ((first & 0x0f) === 8 && (first * 256 + second) % 31 === 0)
    found.push({ bytes: content.subarray(2), open: createInflateRaw });
  return found;
}

function gzipHeader(bytes: Buffer): number | undefined {
  const flags = bytes[3] ?? 0;
  let at = 10;
  if (flags & 4) at += 2 + (bytes[at] ?? 0) + 256 * (bytes[at + 1] ?? 0);
  // A name and a comment, each up to a zero.
  for (const flag of [8, 16]) {
    if ((flags & flag) === 0) continue;
    const end = bytes.indexOf(0, at);
    if (end === -1) return undefined;
    at = end + 1;
  }
  return flags & 2 ? at + 2 : at;
}

function zipHeader(bytes: Buffer): number | undefined {
  const isDeflated = bytes.length > 30 && bytes.readUInt16LE(8) === 8;
  return isDeflated ? 30 + bytes.readUInt16LE(26) + bytes.readUInt16LE(28) : undefined;
}

/** Returns what could be unpacked, up to the bound. */
async function unpack({ bytes, open }: Packed): Promise<Buffer> {
  const unpacker = open();
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    unpacker.end(bytes);
    for await (const chunk of unpacker) {
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
      if (size > MAX_UNPACKED) break;
    }
  } catch {
    // It was something else, or was cut off: what came before is looked at.
  }
  return Buffer.concat(chunks);
}
