/** The part of our package-lock.json that the toolchain is: the same versions, places and integrity. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "../../../kernel/kit/files.ts";
import { LOCK, PACKAGES } from "./toolchain.ts";

interface Entry {
  readonly version?: string;
  readonly integrity?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

export interface PackageLock {
  readonly lockfileVersion: number;
  readonly packages: Readonly<Record<string, Entry>>;
}

/** `overrides`: as in package.json, the versions that npm takes in place of those that a package asks for. */
export function lockOf(
  wanted: Readonly<Record<string, string>>,
  { lockfileVersion, packages }: PackageLock,
  overrides: object = {},
): PackageLock {
  const found = new Map<string, Entry>();
  const visit = (names: readonly string[], from: string): void => {
    for (const name of names) {
      const path = resolve(name, from, packages);
      // An optional package of a platform that the registry did not have when the lock was written.
      if (path === undefined || found.has(path)) continue;
      // The development dependencies here are what the toolchain is for.
      const { dev: _, devOptional: __, ...entry } = packages[path] as Entry;
      found.set(path, entry);
      const { dependencies, optionalDependencies, peerDependencies } = entry;
      visit(Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }), path);
    }
  };
  visit(Object.keys(wanted), "");
  const sorted = [...found].sort(([a], [b]) => (a < b ? -1 : 1));
  const root = { dependencies: wanted, overrides };
  return { lockfileVersion, packages: { "": root, ...Object.fromEntries(sorted) } };
}

/** As Node looks for it: in the nearest folder of packages, from the inside out. */
function resolve(name: string, from: string, packages: PackageLock["packages"]): string | undefined {
  for (let place = from; ; place = place.slice(0, Math.max(0, place.lastIndexOf("/node_modules/")))) {
    const path = place === "" ? `node_modules/${name}` : `${place}/node_modules/${name}`;
    if (path in packages) return path;
    if (place === "") return undefined;
  }
}

// `node host/author/build/lock.ts <folder>`, for the published package.
if (import.meta.main) {
  const [folder = "."] = parseArgs({ allowPositionals: true }).positionals;
  const read = (file: string) => JSON.parse(readFileSync(join(ROOT, file), "utf8"));
  const lock = lockOf(PACKAGES, read("package-lock.json"), read("package.json").overrides);
  writeFileSync(join(folder, LOCK), `${JSON.stringify(lock, undefined, 1)}\n`);
}
