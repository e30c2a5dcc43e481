/** Components on this machine's disk. Ours are compressed, with the engines in `engines.br` as the dictionary. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { promisify } from "node:util";
import { brotliDecompress, zstdDecompress } from "node:zlib";
import { ROOT } from "../../kernel/kit/files.ts";
import { MAX_COMPONENT_BYTES } from "./capabilities-section.ts";

export const COMPONENTS = join(ROOT, "components");
export const ENGINES = join(COMPONENTS, "engines.br");
export const COMPRESSED = ".zst";

const decompress = promisify(zstdDecompress);

/** The file itself, or ours compressed in its place; undefined where there is neither. */
export const findComponentFile = (path: string): string | undefined =>
  [...(path.startsWith(COMPONENTS + sep) ? [`${path}${COMPRESSED}`] : []), path].find((file) =>
    existsSync(file),
  );

export async function readComponentFile(path: string): Promise<Buffer> {
  const file = findComponentFile(path) ?? path;
  const bytes = await readFile(file);
  if (file === path) return bytes;
  return decompress(bytes, { dictionary: await readEngines(), maxOutputLength: MAX_COMPONENT_BYTES });
}

export async function readEngines(): Promise<Buffer> {
  return promisify(brotliDecompress)(await readFile(ENGINES));
}
