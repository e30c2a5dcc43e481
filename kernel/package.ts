/** Postern's own package: its folder and its package.json, the same in a clone and in the published package. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

interface Manifest {
  readonly version: string;
  /** Exact versions, in the published package as well: npm leaves them in its package.json. */
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

/** As `findPackageJSON` of `node:module` does, which Bun does not have. */
function findManifest(folder: string): string {
  const file = join(folder, "package.json");
  return existsSync(file) || dirname(folder) === folder ? file : findManifest(dirname(folder));
}

const FILE = findManifest(import.meta.dirname);

export const ROOT = dirname(FILE);
export const MANIFEST = JSON.parse(readFileSync(FILE, "utf8")) as Manifest;

/** The path of one of our modules, named from the package's folder: TypeScript in a clone, JavaScript when built. */
export const moduleFile = (name: string): string =>
  import.meta.url.endsWith(".ts") ? join(ROOT, `${name}.ts`) : join(ROOT, "dist", `${name}.js`);
