/** The parts of a ZIP archive, unpacked piece by piece: what it says of its sizes is not believed. */
import { createInflateRaw } from "node:zlib";
import { Unreadable } from "./passages.ts";

export interface Archive {
  has(name: string): boolean;
  /** Gives the text of a part in pieces; nothing where there is no such part. */
  read(name: string, take: (piece: string) => void): Promise<void>;
}

interface Entry {
  readonly isLocked: boolean;
  readonly method: number;
  readonly bytes: number;
  readonly at: number;
}

/** Far more than the largest documents of people: a million cells take about 60 MB. */
const MAX_UNPACKED_BYTES = 256 * 2 ** 20;
const MAX_ENTRIES = 65_536;
const END_BYTES = 22;
const MAX_COMMENT_BYTES = 65_535;
const LISTED = 0x02014b50;
const LISTED_BYTES = 46;
const LOCAL = 0x04034b50;
const LOCAL_BYTES = 30;
/** A size that is somewhere else, as of an archive of 4 GB or one that was written in one go. */
const ELSEWHERE = 0xffffffff;
const LOCKED = 1;
const STORED = 0;
const DEFLATED = 8;
const CHUNK_BYTES = 64 * 1024;

export function openArchive(data: Buffer): Archive {
  const entries = entriesOf(data);
  let left = MAX_UNPACKED_BYTES;

  return {
    has: (name) => entries.has(name),
    async read(name, take) {
      const entry = entries.get(name);
      if (entry === undefined) return;
      let decode: ((chunk?: Uint8Array) => string) | undefined;
      for await (const chunk of unpack(data, entry)) {
        left -= chunk.byteLength;
        if (left < 0) throw new Unreadable("large");
        decode ??= decoderOf(chunk);
        take(decode(chunk));
      }
      if (decode !== undefined) take(decode());
    },
  };
}

function entriesOf(data: Buffer): ReadonlyMap<string, Entry> {
  const end = data.lastIndexOf(Uint8Array.of(0x50, 0x4b, 0x05, 0x06));
  if (end < data.length - END_BYTES - MAX_COMMENT_BYTES || end + END_BYTES > data.length)
    throw new Unreadable("broken");
  const entries = new Map<string, Entry>();
  // Counted by their marks: an archive of more than 65,535 parts has its number somewhere else.
  let at = Math.min(data.readUInt32LE(end + 16), data.length);
  for (; at + LISTED_BYTES <= end && data.readUInt32LE(at) === LISTED; ) {
    if (entries.size >= MAX_ENTRIES) throw new Unreadable("large");
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((field) => data.readUInt16LE(at + field));
    const next = at + LISTED_BYTES + (nameBytes ?? 0);
    entries.set(data.toString("utf8", at + LISTED_BYTES, next), {
      isLocked: (data.readUInt16LE(at + 8) & LOCKED) !== 0,
      method: data.readUInt16LE(at + 10),
      bytes: data.readUInt32LE(at + 20),
      at: data.readUInt32LE(at + 42),
    });
    at = next + (extraBytes ?? 0) + (commentBytes ?? 0);
  }
  if (entries.size === 0) throw new Unreadable("broken");
  return entries;
}

async function* unpack(data: Buffer, { isLocked, method, bytes, at }: Entry): AsyncGenerator<Buffer> {
  if (isLocked) throw new Unreadable("password");
  if (at + LOCAL_BYTES > data.length || data.readUInt32LE(at) !== LOCAL) throw new Unreadable("broken");
  const from = at + LOCAL_BYTES + data.readUInt16LE(at + 26) + data.readUInt16LE(at + 28);
  const packed = data.subarray(from, bytes === ELSEWHERE ? undefined : from + bytes);
  if (method === STORED) yield packed;
  else if (method !== DEFLATED) throw new Unreadable("broken");
  else {
    const inflater = createInflateRaw({ chunkSize: CHUNK_BYTES });
    inflater.end(packed);
    yield* inflater;
  }
}

const MARKED: readonly (readonly [encoding: string, first: number, second: number])[] = [
  ["utf-16le", 0xff, 0xfe],
  ["utf-16be", 0xfe, 0xff],
];
const HEAD_BYTES = 1024;

/** In the declaration of XML, or a tag of HTML: what the text itself says of encodings is no statement about it. */
const SAID =
  /^[^<]{0,9}<\?xml [^>]{0,200}?encoding ?= ?["']([\w-]{1,40})|<meta [^>]{0,200}?charset ?= ?["']?([\w-]{1,40})/i;

/** Decodes piece by piece, in the encoding that XML or HTML names at its beginning. */
export function decoderOf(head: Uint8Array): (chunk?: Uint8Array) => string {
  const marked = MARKED.find(([, first, second]) => head[0] === first && head[1] === second)?.[0];
  const start = Buffer.from(head.subarray(0, HEAD_BYTES)).toString("latin1");
  const [, ofXml, ofHtml] = SAID.exec(start) ?? [];
  const decoder = tryDecoder(marked ?? ofXml ?? ofHtml ?? "utf-8");
  return (chunk) => decoder.decode(chunk, { stream: chunk !== undefined });
}

function tryDecoder(encoding: string): TextDecoder {
  try {
    return new TextDecoder(encoding);
  } catch {
    return new TextDecoder();
  }
}
