/** Postern's own package: its folder and its package.json, the same in a clone and in the published package. */
import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";

interface Manifest {
  readonly version: string;
  /** Exact versions, in the published package as well: npm leaves them in its package.json. */
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

const FILE = findPackageJSON(import.meta.url) ?? "package.json";

export const ROOT = dirname(FILE);
export const MANIFEST = JSON.parse(readFileSync(FILE, "utf8")) as Manifest;

/** The path of a module that runs as a thread, beside the module that passes its `import.meta.url`: TypeScript in a clone, JavaScript when built. */
export function threadFile(name: string, beside: string): string {
  return fileURLToPath(new URL(`./${name}${beside.endsWith(".ts") ? ".ts" : ".js"}`, beside));
}
