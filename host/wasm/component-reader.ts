/** Reads components in a process that is gone afterwards: transpiling takes seconds, and nobody vouches for the bytes. */
import {
  countState,
  fitModule,
  MAX_TABLE_ENTRIES,
  PAGE_BYTES,
  type Share,
  UnfitModule,
} from "./core-module.ts";
import { Cursor } from "./instructions.ts";
import { RELEASE_3, RELEASE_3_SPACE } from "./wasi-names.ts";

export { UnfitModule };

export type ReaderJob =
  | { readonly what: "outline" }
  | {
      readonly what: "transpile";
      readonly memoryMb: number;
      /** Where it was read before: the reader of outlines takes half a second to load. */
      readonly outline?: Outline | undefined;
    };

type TranspileJob = ReaderJob & { readonly what: "transpile" };

export interface Transpiled {
  /** Core modules under the names the glue asks for, bounded and opened. */
  readonly modules: Readonly<Record<string, Uint8Array>>;
  /** The body of a function that returns the glue's `instantiate`. */
  readonly glue: string;
  /** TypeScript of the component's own interfaces, which is how its types are checked. */
  readonly types: Readonly<Record<string, string>>;
  /** Why an instance cannot be put back after a call; empty where it can. */
  readonly keeps: readonly string[];
  readonly plain: boolean;
  readonly outline: Outline;
}

export interface Outline {
  readonly wit: string;
  /** Undefined where that section cannot be read. */
  readonly producers?: Producers;
}

/** The fields of a component's own producers section, not of the modules inside; each value has a version. */
export type Producers = readonly (readonly [field: string, values: readonly (readonly [string, string])[]])[];

export interface ReaderValues {
  readonly outline: Outline;
  readonly transpile: Transpiled;
}

export type ReaderReply = {
  [What in keyof ReaderValues]: { readonly what: What; readonly value: ReaderValues[What] };
}[keyof ReaderValues];

// More than any toolchain makes; each costs the host memory that no limit of the guest's counts.
const MAX_INSTANCES = 1000;

// A list from a guest becomes an array on the host's heap; one that is longer than the heap holds ends the process.
const MAX_LIST = 100_000;

/** Streams, futures, tasks and sets of them that a component may hold at once. */
const MAX_TASK_HANDLES = 5000;
/** Elements; each byte of a stream is a number on the host's heap for a moment. */
const MAX_COPIED = 1 << 20;

/** Imports that may wait: a call that is in one of them is suspended and holds no thread. */
const WAITING: Readonly<Record<string, readonly string[]>> = {
  "postern:tool/host": ["http-request"],
  "postern:tool/state": ["get", "set", "delete", "list-keys"],
  "postern:tool/exchange": ["exchange"],
  "postern:tool/agent-tools": ["call", "call-all"],
  "postern:tool/files": "list-folder stat read write write-at make-folder move remove".split(" "),
  "wasi:filesystem/types": [
    ..."open-at read read-directory stat stat-at set-size sync sync-data".split(" "),
    ..."create-directory-at remove-directory-at rename-at unlink-file-at".split(" "),
  ].map((name) => `[method]descriptor.${name}`),
  "wasi:io/poll": ["poll", "[method]pollable.block"],
  "wasi:keyvalue/store": ["get", "set", "delete", "exists", "list-keys"].map(
    (name) => `[method]bucket.${name}`,
  ),
  "wasi:io/streams": ["[method]input-stream.blocking-read", "[method]input-stream.blocking-skip"],
};
const EXPORTS = ["execute", "schema", "description"].map((name) => `postern:tool/tool@0.1.0#${name}`);

