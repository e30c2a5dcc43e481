/** The files of a folder on this machine, as they would be in an archive of it. Names that begin with a dot are left out. */
import { constants } from "node:fs";
import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { reason } from "../../kernel/plugin.ts";
import { quote, refusal } from "./archive-path.ts";
import type { PackageFiles } from "./npm/tarball.ts";

const MAX_DEPTH = 16;

export async function readFolder(
  folder: string,
  { maxBytes, maxEntries }: { readonly maxBytes: number; readonly maxEntries: number },
): Promise<PackageFiles> {
  const files = new Map<string, Uint8Array>();
  let bytes = 0;
  let entries = 0;

  async function walk(below: string, depth: number): Promise<void> {
    const found = await readdir(join(folder, below), { withFileTypes: true }).catch((error: unknown) => {
      throw refusal(folder, `it cannot be read (${reason(error)})`, error);
    });
    for (const entry of found.filter(({ name }) => !name.startsWith("."))) {
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      entries += 1;
      if (entries > maxEntries) throw refusal(folder, `it has more than ${maxEntries} files and folders`);
      if (entry.isSymbolicLink())
        throw refusal(folder, `${quote(path)} is a link; replace it with the file itself`);
      if (entry.isDirectory()) {
        if (depth === MAX_DEPTH)
          throw refusal(folder, `${quote(path)} is more than ${MAX_DEPTH} folders deep`);
        await walk(path, depth + 1);
      } else if (entry.isFile()) {
        const file = join(folder, path);
        bytes += (await lstat(file)).size;
        if (bytes > maxBytes)
          throw refusal(folder, `it has more than ${maxBytes} bytes, which is the most that is read`);
        files.set(path, await readFile(file, { flag: constants.O_RDONLY | constants.O_NOFOLLOW }));
      } else throw refusal(folder, `${quote(path)} is neither a file nor a folder`);
    }
  }

  await walk("", 1);
  return files;
}
