/** Reads what a component asks for and offers from its bytes, before anything of it runs. */
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Capabilities } from "../../capabilities/capabilities.ts";
import { Fault, reason } from "../../kernel/plugin.ts";
import { MemoryWatch } from "../sandbox/memory.ts";
import { ToolProcess } from "../sandbox/tool-process.ts";
import type { Outline, Producers, ReaderJob, ReaderValues, Transpiled } from "../wasm/component-reader.ts";
import { RELEASE_3, RELEASE_3_SPACE } from "../wasm/wasi-names.ts";
import { WASI_0_3 } from "./wasi-0.3.ts";

export const WIT_VERSION = "0.1.0";
const HOST = "postern:tool/host";
const TOOL = "postern:tool/tool";
const EXCHANGE = "postern:tool/exchange";
/** Interfaces that a component may import where its capabilities file asks for them. */
const ASKED: readonly (readonly [
  name: string,
  isAsked: (capabilities: Capabilities) => boolean,
  what: string,
])[] = [
  ["postern:tool/setting", ({ settings }) => settings.length > 0, "declares no settings"],
  ["postern:tool/state", ({ state }) => state !== undefined, "does not ask for state"],
  ["postern:tool/files", ({ files }) => files.length > 0, "does not ask for files"],
  ["wasi:keyvalue/store", ({ state }) => state !== undefined, "does not ask for state"],
  ["postern:tool/agent-tools", ({ agentTools }) => agentTools.length > 0, "names no agent_tools"],
];
/** A draft: another version of it may look different. */
const KEYVALUE = "wasi:keyvalue/store@0.2.0-draft";

/** The parts of WASI that give nothing away, and HTTP, whose every request goes the way of `http-request`. */
const WASI = new Set([
  "wasi:cli/environment",
  "wasi:cli/exit",
  "wasi:cli/stderr",
  "wasi:cli/stdin",
  "wasi:cli/stdout",
  "wasi:cli/terminal-input",
  "wasi:cli/terminal-output",
  "wasi:cli/terminal-stderr",
  "wasi:cli/terminal-stdin",
  "wasi:cli/terminal-stdout",
  "wasi:clocks/monotonic-clock",
  "wasi:clocks/wall-clock",
  "wasi:filesystem/preopens",
  "wasi:filesystem/types",
  "wasi:http/outgoing-handler",
  "wasi:http/types",
  "wasi:io/error",
  "wasi:io/poll",
  "wasi:io/streams",
  "wasi:random/insecure",
  "wasi:random/insecure-seed",
  "wasi:random/random",
]);

/** Parts that a tool does not get: toolchains link them whether or not a program uses them, so each call of them is denied. */
const DENIED: ReadonlyMap<string, string> = new Map(
  "instance-network ip-name-lookup network tcp tcp-create-socket udp udp-create-socket"
    .split(" ")
    .map((name) => [`wasi:sockets/${name}`, "sockets"]),
);

/** The same of WASI 0.3, which a component may import beside parts of 0.2: what is not in `DENIED_3` is given as far as in 0.2. */
const WASI_3 = new Set(Object.keys(WASI_0_3));
const DENIED_3: ReadonlyMap<string, string> = new Map(
  ["ip-name-lookup", "types"].map((name) => [`wasi:sockets/${name}`, "sockets"]),
);

/** In WASI 0.2, but not in every list of it. */
const UNSTABLE_WASI = [
  "export function exitWithCode(statusCode: number): void;",
  "export function networkErrorCode(err: Error): ErrorCode | undefined;",
];

const EXECUTE = "export function execute(request: Request): Response;";
/** As `async func`, which toolchains for asynchronous components export: whoever calls it waits either way. */
const ASYNC_EXECUTE = EXECUTE.replace("Response;", "Promise<Response>;");

