/** Who owns the home and the store. What lies there is trusted, so nobody else but root may read or change it. */
import { chmodSync, lstatSync, readdirSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "../fault.ts";

const OTHERS = 0o077;
const OWNERS = 0o700;

const me = () => process.getuid?.();

/** Sentences: what belongs to somebody else, of these paths that exist. The first must be ours, the others may be root's. */
export function findForeign(paths: readonly string[]): readonly string[] {
  const uid = me();
  if (uid === undefined) return [];
  return paths.flatMap((path, at) => {
    // Both the link and where it leads, where it is one.
    const found = [look(path, lstatSync), look(path, statSync)].filter((stat) => stat !== undefined);
    const foreign = found.find((stat) => stat.uid !== uid && (at === 0 || stat.uid !== 0));
    return foreign === undefined
      ? []
      : [`${path} belongs to the user with the id ${foreign.uid}, and Postern runs as ${uid}`];
  });
}

/** Finds the folder and files of ours that others may read or change. Links and their targets are left alone. */
export function findLoose(paths: readonly string[]): readonly string[] {
  const uid = me();
  return paths.filter((path, at) => {
    const stat = look(path, lstatSync);
    return stat?.uid === uid && (at === 0 || stat?.isFile()) && ((stat?.mode ?? 0) & OTHERS) !== 0;
  });
}

/** The home and everything directly in it; what is deeper is reached only through those. */
export function pathsOfHome(home: string): readonly string[] {
  try {
    return [home, ...readdirSync(home).map((name) => join(home, name))];
  } catch {
    return [home];
  }
}

/** Refuses files of somebody else, closes ours to others, and returns what was open to them. */
export function makePrivate(paths: readonly string[], param: string): readonly string[] {
  refuseForeign(paths, param);
  const loose = findLoose(paths);
  for (const path of loose) chmodSync(path, lstatSync(path).mode & OWNERS);
  return loose;
}

export function refuseForeign(
  paths: readonly string[],
  param: string,
  otherwise = `set ${param} to another place`,
): void {
  const [first, ...more] = findForeign(paths);
  if (first === undefined) return;
  const others = more.length === 0 ? "" : ` (and ${more.length} more)`;
  const message = `${first}${others}: whoever owns it could read secrets or run code here. Change its owner, run Postern as that user, or ${otherwise}`;
  throw new Fault("config", "not_private", message, { param });
}

function look(path: string, stat: typeof lstatSync | typeof statSync): Stats | undefined {
  try {
    return stat(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
