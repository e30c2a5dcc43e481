/** Tarballs entry by entry, also such as no program writes. */
import { gzipSync } from "node:zlib";

export interface TarEntry {
  readonly path: string;
  readonly data?: string | Uint8Array;
  /** "0" a file, "2" a symbolic link, "5" a folder, "x" an extension of the next entry … */
  readonly type?: string;
  readonly link?: string;
  /** In place of the true size. */
  readonly size?: number;
  /** The standard format's field that goes before the path. */
  readonly prefix?: string;
}

export function tarball(entries: readonly TarEntry[], end = true): Buffer {
  return gzipSync(Buffer.concat([...entries.map(toBlocks), Buffer.alloc(end ? 1024 : 0)]));
}

/** A record of an extension: its length counts itself. */
export function record(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  let length = Buffer.byteLength(rest) + 1;
  while (String(length).length + Buffer.byteLength(rest) !== length) length += 1;
  return `${length}${rest}`;
}

function toBlocks({ path, data = "", type = "0", link = "", size, prefix = "" }: TarEntry): Buffer {
  const bytes = Buffer.from(data);
  const header = Buffer.alloc(512);
  header.write(path, 0, 100);
  header.write("0000644\0", 100);
  header.write("0000000\0", 108);
  header.write("0000000\0", 116);
  header.write(`${(size ?? bytes.length).toString(8).padStart(11, "0")}\0`, 124);
  header.write("00000000000\0", 136);
  header.write("        ", 148);
  header.write(type, 156);
  header.write(link, 157, 100);
  header.write("ustar\u000000", 257);
  header.write(prefix, 345, 155);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return Buffer.concat([header, bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)]);
}
