/**
 * The thread that reads components. Parsing and transpiling take seconds and work on bytes nobody vouches
 * for, so they happen beside the service, in a thread that is gone afterwards. The published package has this
 * file bundled with jco's transpiler: see `kernel/cli/bundle.ts`.
 */
import { isMainThread, parentPort, workerData } from "node:worker_threads";
import { isPlain } from "./canonical-abi.ts";
import {
  countState,
  fitModule,
  MAX_TABLE_ENTRIES,
  PAGE_BYTES,
  type Share,
  UnfitModule,
} from "./core-module.ts";
import { markModules } from "./marking/module.ts";
import { MARKED_VIEWS } from "./marking/views.ts";

export type ReaderJob =
  | { readonly type: "wit"; readonly bytes: Uint8Array }
  | { readonly type: "producers"; readonly bytes: Uint8Array }
  | {
      readonly type: "transpile";
      readonly bytes: Uint8Array;
      readonly memoryMb: number;
      /** True to mark no writes. */
      readonly compared: boolean;
    };

type TranspileJob = ReaderJob & { readonly type: "transpile" };

export interface Transpiled {
  /** Core modules under the names the glue asks for, bounded and opened. */
  readonly modules: Readonly<Record<string, Uint8Array>>;
  /** The body of a function that answers the glue's `instantiate`. */
  readonly glue: string;
  /** TypeScript of the component's own interfaces, which is how its types are checked. */
  readonly types: Readonly<Record<string, string>>;
  /** Why an instance cannot be put back after a call; empty where it can. */
  readonly keeps: readonly string[];
  readonly plain: boolean;
}

/** The fields of a component's own producers section, not of the modules inside; each value has a version. */
export type Producers = readonly (readonly [field: string, values: readonly (readonly [string, string])[]])[];

/** What each job is answered with. */
export interface Readings {
  readonly wit: string;
  readonly producers: Producers;
  readonly transpile: Transpiled;
}

export type ReaderReply =
  | { readonly ok: true; readonly value: Readings[keyof Readings] }
  /** `unfit`: the component is sound, but not one that we run. */
  | { readonly ok: false; readonly unfit: boolean; readonly message: string };

// More than any toolchain makes; each costs the host memory that no limit of the guest's counts.
const MAX_INSTANCES = 1000;

// What a guest passes as a list becomes an array on the host's heap; a longer one than that holds ends the process.
const MAX_LIST = 100_000;

/** Below this, comparing a memory after each call costs less than marking every write to it. */
const MIN_MARKED_BYTES = 4 << 20;

async function transpileComponent({ bytes, memoryMb, compared }: TranspileJob): Promise<Transpiled> {
  const { transpileBytes } = await import("@bytecodealliance/jco-transpile");
  const { files } = await transpileBytes(bytes, {
    name: "component",
    instantiation: "sync",
    wasiShim: false,
    nodejsCompat: false,
    base64Cutoff: 0,
  });
  const named = Object.entries(files);
  const cores = named.filter(([name]) => name.endsWith(".wasm"));
  const text = (name: string) => new TextDecoder().decode(files[name]);
  const glue = toFunctionBody(text("component.js"));
  const share = shareOut(cores, countInstances(glue), memoryMb);
  const fitted = cores.map(([name, core]) => [name, fitModule(core, share)] as const);
  const keeps = [...new Set(fitted.flatMap(([, fit]) => fit.keeps))];
  const modules = fitted.map(([name, fit]) => [name, fit.bytes] as const);
  const startBytes = cores.reduce((sum, [, core]) => sum + countState(core).memoryBytes, 0);
  const wantsMarks = !compared && keeps.length === 0 && startBytes >= MIN_MARKED_BYTES;
  const marked = wantsMarks ? markModules(modules) : undefined;
  return {
    modules: Object.fromEntries(marked ?? modules),
    glue: marked === undefined ? glue : MARKED_VIEWS + glue,
    types: Object.fromEntries(
      named.flatMap(([name]) =>
        name.startsWith("interfaces/") ? [[name.slice("interfaces/".length), text(name)]] : [],
      ),
    ),
    keeps,
    plain: isPlain(bytes),
  };
}

/** How often the glue makes an instance of each core module. */
function countInstances(glue: string): ReadonlyMap<string, number> {
  const files = new Map(
    [...glue.matchAll(/\bconst (module\d+) = getCoreModule\('([^']+)'\)/g)].map(([, variable, file]) => [
      variable,
      file,
    ]),
  );
  const counts = new Map<string, number>();
  for (const [, variable] of glue.matchAll(/\binstantiateCore\((\w*)/g)) {
    const file = files.get(variable);
    if (file === undefined) throw unknownShape();
    counts.set(file, (counts.get(file) ?? 0) + 1);
  }
  if (counts.size === 0) throw unknownShape();
  return counts;
}

/** What the limits allow is shared out among the memories and tables of all instances, so that their sum stays within. */
function shareOut(
  cores: readonly (readonly [name: string, core: Uint8Array])[],
  instances: ReadonlyMap<string, number>,
  memoryMb: number,
): Share {
  const made = [...instances.values()].reduce((sum, count) => sum + count, 0);
  if (made > MAX_INSTANCES)
    throw new UnfitModule(`it makes ${made} core instances; ${MAX_INSTANCES} are allowed`);
  let memories = 0;
  let tables = 0;
  for (const [name, core] of cores) {
    const own = countState(core);
    memories += own.memories * (instances.get(name) ?? 0);
    tables += own.tables * (instances.get(name) ?? 0);
  }
  return {
    pages: Math.floor((memoryMb * 2 ** 20) / PAGE_BYTES / Math.max(memories, 1)),
    tableEntries: Math.floor(MAX_TABLE_ENTRIES / Math.max(tables, 1)),
  };
}

// A module cannot be unloaded; a function can be forgotten with the instance that used it.
function toFunctionBody(glue: string): string {
  const body = glue.replace(/^export (?=function instantiate\(|const _util\b)/gm, "");
  if (/^(import|export)\b/m.test(body)) throw unknownShape();
  // The check holds no quote: in a name that looks like such a loop it stays within that name.
  const bounded = body.replace(
    /for \(let i = 0; i < (len\d+); i\+\+\) \{/g,
    `if ($1 > ${MAX_LIST}) throw new RangeError(/a list is too long/.source); $&`,
  );
  return `${bounded}\nreturn instantiate;`;
}

function unknownShape(): Error {
  return new Error("the transpiler wrote glue of an unknown shape");
}

async function read(job: ReaderJob): Promise<Readings[keyof Readings]> {
  if (job.type === "transpile") return transpileComponent(job);
  const { componentWit, metadataShow } = await import("@bytecodealliance/jco-transpile/wasm-tools");
  if (job.type === "wit") return componentWit(job.bytes);
  const [outermost] = await metadataShow(job.bytes);
  return outermost?.producers ?? [];
}

async function work(job: ReaderJob): Promise<ReaderReply> {
  try {
    return { ok: true, value: await read(job) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { ok: false, unfit: error instanceof UnfitModule, message: message.slice(0, 500) };
  }
}

if (!isMainThread) parentPort?.postMessage(await work(workerData as ReaderJob));