async function transpileComponent(
  { memoryMb, outline: known }: TranspileJob,
  bytes: Uint8Array,
): Promise<Transpiled> {
  const { transpileBytes } = await import("@bytecodealliance/jco-transpile");
  const outline = known ?? (await readOutline(bytes));
  const waiting = waitingImports(outline.wit);
  const plain = isPlain(bytes);
  const { files } = await transpileBytes(withReleaseNames(bytes), {
    name: "component",
    instantiation: "sync",
    wasiShim: false,
    nodejsCompat: false,
    base64Cutoff: 0,
    ...((waiting.length > 0 || !plain) && {
      asyncMode: "jspi",
      asyncImports: waiting,
      asyncExports: EXPORTS,
    }),
  });
  const named = Object.entries(files);
  const cores = named.filter(([name]) => name.endsWith(".wasm"));
  const text = (name: string) => new TextDecoder().decode(files[name]);
  const glue = toFunctionBody(plain ? text("component.js") : boundTasks(text("component.js")));
  const share = shareOut(cores, countInstances(glue), memoryMb);
  const fitted = cores.map(([name, core]) => [name, fitModule(core, share)] as const);
  const keeps = [...new Set(fitted.flatMap(([, fit]) => fit.keeps))];
  const modules = fitted.map(([name, fit]) => [name, fit.bytes] as const);
  // Here and once: what runs it validates only the functions that it comes to.
  for (const [, module] of modules)
    if (!WebAssembly.validate(module as Uint8Array<ArrayBuffer>))
      throw new UnfitModule("it holds a core module that is not valid");
  return {
    modules: Object.fromEntries(modules),
    glue,
    types: Object.fromEntries(
      named.flatMap(([name]) =>
        name.startsWith("interfaces/") ? [[name.slice("interfaces/".length), text(name)]] : [],
      ),
    ),
    keeps,
    plain,
    outline,
  };
}

function waitingImports(wit: string): string[] {
  return [...wit.matchAll(/^ {2}import ([^;@]+)(@[^;]+);$/gm)].flatMap(([, name = "", version = ""]) =>
    // The functions of WASI 0.3 that wait are asynchronous by their types.
    RELEASE_3.test(name + version) ? [] : (WAITING[name] ?? []).map((item) => `${name}${version}#${item}`),
  );
}

/** A copy in which the imports of WASI 0.3 are in a namespace of their own. */
function withReleaseNames(component: Uint8Array): Uint8Array {
  const named = component.slice();
  const cursor = new Cursor(component, 8);
  while (cursor.at < component.length) {
    const id = cursor.byte();
    const size = cursor.u32();
    const from = cursor.at;
    cursor.skip(size);
    if (id !== IMPORT) continue;
    const names = Buffer.from(component.buffer, component.byteOffset + from, size).toString("latin1");
    for (const { index } of names.matchAll(/wasi(?=:[a-z-]+\/[a-z-]+@0\.3\.\d)/g))
      named.set(Buffer.from(RELEASE_3_SPACE), from + index);
  }
  return named;
}

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

/** Shares the limits out among the memories and tables of all instances, so that their sum stays within. */
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