/** These interfaces in the transpiler's declarations; all but `tool` may be used in part. */
const TYPES: Readonly<Record<string, readonly string[]>> = {
  [HOST]: [
    "export function log(level: Level, message: string): void;",
    "export function httpRequest(method: string, url: string, headersJson: string, body: Uint8Array | undefined, timeoutMs: number | undefined): HttpResponse;",
    "export function secretExists(name: string): boolean;",
    "export type Level = 'trace' | 'debug' | 'info' | 'warn' | 'error';",
    "export interface HttpResponse { status: number, body: Uint8Array, }",
  ],
  [EXCHANGE]: [
    "export function exchange(method: string, url: string, headersJson: string, body: Uint8Array | undefined, timeoutMs: number | undefined): Response;",
    "export interface Response { status: number, url: string, headersJson: string, body: Uint8Array, }",
  ],
  "postern:tool/setting": ["export function setting(name: string): string | undefined;"],
  "postern:tool/state": [
    "export function get(key: string): Uint8Array | undefined;",
    "export function set(key: string, value: Uint8Array): void;",
    "export { _delete as delete }; function _delete(key: string): void;",
    "export function listKeys(prefix: string): Array<string>;",
  ],
  "postern:tool/agent-tools": [
    "export function call(name: string, params: string): string;",
    "export function callAll(requests: Array<Request>): Array<Result<string, string>>;",
    "export interface Request { name: string, params: string, }",
    "export type Result<T, E> = { tag: 'ok', val: T } | { tag: 'err', val: E };",
  ],
  "postern:tool/files": [
    "export function listFolder(path: string): Array<Entry>;",
    "export function stat(path: string): Entry | undefined;",
    "export function read(path: string, offset: number, length: number): Uint8Array;",
    "export function write(path: string, data: Uint8Array): void;",
    "export function writeAt(path: string, offset: number, data: Uint8Array): void;",
    "export function makeFolder(path: string): void;",
    "export function move(path: string, to: string): void;",
    "export function remove(path: string): void;",
    "export type Kind = 'file' | 'folder';",
    "export interface Entry { path: string, kind: Kind, size: number, modified: string, }",
  ],
  "wasi:keyvalue/store": [
    "export function open(identifier: string): Bucket;",
    "export type Error = ErrorNoSuchStore | ErrorAccessDenied | ErrorOther;",
    "export interface ErrorNoSuchStore { tag: 'no-such-store', }",
    "export interface ErrorAccessDenied { tag: 'access-denied', }",
    "export interface ErrorOther { tag: 'other', val: string, }",
    "export interface KeyResponse { keys: Array<string>, cursor?: bigint, }",
    "Bucket.get(key: string): Promise<Uint8Array | undefined>",
    "Bucket.set(key: string, value: Uint8Array): Promise<void>",
    "Bucket.'delete'(key: string): Promise<void>",
    "Bucket.exists(key: string): Promise<boolean>",
    "Bucket.listKeys(cursor: bigint | undefined): Promise<KeyResponse>",
  ],
  [TOOL]: [
    EXECUTE,
    "export function schema(): string;",
    "export function description(): string;",
    "export interface Request { params: string, }",
    "export interface Response { output?: string, error?: string, }",
  ],
};

export interface ComponentInfo {
  readonly imports: readonly string[];
  readonly exports: readonly string[];
  readonly witVersion: string;
  /** Imports that it asks for and does not get, in words such as "sockets". */
  readonly denied: readonly string[];
  /** The component's own account of how it was made; undefined where that cannot be read. */
  readonly producers: Producers | undefined;
}

/**
 * Reads a component's imports and exports. Throws a `Fault` of kind `invalid` that names what is wrong:
 * `not_a_component`, `foreign_import`, `missing_export` or `wrong_wit_version`. A component that was transpiled before
 * need not be read again: its outline is known.
 */
