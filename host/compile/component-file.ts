/** Components on this machine's disk. The published package has those of Postern compressed: a third of the bytes, read once for each home. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import { MAX_COMPONENT_BYTES } from "./capabilities-section.ts";

const COMPRESSED = ".gz";

/** The file itself, or the compressed one beside its place; undefined where there is neither. */
export const findComponentFile = (path: string): string | undefined =>
  [path, `${path}${COMPRESSED}`].find((file) => existsSync(file));

export async function readComponentFile(path: string): Promise<Buffer> {
  const file = findComponentFile(path) ?? path;
  const bytes = await readFile(file);
  if (!file.endsWith(COMPRESSED)) return bytes;
  return promisify(gunzip)(bytes, { maxOutputLength: MAX_COMPONENT_BYTES });
}
