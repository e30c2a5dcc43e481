/** From a project's sources to its component: types checked, bundled, componentized, moved into place. */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, relative } from "node:path";
import { MANIFEST } from "../../../kernel/kit/files.ts";
import { Fault } from "../../../kernel/plugin.ts";
import { readCapabilities } from "../../catalog/install.ts";
import { withCapabilitiesSection } from "../../compile/capabilities-section.ts";
import type { Language, Project } from "../project.ts";
import { bundle } from "./bundle.ts";
import { buildC } from "./c-sources.ts";
import { buildGo, buildPython } from "./componentizers.ts";
import { buildCrate } from "./crate.ts";
import { componentize, type Engine } from "./engines.ts";
import { buildFault, describeMistake } from "./mistakes.ts";
import { builderOf, isBuilt, writeRecord } from "./record.ts";
import { PACKAGES, type Toolchain } from "./toolchain.ts";
import { checkTypes, findMissingNames } from "./types.ts";

export interface BuildOptions {
  readonly engine: Engine;
  readonly progress: (line: string) => void;
  readonly openToolchain: () => Promise<Toolchain>;
  /** True to build it also where nothing has changed since it was built. */
  readonly always?: boolean;
}

type Compile = (project: Project, options: BuildOptions) => Promise<Uint8Array>;

/** The languages that are compiled by their own programs; the others are scripts. */
const COMPILED: Partial<Readonly<Record<Language, Compile>>> = {
  rust: buildCrate,
  c: buildC,
  python: buildPython,
  go: buildGo,
};

/** Throws a `Fault` whose message lists what is wrong, each with the author's file, line and column. */
export async function buildProject(project: Project, options: BuildOptions) {
  const { engine, progress, openToolchain, always = false } = options;
  const began = performance.now();
  const compile = COMPILED[project.language];
  const file = relative(project.folder, project.component);
  const capabilitiesText = await readOwnCapabilities(project);
  const builder = builderOf(compile ? project.language : engine, PACKAGES);
  // Compilers know by themselves what they have to compile again, and we do not know all that they read.
  if (!always && !compile && (await isBuilt(project, builder))) {
    progress(`${file}: nothing has changed since it was built`);
    return { file: project.component, bytes: (await stat(project.component)).size, millis: 0, isNew: false };
  }
  const { made, inputs } = compile
    ? { made: await compile(project, options), inputs: [] }
    : await buildScript(project, options);
  const signed = await sign(made, await openToolchain());
  // With the capabilities file in it, one file is all that has to be handed on.
  const component =
    capabilitiesText === undefined ? signed : withCapabilitiesSection(signed, capabilitiesText);
  await mkdir(dirname(project.component), { recursive: true });
  // Written beside its place: whoever reads the component gets a whole one.
  const draft = `${project.component}.${randomUUID()}`;
  try {
    await writeFile(draft, component);
    await rename(draft, project.component);
  } finally {
    await rm(draft, { force: true });
  }
  await writeRecord(project, component, builder, inputs);
  const size = component.length;
  const millis = Math.round(performance.now() - began);
  progress(`${file}: ${(size / 1e6).toFixed(1)} MB in ${(millis / 1000).toFixed(1)} s`);
  return { file: project.component, bytes: size, millis, isNew: true };
}

/** Records in the component who made it, so that `tool check` knows what was taken care of. */
async function sign(component: Uint8Array, toolchain: Toolchain): Promise<Uint8Array> {
  const { metadataAdd } = await toolchain.load("@bytecodealliance/jco");
  return metadataAdd(component, [["processed-by", [["postern", MANIFEST.version]]]]);
}

/** Throws where no Postern would install a tool with it: better now than after the build, or at somebody else's. */
async function readOwnCapabilities({ capabilities }: Project): Promise<string | undefined> {
  if (!existsSync(capabilities)) return undefined;
  const text = await readFile(capabilities, "utf8");
  try {
    readCapabilities(text);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    throw buildFault([{ file: basename(capabilities), line: 0, column: 0, message: error.message }]);
  }
  return text;
}

async function buildScript(project: Project, options: BuildOptions) {
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
  return { made: await componentize(project, script, engine, toolchain), inputs: script.inputs };
}
