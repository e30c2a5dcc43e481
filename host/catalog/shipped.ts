/** The tools that come with Postern, each offered once: what a user removed or replaced stays so, the rest is renewed. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { compareCapabilities } from "../../capabilities/describe.ts";
import { ROOT } from "../../kernel/kit/files.ts";
import { readComponentFile } from "../compile/component-file.ts";
import { INTRODUCTION, readIntroduction } from "../compile/transpile.ts";
import type { Candidate, Catalog } from "./catalog.ts";
import type { Examine } from "./install.ts";
import { SHIPPED_WORDS } from "./tool-info.ts";

export interface ShippedOptions {
  readonly catalog: Catalog;
  readonly examine: Examine;
  readonly progress: (line: string) => void;
  /** Called with each tool's number, counted from one, before it is looked at. */
  readonly onEach?: ((at: number, of: number) => void) | undefined;
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
  for (const [index, name] of names.entries()) {
    options.onEach?.(index + 1, names.length);
    const digest = await provide(name, offered[name], options);
    if (digest !== offered[name]) await catalog.offer(name, digest);
  }
}

async function provide(name: string, known: string | undefined, options: ShippedOptions): Promise<string> {
  const { catalog, examine, place, progress, signal } = options;
  const { wasm, introduction, capabilities } = filesOf(name);
  const installed = await catalog.find(name);
  const isOffered = known !== undefined;
  const hasChanged = isOffered && installed?.digest !== known;
  if (hasChanged) return known;
  const { component: digest } = await readIntroduction(introduction);
  if (installed?.digest === digest) return digest;
  if (!isOffered && installed !== undefined) return THE_USERS;
  progress(`${name}: installing the shipped tool`);
  const text = await readFile(capabilities, "utf8");
  const component = await readComponentFile(wasm);
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

/** The files of this installation of Postern. The component is compressed: `readComponentFile` reads it. */
export const filesOf = (name: string) => ({
  wasm: join(ROOT, "components", name, "dist", `${name}.wasm`),
  introduction: join(ROOT, "components", name, "dist", `${name}${INTRODUCTION}`),
  capabilities: join(ROOT, "capabilities", `${name}.json`),
});

/** True for the one component that may call every tool. */
export async function isRunCode(digest: string): Promise<boolean> {
  return (await readIntroduction(filesOf("run-code").introduction)).component === digest;
}

export function mayDoMore(name: string): string {
  const { wasm, capabilities } = filesOf(name);
  return `the new version can do more than the installed one. To accept it, run: postern tool install ${wasm} --capabilities ${capabilities} --name ${name} --force`;
}
