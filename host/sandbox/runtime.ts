/** The Node that strangers' code runs on: the process's own where it is new enough, else the one that comes with the package. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { MANIFEST, ROOT } from "../../kernel/kit/files.ts";
import { Fault } from "../../kernel/plugin.ts";

const WANTED = 26;

let found: string | undefined;

export function runtime(): string {
  found ??= isFit() ? process.execPath : brought();
  return found;
}

/** Bun, Deno and Electron say which Node they resemble, and their program is not Node. */
function isFit(): boolean {
  const { node, bun, deno, electron } = process.versions;
  return (bun ?? deno ?? electron) === undefined && Number.parseInt(node, 10) >= WANTED;
}

function brought(): string {
  const machine = `${process.platform.replace("win32", "win")}-${process.arch}`;
  const name = Object.keys(MANIFEST.optionalDependencies).find((known) => known.endsWith(`-${machine}`));
  try {
    const file = name && createRequire(join(ROOT, "package.json")).resolve(`${name}/package.json`);
    if (file) return join(dirname(file), JSON.parse(readFileSync(file, "utf8")).bin.node);
  } catch {
    // It is not installed.
  }
  const how =
    name === undefined
      ? `there is no package of it for ${machine}: use Node ${WANTED} itself`
      : `its package ${name} is not installed: install Postern with its optional dependencies`;
  throw new Fault(
    "config",
    "no_runtime",
    `Tools run on Node ${WANTED}, and this is ${process.version}; ${how}.`,
  );
}
