/** The tools that come with Postern, each offered once: what a user removed or replaced stays so, the rest is renewed. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { compareCapabilities } from "../../capabilities/describe.ts";
import { ROOT } from "../../kernel/kit/files.ts";
import { findComponentFile, readComponentFile } from "../compile/component-file.ts";
import { isPrepared } from "../compile/transpile.ts";
import { type Candidate, type Catalog, digestOf } from "./catalog.ts";
import { type Examine, readCapabilities } from "./install.ts";
import { SHIPPED_WORDS } from "./tool-info.ts";

export interface ShippedOptions {
  readonly catalog: Catalog;
  readonly examine: Examine;
  readonly progress: (line: string) => void;
  readonly place: (name: string, candidate: Candidate, force: boolean) => Promise<unknown>;
  readonly signal: AbortSignal;
}

/** One process at a time installs or repairs them. */
export const SHIPPED_LOCK = "shipped tools";

export const SHIPPED: readonly string[] = Object.keys(SHIPPED_WORDS);

/** In place of a digest, and empty: there was a tool of that name before ours was ever offered. */
const THE_USERS = "";

/** True where a shipped tool was never offered to this home. */
export async function lacksShipped(catalog: Catalog): Promise<boolean> {
  const offered = await catalog.offered();
  return SHIPPED.some((name) => offered[name] === undefined);
}

export async function provideShipped(options: ShippedOptions, names = SHIPPED): Promise<void> {
  const { catalog } = options;
  const offered = await catalog.offered();
  for (const name of names) {
    const digest = await provide(name, offered[name], options);
    if (digest !== offered[name]) await catalog.offer(name, digest);
  }
}

async function provide(name: string, known: string | undefined, options: ShippedOptions): Promise<string> {
  const { catalog, examine, place, progress, signal } = options;
  const { wasm, capabilities } = filesOf(name);
  const installed = await catalog.find(name);
  const isOffered = known !== undefined;
  const hasChanged = isOffered && installed?.digest !== known;
  if (hasChanged) return known;
  const file = findComponentFile(wasm);
  if (isOffered && file !== undefined && isStill(file, known)) return known;
  const component = await readComponentFile(wasm);
  const digest = digestOf(component);
  if (installed?.digest === digest) return digest;
  if (!isOffered && installed !== undefined) return THE_USERS;
  progress(`${name}: installing the shipped tool`);
  const text = await readFile(capabilities, "utf8");
  const { memoryMb } = readCapabilities(text).limits;
  const source = { sha256: digest, read: async () => component, cache: dirname(wasm), memoryMb };
  // In a clone it is transpiled beside the component, for every home. Where nobody may write there, the home keeps the code.
  if (existsSync(BUILDER) && !isPrepared(source))
    await bringCode(name, progress, signal).catch(() => signal.throwIfAborted());
  const candidate = await examine(component, text, progress, installed?.choices);
  const before = isOffered ? await catalog.find(name) : undefined;
  if (before && compareCapabilities(before.capabilities, candidate.capabilities).added.length > 0) {
    progress(`${name}: ${mayDoMore(name)}`);
    return before.digest;
  }
  signal.throwIfAborted();
  try {
    await place(name, candidate, isOffered);
  } catch (error) {
    // Processes and nodes that start at once all offer it; one will do.
    if ((await catalog.find(name))?.digest !== digest) throw error;
  }
  progress(`${name}: installed`);
  return digest;
}

/** The code beside a component is named by its digest: 50 MB need not be hashed at every start to find that nothing is new. */
function isStill(file: string, digest: string): boolean {
  const folder = dirname(file);
  const entry = readdirSync(folder).find((name) => name.startsWith(`${digest}-`));
  return entry !== undefined && statSync(join(folder, entry)).mtimeMs >= statSync(file).mtimeMs;
}

/** The files of this installation of Postern. The component is compressed: `readComponentFile` reads it. */
export const filesOf = (name: string) => ({
  wasm: join(ROOT, "components", name, "dist", `${name}.wasm`),
  capabilities: join(ROOT, "capabilities", `${name}.json`),
});

/** True for the one component that may call every tool. */
export async function isRunCode(digest: string): Promise<boolean> {
  const { wasm } = filesOf("run-code");
  return findComponentFile(wasm) !== undefined && digestOf(await readComponentFile(wasm)) === digest;
}

export function mayDoMore(name: string): string {
  const { wasm, capabilities } = filesOf(name);
  return `the new version can do more than the installed one. To accept it, run: postern tool install ${wasm} --capabilities ${capabilities} --name ${name} --force`;
}

/** A clone has it; the published package brings what it makes. */
const BUILDER = join(ROOT, "components", "build.ts");

/** In a process of its own: the transpiler needs hundreds of megabytes, which then go with it. */
async function bringCode(name: string, progress: (line: string) => void, signal: AbortSignal): Promise<void> {
  const child = spawn(process.execPath, [BUILDER, "--code", name], {
    stdio: ["ignore", "ignore", "pipe"],
    signal,
  });
  createInterface({ input: child.stderr }).on("line", progress);
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${name} could not be transpiled beside its component`);
}
