/** From a project's sources to its component: types checked, bundled, componentized, moved into place. */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, relative } from "node:path";
import { MANIFEST } from "../../../kernel/kit.ts";
import { withCapabilitiesSection } from "../../compile/capabilities-section.ts";
import type { Project } from "../project.ts";
import { bundle } from "./bundle.ts";
import { buildCrate } from "./crate.ts";
import { componentize, type Engine } from "./engines.ts";
import { describeMistake } from "./mistakes.ts";
import type { Toolchain } from "./toolchain.ts";
import { checkTypes, findMissingNames } from "./types.ts";

export interface BuildOptions {
  readonly engine: Engine;
  /** Told in a few words what takes long. */
  readonly progress: (line: string) => void;
  /** Asked when it is needed: opening it may mean fetching it. */
  readonly openToolchain: () => Promise<Toolchain>;
}

export interface Built {
  readonly file: string;
  readonly bytes: number;
  readonly millis: number;
}

/** Throws a `Fault` whose message lists what is wrong, each with the author's file, line and column. */
export async function buildProject(project: Project, options: BuildOptions): Promise<Built> {
  const { progress, openToolchain } = options;
  const began = performance.now();
  const isRust = project.language === "rust";
  const made = isRust ? await buildCrate(project, options) : await buildScript(project, options);
  const component = await describe(project, await sign(made, await openToolchain()));
  await mkdir(dirname(project.component), { recursive: true });
  // Written beside its place: whoever reads the component gets a whole one.
  const draft = `${project.component}.${randomUUID()}`;
  try {
    await writeFile(draft, component);
    await rename(draft, project.component);
  } finally {
    await rm(draft, { force: true });
  }
  const { size } = await stat(project.component);
  const millis = Math.round(performance.now() - began);
  const file = relative(project.folder, project.component);
  progress(`${file}: ${(size / 1e6).toFixed(1)} MB in ${(millis / 1000).toFixed(1)} s`);
  return { file: project.component, bytes: size, millis };
}

/** Records in the component who made it, so that `tool check` knows what was taken care of. */
async function sign(component: Uint8Array, toolchain: Toolchain): Promise<Uint8Array> {
  const { metadataAdd } = await toolchain.load("@bytecodealliance/jco");
  return metadataAdd(component, [["processed-by", [["postern", MANIFEST.version]]]]);
}

/** Puts the capabilities file into the component: then one file is all that has to be handed on. */
async function describe({ capabilities }: Project, component: Uint8Array): Promise<Uint8Array> {
  if (!existsSync(capabilities)) return component;
  return withCapabilitiesSection(component, await readFile(capabilities, "utf8"));
}

async function buildScript(project: Project, options: BuildOptions): Promise<Uint8Array> {
  const { engine, progress } = options;
  const toolchain = await options.openToolchain();
  // They take seconds, and none needs what another finds.
  progress("checking types and bundling");
  const [script, missing] = await Promise.all([
    bundle(project, engine),
    findMissingNames(project, toolchain),
    checkTypes(project, toolchain),
  ]);
  for (const mistake of missing) progress(`warning: ${describeMistake(mistake)}`);
  progress(`making a component with ${engine} (${engine === "quickjs" ? "a few" : "about ten"} seconds)`);
  return componentize(project, script, engine, toolchain);
}
