/** Reads a zip in memory, and refuses what could be read in two ways, leads elsewhere or unpacks to too much. */
import { promisify } from "node:util";
import { crc32, inflateRaw } from "node:zlib";
import { reason } from "../../kernel/plugin.ts";
import { archivePath, nameText, quote, refusal } from "./archive-path.ts";
import type { PackageFiles } from "./npm/tarball.ts";

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
const END_BYTES = 22;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
const MAX_COMMENT = 0xffff;
const UNIX = 3;
const TYPE_BITS = 0o170000;
const LINK = 0o120000;
const ENCRYPTED = 1;
const STORED = 0;
const DEFLATED = 8;

const inflate = promisify<Uint8Array, { readonly maxOutputLength: number }, Buffer>(inflateRaw);

export const isZip = (data: Uint8Array): boolean => data[0] === 0x50 && data[1] === 0x4b;

export async function readZip(
  zip: Uint8Array,
  what: string,
  { maxBytes, maxEntries }: { readonly maxBytes: number; readonly maxEntries: number },
): Promise<PackageFiles> {
  const bytes = Buffer.from(zip.buffer, zip.byteOffset, zip.byteLength);
  const files = new Map<string, Uint8Array>();
  let left = maxBytes;
  for (const entry of readEntries(bytes, what, maxEntries)) {
    const path = archivePath(entry.name, what);
    if (entry.name.endsWith("/")) continue;
    if (entry.isLink) throw refusal(what, `its entry ${quote(entry.name)} is a link`);
    if (files.has(path)) throw refusal(what, `it has two entries named ${quote(path)}`);
    const data = await unpack(entry, left, what).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== "ERR_BUFFER_TOO_LARGE") throw error;
      throw refusal(what, `it unpacks to more than ${maxBytes} bytes, which is the most that is read`);
    });
    left -= data.byteLength;
    files.set(path, data);
  }
  return files;
}

interface ZipEntry {
  readonly name: string;
  readonly isLink: boolean;
  readonly method: number;
  readonly sum: number;
  readonly size: number;
  readonly packed: Buffer;
}

function* readEntries(zip: Buffer, what: string, most: number): Generator<ZipEntry> {
  const damaged = () => refusal(what, "it is not a zip file, or it is damaged");
  const end = findEnd(zip);
  if (end === -1) throw damaged();
  const count = zip.readUInt16LE(end + 10);
  // 0xffff: the larger format, which nothing of a size that is read here needs.
  if (count > most) throw refusal(what, `it has more than ${most} entries`);
  let at = zip.readUInt32LE(end + 16);
  for (let number = 0; number < count; number++) {
    if (at + ENTRY_BYTES > zip.length || zip.readUInt32LE(at) !== ENTRY) throw damaged();
    const [nameLength, extraLength, noteLength] = [28, 30, 32].map((field) => zip.readUInt16LE(at + field));
    const nameAt = at + ENTRY_BYTES;
    const name = nameText(zip.subarray(nameAt, nameAt + (nameLength ?? 0)), what);
    if ((zip.readUInt16LE(at + 8) & ENCRYPTED) !== 0)
      throw refusal(what, `its entry ${quote(name)} is encrypted`);
    const local = zip.readUInt32LE(at + 42);
    if (local + LOCAL_BYTES > zip.length || zip.readUInt32LE(local) !== LOCAL) throw damaged();
    const start = local + LOCAL_BYTES + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    const length = zip.readUInt32LE(at + 20);
    if (start + length > zip.length) throw damaged();
    yield {
      name,
      isLink: zip.readUInt8(at + 5) === UNIX && ((zip.readUInt32LE(at + 38) >>> 16) & TYPE_BITS) === LINK,
      method: zip.readUInt16LE(at + 10),
      sum: zip.readUInt32LE(at + 16),
      size: zip.readUInt32LE(at + 24),
      packed: zip.subarray(start, start + length),
    };
    at = nameAt + (nameLength ?? 0) + (extraLength ?? 0) + (noteLength ?? 0);
  }
}

/** The last one: a comment may follow it. */
function findEnd(zip: Buffer): number {
  const first = Math.max(0, zip.length - END_BYTES - MAX_COMMENT);
  for (let at = zip.length - END_BYTES; at >= first; at--) if (zip.readUInt32LE(at) === END) return at;
  return -1;
}

/** What an entry says of itself is only compared: how much comes out is bounded while it does. */
async function unpack(
  { name, method, sum, size, packed }: ZipEntry,
  left: number,
  what: string,
): Promise<Uint8Array> {
  const refuse = (why: string, cause?: unknown) => refusal(what, `its entry ${quote(name)} ${why}`, cause);
  if (method !== STORED && method !== DEFLATED)
    throw refuse(`is packed in a way (${method}) that is not known`);
  // Zero would mean no bound.
  const data =
    method === STORED
      ? packed
      : await inflate(packed, { maxOutputLength: Math.max(1, left) }).catch((error: unknown) => {
          if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw error;
          throw refuse(`is damaged (${reason(error)})`, error);
        });
  if (data.byteLength > left) throw Object.assign(new Error(), { code: "ERR_BUFFER_TOO_LARGE" });
  if (data.byteLength !== size || crc32(data) !== sum)
    throw refuse("is damaged: it is not what its sum says");
  return data;
}
