/** The two ways from a script to a component. Both run its top level once, so that calls start from there. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Fault, reason } from "../../../kernel/plugin.ts";
import { readBuildCrash, renderCrash, SCRIPT } from "../../calls/crash.ts";
import type { Project } from "../project.ts";
import { embedMap, locate, originIn } from "../trace/source-map.ts";
import { buildFault, mistakeAt } from "./mistakes.ts";
import type { Toolchain } from "./toolchain.ts";
import { WORLD, withAsyncExecute, writeWit } from "./world.ts";

export interface Script {
  readonly source: string;
  /** The component then imports `wasi:http`. */
  readonly usesFetch: boolean;
  /** Names of interfaces of `tool.wit` that it imports. */
  readonly interfaces: readonly string[];
  /** JSON: its source map, with the names of the author's sources as seen from the project's folder. */
  readonly map: string;
  /** The files it was bundled from, as paths from the project's folder. */
  readonly inputs: readonly string[];
}

/** SpiderMonkey has every global that `wit/globals.d.ts` names; QuickJS makes components a seventh of the size. */
export const ENGINES = ["spidermonkey", "quickjs"] as const;
export type Engine = (typeof ENGINES)[number];

export async function componentize(
  project: Project,
  script: Script,
  engine: Engine,
  toolchain: Toolchain,
): Promise<Uint8Array> {
  const wit = writeWit(await readFile(join(project.wit, "tool.wit"), "utf8"), script.interfaces);
  const make = engine === "quickjs" ? componentizeWithQuickJs : componentizeWithSpiderMonkey;
  // One takes its source from a file, the other the contract. A build that is killed leaves them where the system clears up, not
  // among the author's.
  const folder = await mkdtemp(join(tmpdir(), "postern-build-"));
  try {
    return embedMap(await make(wit, script, toolchain, folder), script.map);
  } catch (error) {
    const said = reason(error);
    const [, missing] = NOT_A_TOOL.exec(said) ?? [];
    if (missing !== undefined)
      throw buildFault([await mistakeAt(project.folder, project.entry, EXPORT, missing)]);
    throw explainCrash(said, script.map) ?? error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function componentizeWithSpiderMonkey(
  wit: string,
  { source, usesFetch }: Script,
  toolchain: Toolchain,
  folder: string,
): Promise<Uint8Array> {
  const { componentize: make } = await toolchain.load("@bytecodealliance/componentize-js");
  const sourcePath = join(folder, SCRIPT);
  await writeFile(sourcePath, source);
  const options = {
    sourcePath,
    // As text, which its types forget: its WebAssembly part has no file system to read a path from.
    witWorld: wit,
    worldName: WORLD,
    // Clocks and randomness stay: without them the time would be that of the build, for ever.
    disableFeatures: [...(usesFetch ? [] : ["http" as const]), "fetch-event" as const],
  };
  const { component } = await make(options);
  return component;
}

async function componentizeWithQuickJs(
  wit: string,
  { source }: Script,
  toolchain: Toolchain,
  folder: string,
): Promise<Uint8Array> {
  const { componentize: make } = await toolchain.load("componentize-qjs");
  const witPath = join(folder, "tool.wit");
  const build = async (isAsync: boolean) => {
    await writeFile(witPath, isAsync ? withAsyncExecute(wit) : wit);
    const jsSource = source + refuseWrongForm(source, isAsync);
    const { component } = await make({ witPath, jsSource, world: WORLD, sync: !isAsync });
    return component;
  };
  try {
    return await build(false);
  } catch (error) {
    // Only the engine, which runs the script, knows what it exports.
    if (!reason(error).includes(IS_ASYNC)) throw error;
    return build(true);
  }
}

/** Matches what the lines below throw. */
const NOT_A_TOOL = /Postern misses: (.+)/;
// Part of the source of every component that is built so: with other words each would be another.
const IS_ASYNC =
  "Postern refuses: execute is async, and QuickJS cannot wait: make it a plain function, or build it without --engine quickjs";
const EXPORT = /^export\b.*\btool\b/;

/** QuickJS makes a component of anything: a missing function shows when it is called, and a promise answers only an async `execute`. */
function refuseWrongForm(source: string, isAsync: boolean): string {
  const [, name = "tool"] =
    /^ {2}(?:([\w$]+) as )?tool,?$/m.exec(source.slice(source.lastIndexOf("export {"))) ?? [];
  const refuseAsync = `if (${name}.execute.constructor?.name === "AsyncFunction") throw new TypeError(${JSON.stringify(IS_ASYNC)});\n`;
  return `for (const one of ["description", "schema", "execute"])
  if (typeof ${name}?.[one] !== "function") throw new TypeError(\`Postern misses: "tool" has no function \${one}\`);
${isAsync ? "" : refuseAsync}`;
}

/** Undefined where it was not the script that failed. */
export function explainCrash(said: string, map: string): Fault | undefined {
  const crash = readBuildCrash(said);
  if (crash === undefined) return undefined;
  const told = locate(renderCrash(crash), originIn(map));
  const why = /\bout of memory\b/i.test(crash[0].said) ? ": it keeps more than a build has room for" : "";
  const message = `not built: the top level of the script threw${why}\n  ${told.replaceAll("\n", "\n  ")}`;
  return new Fault("invalid", "build_failed", message);
}