export async function inspect(bytes: Uint8Array, known?: Outline): Promise<ComponentInfo> {
  const { wit, producers } = known ?? (await readOutline(bytes));
  const names = (word: string) =>
    [...wit.matchAll(new RegExp(`^  ${word} ([^;{]+?)(?:;|: (?:func|interface).*| \\{)$`, "gm"))].map(
      ([, name = ""]) => name,
    );
  const imports = names("import");
  const exports = names("export");
  for (const name of imports) refuseForeign(name);
  const [twice] = [...imports, ...exports]
    .map((name) => (RELEASE_3.test(name) ? `${withoutVersion(name)}@0.3` : withoutVersion(name)))
    .filter((name, at, all) => all.indexOf(name) !== at);
  if (twice !== undefined)
    throw invalid("named_twice", `it names ${twice} twice; import it once, in one version`, twice);
  const tool = exports.find((name) => withoutVersion(name) === TOOL);
  if (tool === undefined) {
    const found = exports.length === 0 ? "nothing" : exports.join(", ");
    throw invalid("missing_export", `it exports ${found}; a tool must export ${TOOL}@${WIT_VERSION}`, TOOL);
  }
  for (const name of [tool, ...imports.filter((name) => name.startsWith("postern:"))]) refuseVersion(name);
  const denied = new Set(
    imports.flatMap((name) => (RELEASE_3.test(name) ? DENIED_3 : DENIED).get(withoutVersion(name)) ?? []),
  );
  return { imports, exports, witVersion: WIT_VERSION, denied: [...denied], producers };
}

/** Throws as `inspect` does. */
export async function readOutline(bytes: Uint8Array): Promise<Outline> {
  assertComponent(bytes);
  return runReader({ what: "outline" }, bytes);
}

/** Refuses a component that imports what its capabilities file does not ask for. */
export function assertAsked({ imports }: ComponentInfo, capabilities: Capabilities): void {
  for (const [name, isAsked, what] of ASKED) {
    const found = imports.find((imported) => withoutVersion(imported) === name);
    if (found !== undefined && !isAsked(capabilities))
      throw invalid("foreign_import", `it imports ${found}, and its capabilities file ${what}`, found);
  }
}

/** Transpiles a component and checks the types of the two interfaces. Throws as `inspect` does. */
export async function transpile(bytes: Uint8Array, memoryMb: number, outline?: Outline): Promise<Transpiled> {
  assertComponent(bytes);
  const transpiled = await runReader({ what: "transpile", memoryMb, outline }, bytes);
  for (const [name, expected] of Object.entries(TYPES)) {
    const declared = declarations(transpiled.types[fileOf(name)] ?? "").map((item) =>
      name === TOOL && item === ASYNC_EXECUTE ? EXECUTE : item,
    );
    const foreign = declared.find((item) => !expected.some((own) => own === item));
    const missing = name === TOOL ? expected.find((own) => !declared.includes(own)) : undefined;
    if (foreign !== undefined || missing !== undefined) {
      const what = foreign === undefined ? `lacks "${missing}"` : `has "${foreign}"`;
      throw invalid(
        "wrong_types",
        `its ${name} is not that of version ${name.startsWith("wasi:") ? KEYVALUE.split("@")[1] : WIT_VERSION}: it ${what}`,
        name,
      );
    }
  }
  await checkWasiTypes(transpiled.types);
  return transpiled;
}

/** The parameters of an import are copied out of the guest by their types: with types of its own it could ask for any amount. */
async function checkWasiTypes(types: Transpiled["types"]): Promise<void> {
  const shim = createRequire(import.meta.url).resolve("@bytecodealliance/preview2-shim");
  const refuse = (name: string, release: string, declared: readonly string[], known: readonly string[]) => {
    const foreign = declared.find((item) => !known.includes(item));
    if (foreign !== undefined)
      throw invalid("wrong_types", `its ${name} is not that of WASI ${release}: it has "${foreign}"`, name);
  };
  for (const name of [...WASI, ...DENIED.keys()]) {
    const file = fileOf(name);
    const declared = declarations(types[file] ?? "");
    if (declared.length === 0) continue;
    const official = await readFile(join(dirname(shim), "..", "..", "types", "interfaces", file), "utf8");
    refuse(name, "0.2", declared, [...declarations(official), ...UNSTABLE_WASI]);
  }
  for (const [name, known] of Object.entries(WASI_0_3)) {
    const declared = declarations(types[fileOf(name.replace("wasi", RELEASE_3_SPACE))] ?? "");
    const own = declared.map((item) => item.replaceAll(`import('./${RELEASE_3_SPACE}-`, "import('./wasi-"));
    refuse(name, "0.3", own, known);
  }
}

function fileOf(name: string): string {
  return `${name.replace(/[:/]/g, "-")}.d.ts`;
}

