/** What differs between two unpacked packages, and between two components. */
import { hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sections } from "../host/wasm/module-sections.ts";

export function compareFiles(theirs: string, ours: string): readonly string[] {
  const [one, other] = [digests(theirs), digests(ours)];
  return [...new Set([...one.keys(), ...other.keys()])].sort().flatMap((path) => {
    if (!other.has(path)) return [`${path}: only in the tarball`];
    if (!one.has(path)) return [`${path}: not in the tarball`];
    return one.get(path) === other.get(path) ? [] : [`${path}: differs`];
  });
}

/** Returns the digest of each file by its path. */
function digests(folder: string): ReadonlyMap<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return new Map(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(folder.length + 1), hash("sha256", readFileSync(path))];
    }),
  );
}

/** In a core module, the bytes that its memory begins with. */
const DATA = 11;

/** Returns a digest of each part of a component, without the memory that its core modules begin with. */
export function partsOf(component: Uint8Array): readonly string[] {
  // A component has a one here, a core module a zero.
  const isComponent = component[6] === 1;
  return sections(component).flatMap(({ id, start, end }) => {
    const part = component.subarray(start, end);
    if (isComponent && (id === 1 || id === 4)) return partsOf(part);
    return isComponent || id !== DATA ? [`${id}: ${hash("sha256", part)}`] : [`${id}`];
  });
}
