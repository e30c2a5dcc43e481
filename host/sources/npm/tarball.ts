/** Reads a package's tarball in memory, and refuses links, paths that lead elsewhere, doubled names and what it does not know. */
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { reason } from "../../../kernel/plugin.ts";
import { archivePath, nameText, quote, refusal } from "../archive-path.ts";

/** By their path inside the package. */
export type PackageFiles = ReadonlyMap<string, Uint8Array>;

const BLOCK = 512;
/** For an entry that only describes the next one, such as its long name. */
const MAX_EXTENSION = 64 * 1024;

const unzip = promisify(gunzip);

/** `isWrapped`: without the folder that every npm package is wrapped in. */
export async function readTarball(
  tarball: Uint8Array,
  what: string,
  {
    maxBytes,
    maxEntries,
    isWrapped = true,
  }: { readonly maxBytes: number; readonly maxEntries: number; readonly isWrapped?: boolean },
): Promise<PackageFiles> {
  let archive: Uint8Array;
  try {
    archive = await unzip(tarball, { maxOutputLength: maxBytes });
  } catch (error) {
    const why =
      (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE"
        ? `it unpacks to more than ${maxBytes} bytes, which is the most that is read`
        : `it is not a complete gzip file (${reason(error)})`;
    throw refusal(what, why, error);
  }
  const files = new Map<string, Uint8Array>();
  let entries = 0;
  for (const { path, type, data } of readEntries(archive, what)) {
    entries += 1;
    if (entries > maxEntries) throw refusal(what, `it has more than ${maxEntries} entries`);
    const whole = archivePath(path, what);
    const place = isWrapped ? whole.split("/").slice(1).join("/") : whole;
    if (type === "folder" || place === "") continue;
    // Readers differ in which of the two they take.
    if (files.has(place)) throw refusal(what, `it has two entries named ${quote(place)}`);
    files.set(place, data);
  }
  return files;
}

interface Entry {
  readonly path: string;
  readonly type: "file" | "folder";
  readonly data: Uint8Array;
}

interface Extension {
  path?: string;
  size?: number;
}

function* readEntries(archive: Uint8Array, what: string): Generator<Entry> {
  let at = 0;
  let next: Extension = {};
  const take = (size: number): Uint8Array => {
    if (at + size > archive.length) throw refusal(what, "it ends early");
    const data = archive.subarray(at, at + size);
    at += Math.ceil(size / BLOCK) * BLOCK;
    return data;
  };
  while (at < archive.length) {
    const header = take(BLOCK);
    if (header.every((byte) => byte === 0)) return;
    checkSum(header, what);
    const type = String.fromCharCode(header[156] ?? 0);
    const size = readNumber(header, 124, 12, what);
    if (type === "x" || type === "g" || type === "L") {
      if (size > MAX_EXTENSION)
        throw refusal(what, `it has a header of ${size} bytes; at most ${MAX_EXTENSION} are read`);
      const data = take(size);
      if (type === "L") next.path = text(data, what);
      else if (type === "x") next = { ...next, ...readExtension(data, what) };
      // For all entries that follow: nobody needs that for paths or sizes.
      else if (Object.keys(readExtension(data, what)).length > 0)
        throw refusal(what, "it sets the path or size of all its entries at once");
      continue;
    }
    const path = next.path ?? readName(header, what);
    const length = next.size ?? size;
    next = {};
    if (type === "5") {
      take(length);
      yield { path, type: "folder", data: new Uint8Array() };
    } else if (type === "0" || type === "\0") {
      yield { path, type: "file", data: take(length) };
    } else {
      const kind =
        type === "1" || type === "2" ? "a link" : `neither a file nor a folder (type ${quote(type)})`;
      throw refusal(what, `its entry ${quote(path)} is ${kind}`);
    }
  }
}

function checkSum(header: Uint8Array, what: string): void {
  let sum = 0;
  // The sum's own field counts as spaces.
  for (const [at, byte] of header.entries()) sum += at >= 148 && at < 156 ? 32 : byte;
  if (sum !== readNumber(header, 148, 8, what)) throw refusal(what, "it is not a tar file, or it is damaged");
}

/** Octal digits, ended by a space or NUL. The other way, for more than 8 GB, is refused with everything else. */
function readNumber(header: Uint8Array, from: number, length: number, what: string): number {
  const digits = Buffer.from(header.subarray(from, from + length))
    .toString("latin1")
    .replaceAll("\0", " ")
    .trim();
  if (!/^[0-7]*$/.test(digits)) throw refusal(what, "it is not a tar file, or it is damaged");
  return digits === "" ? 0 : Number.parseInt(digits, 8);
}

function readName(header: Uint8Array, what: string): string {
  const field = (from: number, length: number) => text(header.subarray(from, from + length), what);
  const name = field(0, 100);
  // GNU's own format ends its magic with a space and uses the prefix for something else.
  const isStandard = header[262] === 0;
  const prefix = isStandard && field(257, 6) === "ustar" ? field(345, 155) : "";
  return prefix === "" ? name : `${prefix}/${name}`;
}

/** Records of `<length> <key>=<value>\n`, where the length counts the whole record. */
function readExtension(data: Uint8Array, what: string): Extension {
  const found: Extension = {};
  for (let at = 0; at < data.length; ) {
    const space = data.indexOf(32, at);
    const length = Number(Buffer.from(data.subarray(at, Math.max(at, space))).toString("latin1"));
    const isWhole =
      space > at && space - at < 8 && Number.isSafeInteger(length) && at + length <= data.length;
    if (!isWhole || length <= space - at + 1) throw refusal(what, "one of its headers is damaged");
    const record = text(data.subarray(space + 1, at + length - 1), what);
    const equals = record.indexOf("=");
    const [key, value] = [record.slice(0, equals), record.slice(equals + 1)];
    if (key === "path") found.path = value;
    if (key === "size") {
      if (!/^\d{1,15}$/.test(value)) throw refusal(what, "one of its headers is damaged");
      found.size = Number(value);
    }
    at += length;
  }
  return found;
}

/** Up to its first NUL. */
function text(bytes: Uint8Array, what: string): string {
  const end = bytes.indexOf(0);
  return nameText(end < 0 ? bytes : bytes.subarray(0, end), what);
}
