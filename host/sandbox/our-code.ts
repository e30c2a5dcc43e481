/** What a tool's process may read: the files of ours that it runs, and the packages they use. */
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { threadFile } from "../../kernel/cli/thread-file.ts";

/** The file that such a process starts with. */
export const CHILD = threadFile("inside/child", import.meta.url);

/** What the modules in there import; where packages are linked, their files lie elsewhere. */
const PACKAGES = [
  "piscina",
  "ajv",
  "ajv-formats",
  "@bytecodealliance/jco-transpile",
  "@bytecodealliance/preview2-shim",
];
const FOLDER = "node_modules";

export const OUR_CODE = ourCode();

function ourCode(): readonly string[] {
  const own = dirname(dirname(dirname(dirname(CHILD))));
  const paths = [join(own, "host"), join(own, "kernel")];
  for (let folder = own; ; folder = dirname(folder)) {
    paths.push(join(folder, "package.json"), join(folder, FOLDER));
    for (const name of PACKAGES) paths.push(...placesOf(join(folder, FOLDER, name)));
    if (dirname(folder) === folder) break;
  }
  return [...new Set(paths)].filter((path) => existsSync(path));
}

/** A package's own folder, and that of the packages beside it. */
function placesOf(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  const real = realpathSync(path);
  return [real, real.slice(0, real.lastIndexOf(FOLDER) + FOLDER.length)];
}
