/** Finds the file that a tool's process starts with, and what it may read: our files that it runs, and their packages. */
import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { threadFile } from "../../kernel/kit.ts";
import { prepared } from "./prepared.ts";

/** What the modules in there import; where packages are linked, their files lie elsewhere. */
const PACKAGES = [
  "piscina",
  "ajv",
  "ajv-formats",
  "@bytecodealliance/jco-transpile",
  "@bytecodealliance/preview2-shim",
];
const FOLDER = "node_modules";

interface OurCode {
  /** The file that such a process starts with. */
  readonly child: string;
  readonly readable: readonly string[];
}

let found: OurCode | undefined;

export function ourCode(): OurCode {
  found ??= find();
  return found;
}

function find(): OurCode {
  const child = threadFile("inside/child", import.meta.url);
  const worker = threadFile("inside/worker", import.meta.url);
  return { child: child.endsWith(".ts") ? prepared([child, worker]) : child, readable: readable(child) };
}

function readable(child: string): readonly string[] {
  const own = dirname(dirname(dirname(dirname(child))));
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