/** What the transpiler declares for an interface, each member of a class by itself. */
export function declarations(text: string): string[] {
  // A public constructor is the only member that ends without a semicolon.
  const bare = text
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/\s+/g, " ")
    .replace(/ constructor\([^();]*\)(?!;)/g, "$&;");
  return bare.split(/(?=export )/).flatMap((item) => {
    const [, name, members] = /^export class (\w+)[^{]*\{(.*)\}\s*$/.exec(item) ?? [];
    if (members === undefined) return item.trim() === "" ? [] : [item.trim()];
    // A private constructor means that the component does not use it.
    return members
      .split(";")
      .map((member) => member.trim())
      .filter((member) => member !== "" && member !== "private constructor()")
      .map((member) => `${name}.${member}`);
  });
}

function invalid(code: string, message: string, param?: string): Fault {
  return new Fault(
    "invalid",
    code,
    `This component cannot be a tool: ${message}.`,
    param === undefined ? {} : { param },
  );
}

function withoutVersion(name: string): string {
  return name.replace(/@.*$/, "");
}

function assertComponent(bytes: Uint8Array): void {
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 8)).toString("hex");
  if (header === "0061736d0d000100") return;
  throw invalid(
    "not_a_component",
    header === "0061736d01000000"
      ? "it is a core WebAssembly module; build it as a component, for example with `wasm-tools component new`"
      : "its first bytes are not those of a WebAssembly component",
  );
}

function refuseForeign(name: string): void {
  const bare = withoutVersion(name);
  if (bare === HOST || bare === EXCHANGE || name === KEYVALUE) return;
  if (bare.startsWith("postern:") && ASKED.some(([asked]) => asked === bare)) return;
  if ((WASI.has(bare) || DENIED.has(bare)) && /@0\.2\.\d+$/.test(name)) return;
  if (WASI_3.has(bare) && RELEASE_3.test(name)) return;
  throw invalid("foreign_import", `it imports ${name}, and ${explainForeign(bare)}`, name);
}

function explainForeign(bare: string): string {
  if (WASI.has(bare) || DENIED.has(bare) || WASI_3.has(bare)) return `this host provides ${releasesOf(bare)}`;
  if (bare === withoutVersion(KEYVALUE)) return `this host provides ${KEYVALUE} only`;
  if (bare.startsWith("wasi:http/"))
    return "a tool can send requests, by wasi:http/outgoing-handler of 0.2 or wasi:http/client of 0.3, but answers none";
  return "nothing here provides it";
}

function releasesOf(bare: string): string {
  if (!WASI_3.has(bare)) return "WASI 0.2 of it only";
  const isBoth = WASI.has(bare) || DENIED.has(bare);
  return isBoth ? "WASI 0.2 and 0.3 of it, no drafts" : "WASI 0.3 of it only";
}

function refuseVersion(name: string): void {
  if (name.endsWith(`@${WIT_VERSION}`)) return;
  throw invalid("wrong_wit_version", `it uses ${name}, and this host speaks version ${WIT_VERSION}`, name);
}

const READER_MS = 120_000;
/** Transpiling the largest engine takes a third of it. */
const READER_BYTES = 1536 * 2 ** 20;

/** Reads in a process of its own, which is gone afterwards. */
async function runReader<Job extends ReaderJob>(
  job: Job,
  bytes: Uint8Array,
): Promise<ReaderValues[Job["what"]]> {
  const child = ToolProcess.start({ role: "read", cores: 1 });
  const watch = new MemoryWatch(child, () => READER_BYTES);
  const timer = setTimeout(() => child.end("reading it took too long"), READER_MS);
  try {
    const reading = child.read(job, bytes);
    watch.start();
    const reply = await reading;
    if (reply.ok) return reply.value as ReaderValues[Job["what"]];
    throw reply.unfit
      ? invalid("unfit_component", reply.message)
      : invalid("not_a_component", `it cannot be read (${reply.message})`);
  } catch (error) {
    throw error instanceof Fault ? error : invalid("not_a_component", `it cannot be read (${reason(error)})`);
  } finally {
    clearTimeout(timer);
    watch.stop();
    child.end("done");
  }
}
