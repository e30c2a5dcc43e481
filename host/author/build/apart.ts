/** Makes a component of a script that the model wrote, in a process that can do nothing else. */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { MANIFEST, moduleFile } from "../../../kernel/kit/files.ts";
import { Fault } from "../../../kernel/plugin.ts";
import { PRLIMIT, packagesAbove } from "../../sandbox/confinement.ts";
import { customSection, leb } from "../../wasm/module-sections.ts";
import { WIT } from "../project.ts";
import { embedMap } from "../trace/source-map.ts";
import { explainCrash } from "./engines.ts";
import { locateToolchain, type ToolchainPlaces } from "./toolchain.ts";

const TIMEOUT_MS = 60_000;
/** CPU time, which a busy machine does not use up sooner. */
const MAX_CPU_SECS = 10;
/** A build of a few lines takes a tenth of these. */
const BOUNDS = [
  `--cpu=${MAX_CPU_SECS}:${MAX_CPU_SECS + 2}`,
  "--core=0",
  `--data=${2 ** 31}`,
  `--fsize=${2 ** 26}`,
  "--nofile=256",
];
const MAX_PROBLEM = 4000;

const FORM = "export const tool = { description, schema, execute }, three functions";
/** QuickJS cannot wait: a promise would be taken for an answer with neither output nor error. */
const AFTER = `if (typeof tool !== "object") throw new TypeError(${JSON.stringify(`the script must say ${FORM}`)});
for (const one of ["description", "schema", "execute"]) if (typeof tool[one] !== "function") throw new TypeError(\`it has no function \${one}: the script must say ${FORM}\`);
if (tool.execute?.constructor?.name === "AsyncFunction") throw new TypeError("execute must not be async");
`;

/** A fault says what is wrong with the script, or that the build tools are missing. */
export async function makeComponent(
  source: string,
  places: ToolchainPlaces,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const toolchain = locateToolchain(places);
  const before = globalsBefore(await readFile(join(WIT, "quickjs-globals.js"), "utf8"));
  const map = mapOf(source, before);
  // Paths are compared as they are, and the system's folder may be a link.
  const folder = await realpath(await mkdtemp(join(tmpdir(), "postern-proposal-")));
  try {
    const contract = await readFile(join(WIT, "tool.wit"), "utf8");
    const files = {
      "tool.ts": source,
      "tool.wit": contract,
      "before.js": before,
      "after.js": AFTER,
    };
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    await runApart(folder, toolchain, signal);
    const problem = await readFile(join(folder, "problem"), "utf8").catch(() => undefined);
    if (problem !== undefined) throw explainCrash(problem, map) ?? notBuilt(problem.slice(0, MAX_PROBLEM));
    const made = await readFile(join(folder, "tool.wasm"));
    return embedMap(Buffer.concat([made, madeByUs()]), map);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** It has no network, no other files, no processes, no threads and an empty environment. QuickJS comes as an addon of Node's. */
export async function runApart(
  folder: string,
  toolchain: string,
  signal = new AbortController().signal,
): Promise<void> {
  const maker = moduleFile("host/author/build/maker");
  const readable = [
    ...[folder, dirname(maker)],
    ...packagesAbove(dirname(maker), ["componentize-qjs"]),
    ...packagesAbove(dirname(toolchain), ["componentize-qjs"]),
  ];
  const command = [
    ...(PRLIMIT === undefined ? [] : [PRLIMIT, ...BOUNDS, "--"]),
    ...[process.execPath, "--permission", "--allow-addons", `--allow-fs-write=${folder}`],
    ...readable.map((path) => `--allow-fs-read=${path}`),
    ...["--no-experimental-sqlite", "--no-experimental-webstorage", "--experimental-vm-modules"],
    ...["--no-warnings", maker, folder, toolchain],
  ];
  const deadline = AbortSignal.timeout(TIMEOUT_MS);
  const child = spawn(command[0] as string, command.slice(1), {
    env: {},
    cwd: folder,
    stdio: "ignore",
    signal: AbortSignal.any([signal, deadline]),
    killSignal: "SIGKILL",
  });
  const { promise: ended, resolve } =
    Promise.withResolvers<readonly [number | null, NodeJS.Signals | null]>();
  child.once("error", () => {});
  child.once("close", (code, by) => resolve([code, by]));
  const [code, by] = await ended;
  signal.throwIfAborted();
  if (by === "SIGXCPU")
    throw notBuilt(`it took more than ${MAX_CPU_SECS} seconds of computing. Does its top level loop?`);
  if (deadline.aborted)
    throw notBuilt(`it took longer than ${TIMEOUT_MS / 1000} seconds. Does its top level loop?`);
  if (code !== 0) throw notBuilt("the build ended by itself. Does its top level use too much memory?");
}

function notBuilt(why: string): Fault {
  return new Fault("invalid", "build_failed", `not built: ${why.trim().replace(/[^.?!]$/, "$&.")}`);
}

/** The globals that QuickJS lacks, in a block of their own, so that their names are not in the way of the script's. */
function globalsBefore(globals: string): string {
  const names = [...globals.matchAll(/^export (?:class|const) (\w+)/gm)].map(([, name]) => name);
  const inside = globals.replace(/^import .*$/m, "").replaceAll(/^export /gm, "");
  return `import { log as $log } from "postern:tool/host@0.1.0";\n{ const log = $log;\n${inside}\nObject.assign(globalThis, { ${names.join(", ")} }); }\n`;
}

/** Each line of the script is where it was, below those before it. */
function mapOf(source: string, before: string): string {
  const lines = source.split("\n").map((_, at) => (at === 0 ? "AAAA" : "AACA"));
  const mappings = ";".repeat(before.split("\n").length - 1) + lines.join(";");
  return JSON.stringify({ version: 3, sources: ["tool.ts"], names: [], mappings });
}

/** `tool check` knows by it that the numbers of chance are taken care of. */
function madeByUs(): Uint8Array {
  const text = (words: string) => [...leb(Buffer.byteLength(words)), ...Buffer.from(words)];
  const fields = [1, ...text("processed-by"), 1, ...text("postern"), ...text(MANIFEST.version)];
  return customSection("producers", Uint8Array.from(fields));
}
