/** What every process of ours needs that runs or reads a stranger's code: bounds by the system, and the packages it may read. */
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

/** Undefined where the system has none. */
export const PRLIMIT = ["/usr/bin/prlimit", "/bin/prlimit"].find((file) => existsSync(file));

const FOLDER = "node_modules";

/** The folders of packages that a module in this folder can import from; where these packages are linked, also where they lie. */
export function packagesAbove(own: string, packages: readonly string[]): readonly string[] {
  const paths: string[] = [];
  for (let folder = own; ; folder = dirname(folder)) {
    paths.push(join(folder, "package.json"), join(folder, FOLDER));
    for (const name of packages) paths.push(...placesOf(join(folder, FOLDER, name)));
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