/** The glue as a function's body, which can be forgotten. What could fill the host's heap asks `sandbox/glue.ts` first. */
function toFunctionBody(glue: string): string {
  let body = glue.replace(/^export (?=function instantiate\(|const _util\b)/gm, "");
  if (/^(import|export)\b/m.test(body)) throw unknownShape();
  // No replacement holds a quote: in a name that looks like such a line it stays within that name.
  const edits: readonly (readonly [RegExp, string])[] = [
    [/(?<=^ *const TEXT_DECODER_UTF8 = )new TextDecoder\(\);$/gm, "imports.utf8;"],
    [/(?<=^ *const utf16Decoder = )new TextDecoder\('utf-16'\);$/gm, "imports.utf16;"],
    [/\b(memory\d+\.buffer)\.slice\((?=ptr\d+, )/g, "imports.slice($1, "],
    [/(?<=^ *(?:realloc|postReturn)\d+ = )(exports\d+(?:\.\w+|\['[^']*'\]));$/gm, "imports.inward($1);"],
    [/(?<=^ *((?:realloc|postReturn)\d+)Async = )(?:WebAssembly\.promising\()?exports\d+.*;$/gm, "$1;"],
    [
      /for \(let i = 0; i < (len\d+); i\+\+\) \{/g,
      `if ($1 > ${MAX_LIST}) throw new RangeError(/a list is too long/.source); $&`,
    ],
  ];
  for (const [pattern, replacement] of edits) body = body.replace(pattern, replacement);
  if (/\bnew TextDecoder\b|\bmemory\d+\.buffer\.slice\b|realloc\d+ = exports/.test(body))
    throw unknownShape();
  return `${body}\nreturn instantiate;`;
}

/** What the glue keeps of streams, futures and tasks is on the host's heap: each table, and what is copied at once, has a limit. */
function boundTasks(glue: string): string {
  const edits: readonly (readonly [where: string, place: RegExp, bound: string])[] = [
    [
      "class RepTable",
      /(?<=^ *insert\(val\) \{)$/m,
      ` if (this.#size >= ${MAX_TASK_HANDLES}) throw new RangeError(/too many streams, futures or tasks/.source);`,
    ],
    [
      "class ManagedBuffer",
      /(?<=^ *read\(count, opts = \{\}\) \{)$/m,
      ` if (count > ${MAX_COPIED}) throw new RangeError(/too much of a stream at once/.source);`,
    ],
    [
      "function _liftFlatList(",
      /(?=for \(var i = 0; i < len; i\+\+\) \{$)/m,
      `if (len > ${MAX_LIST}) throw new RangeError(/a list is too long/.source); `,
    ],
  ];
  const bounded = edits.reduce((body, [where, place, bound]) => {
    if (!body.includes(where)) return body;
    if (!place.test(body)) throw unknownShape();
    return body.replace(place, bound);
  }, glue);
  return bounded.replace(/(?<![.\w])(?:set|clear)(?:Timeout|Interval)(?=\()/g, "imports.$&");
}

function unknownShape(): Error {
  return new Error("the transpiler wrote glue of an unknown shape");
}

export async function readComponent(job: ReaderJob, bytes: Uint8Array): Promise<ReaderReply> {
  const { what } = job;
  if (what === "transpile") return { what, value: await transpileComponent(job, bytes) };
  return { what, value: await readOutline(bytes) };
}

async function readOutline(bytes: Uint8Array): Promise<Outline> {
  const { componentWit, metadataShow } = await import("@bytecodealliance/jco-transpile/wasm-tools");
  const wit = await componentWit(bytes);
  try {
    const [outermost] = await metadataShow(bytes);
    return { wit, producers: outermost?.producers ?? [] };
  } catch {
    return { wit };
  }
}

const COMPONENT = 4;
const CANON = 8;
const IMPORT = 10;

/** True where the component only lifts, lowers and drops: then all the glue keeps for it are handles of resources. */
function isPlain(component: Uint8Array, start = 0, end = component.length): boolean {
  const cursor = new Cursor(component, start + 8);
  while (cursor.at < end) {
    const id = cursor.byte();
    const size = cursor.u32();
    const from = cursor.at;
    cursor.skip(size);
    if (id === COMPONENT && !isPlain(component, from, cursor.at)) return false;
    if (id === CANON && !isPlainCanon(new Cursor(component, from))) return false;
  }
  return true;
}

function isPlainCanon(cursor: Cursor): boolean {
  for (let count = cursor.u32(); count > 0; count--) {
    const kind = cursor.byte();
    if (kind === 0x03) cursor.leb();
    else if (kind === 0x00 || kind === 0x01) {
      cursor.skip(1);
      cursor.leb();
      if (!hasPlainOptions(cursor)) return false;
      if (kind === 0x00) cursor.leb();
    } else return false;
  }
  return true;
}

function hasPlainOptions(cursor: Cursor): boolean {
  for (let count = cursor.u32(); count > 0; count--) {
    const option = cursor.byte();
    // String encodings stand alone; memory, realloc and post-return name an index; the rest is asynchronous.
    if (option > 5) return false;
    if (option > 2) cursor.leb();
  }
  return true;
}
