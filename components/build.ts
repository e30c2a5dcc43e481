/**
 * `npm run component weather` builds components/weather/tool.ts as any author would, if its sources, the builder's packages or our version
 * have changed since the last build. It compresses the result to components/weather/dist/weather.wasm.zst, which is committed with its
 * record, and transpiles it next to that for the published package. `--always` builds even if nothing changed, `--code` only transpiles,
 * `--check` changes nothing and reports committed files that do not match their sources, and `--engines` rebuilds the dictionary that the
 * components are compressed with. Without a name, all components are handled. Progress goes to stderr.
 */
import { hash } from "node:crypto";
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { brotliCompressSync, constants, zstdCompressSync } from "node:zlib";
import { partsOf } from "../.package/compare.ts";
import { buildProject } from "../host/author/build/build.ts";
import { bundle } from "../host/author/build/bundle.ts";
import { ENGINES, type Engine } from "../host/author/build/engines.ts";
import { lockOf } from "../host/author/build/lock.ts";
import { builderOf, isBuilt } from "../host/author/build/record.ts";
import { installedToolchain, PACKAGES } from "../host/author/build/toolchain.ts";
import { openProject, type Project, WIT } from "../host/author/project.ts";
import { readCapabilities } from "../host/catalog/install.ts";
import { filesOf, SHIPPED } from "../host/catalog/shipped.ts";
import { readOutline } from "../host/compile/component.ts";
import {
  COMPONENTS,
  COMPRESSED,
  ENGINES as ENGINES_FILE,
  readComponentFile,
  readEngines,
} from "../host/compile/component-file.ts";
import {
  bringAlong,
  createComponent,
  readIntroduction,
  type ShippedIntroduction,
} from "../host/compile/transpile.ts";
import { createPool } from "../host/sandbox/pool.ts";
import { ROOT } from "../kernel/package.ts";

/** Tools for which the smaller engine is enough. */
const SMALL = new Set(["calendar", "convert", "read-page", "web-search"]);
const engineOf = (name: string): Engine => (SMALL.has(name) ? "quickjs" : "spidermonkey");

/** The last two are not installed by default, so they come without their transpiled code. */
export const NAMES: readonly string[] = [...SHIPPED, "github-issues", "calendar"];

/** True where building it again would make the same component, but for the memory that it starts from. */
export async function isCurrent(name: string): Promise<boolean> {
  const { wasm, introduction } = filesOf(name);
  return (
    (await isBuilt(openProject(join(COMPONENTS, name)), builderOf(engineOf(name), PACKAGES))) &&
    existsSync(introduction) &&
    isMadeOf(await readIntroduction(introduction), await readComponentFile(wasm))
  );
}

function isMadeOf({ component, toolchain }: ShippedIntroduction, bytes: Uint8Array): boolean {
  return component === hash("sha256", bytes) && toolchain === digestToolchain();
}

/** Counts each package of the toolchain, whether or not what is built would be another without it. */
function digestToolchain(): string {
  const read = (file: string) => JSON.parse(readFileSync(join(ROOT, file), "utf8"));
  const { packages } = lockOf(PACKAGES, read("package-lock.json"), read("package.json").overrides);
  const locked = Object.entries(packages).map(([path, { version, integrity }]) => [path, version, integrity]);
  const contract = globSync("*.{wit,js}", { cwd: WIT }).sort();
  return hash(
    "sha256",
    JSON.stringify([locked, contract.map((file) => readFileSync(join(WIT, file), "utf8"))]),
  );
}

/** The memory that a component starts from holds it, and cannot be compared. */
async function digestScript(name: string): Promise<string> {
  const { source, map } = await bundle(openProject(join(COMPONENTS, name)), engineOf(name));
  return hash("sha256", JSON.stringify([source, map]));
}

/** Returns what is wrong with the committed files: what they are not made from, or do not make again. Leaves them as they are. */
async function check(name: string, progress: (line: string) => void): Promise<string | undefined> {
  const advice = `run: npm run component ${name}`;
  if (!(await isCurrent(name)))
    return `${name}: its sources, the toolchain or the lock file are others than it was built from; ${advice}`;
  const folder = mkdtempSync(join(tmpdir(), "postern-check-"));
  try {
    const project = { ...openProject(join(COMPONENTS, name)), component: join(folder, `${name}.wasm`) };
    const [ours, again] = [
      await readComponentFile(filesOf(name).wasm),
      await make(project, engineOf(name), progress),
    ];
    const { script } = await readIntroduction(filesOf(name).introduction);
    if (script !== (await digestScript(name)) || partsOf(ours).join() !== partsOf(again).join())
      return `${name}: its sources make other code than the committed component has; ${advice} -- --always`;
    progress(`${name}: the same${again.equals(ours) ? "" : " but for the memory it starts from"}`);
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function build(name: string, progress: (line: string) => void): Promise<void> {
  const component = await make(openProject(join(COMPONENTS, name)), engineOf(name), progress);
  await write(`${filesOf(name).wasm}${COMPRESSED}`, compress(component, await readEngines()));
  await introduce(name, component);
}

/** Records what it says of itself. */
async function introduce(name: string, bytes: Uint8Array): Promise<void> {
  const { capabilities, introduction } = filesOf(name);
  const { memoryMb } = readCapabilities(await readFile(capabilities, "utf8")).limits;
  const cache = mkdtempSync(join(tmpdir(), "postern-introduction-"));
  const pool = createPool({ size: 1 });
  try {
    const sha256 = hash("sha256", bytes);
    const outline = await readOutline(bytes);
    const source = { sha256, read: async () => bytes, cache, memoryMb, outline };
    const { description, schema } = await pool.describe(createComponent(source));
    const said: ShippedIntroduction = {
      component: sha256,
      toolchain: digestToolchain(),
      script: await digestScript(name),
      outline,
      description: { description, schema },
    };
    await write(introduction, `${JSON.stringify(said, undefined, 1)}\n`);
  } finally {
    await pool.close();
    rmSync(cache, { recursive: true, force: true });
  }
}

/** Returns the component, and leaves the record of how it was built in the project's `dist`. */
async function make(project: Project, engine: Engine, progress: (line: string) => void): Promise<Buffer> {
  const { file } = await buildProject(project, {
    engine,
    progress: (line) => progress(`${project.name}: ${line}`),
    openToolchain: async () => installedToolchain(),
    always: true,
  });
  const component = await readFile(file);
  await rm(file);
  return component;
}

/** One empty tool of each engine. The components are compressed again with it, and stay what they are. */
async function makeEngines(progress: (line: string) => void): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "postern-engines-"));
  try {
    cpSync(join(WIT, "templates", "blank"), folder, { recursive: true });
    rmSync(join(folder, "capabilities.json"), { force: true });
    const parts: Uint8Array[] = [];
    for (const engine of ENGINES)
      parts.push(await make({ ...openProject(folder), name: engine }, engine, progress));
    const engines = Buffer.concat(parts);
    // Brotli takes another 6 % off, and has no dictionaries in Node.
    const params = { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS };
    const components: [string, Buffer][] = [];
    for (const { wasm } of NAMES.map(filesOf))
      if (existsSync(`${wasm}${COMPRESSED}`)) components.push([wasm, await readComponentFile(wasm)]);
    await write(ENGINES_FILE, brotliCompressSync(engines, { params }));
    for (const [wasm, component] of components)
      await write(`${wasm}${COMPRESSED}`, compress(component, engines));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Takes most of a minute for the largest. */
function compress(bytes: Uint8Array, dictionary: Uint8Array): Buffer {
  const params = {
    [constants.ZSTD_c_compressionLevel]: 22,
    [constants.ZSTD_c_windowLog]: 27,
    [constants.ZSTD_c_checksumFlag]: 1,
  };
  return zstdCompressSync(bytes, { params, dictionary });
}

async function write(file: string, bytes: Uint8Array | string): Promise<void> {
  await writeFile(`${file}.draft`, bytes);
  await rename(`${file}.draft`, file);
}

/** Transpiles what is built, and removes what was transpiled of an earlier build. */
export async function bringCode(name: string, progress: (line: string) => void): Promise<void> {
  const { wasm, capabilities } = filesOf(name);
  const component = await readComponentFile(wasm);
  const { memoryMb } = readCapabilities(await readFile(capabilities, "utf8")).limits;
  const cache = dirname(wasm);
  const onProgress = (line: string) => progress(`${name}: ${line}`);
  const source = {
    sha256: hash("sha256", component),
    read: async () => component,
    cache,
    memoryMb,
    onProgress,
  };
  const entry = await bringAlong(source);
  const others = (await readdir(cache)).filter((file) => /^[0-9a-f]{64}-/.test(file) && file !== entry);
  for (const other of others) await rm(join(cache, other), { recursive: true, force: true });
}

if (import.meta.main) {
  // A service keeps its files to itself; what it has built here is for everybody who uses this clone.
  process.umask(0o022);
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      always: { type: "boolean" },
      check: { type: "boolean" },
      code: { type: "boolean" },
      engines: { type: "boolean" },
    },
  });
  const unknown = positionals.filter((name) => !NAMES.includes(name));
  if (unknown.length > 0) {
    process.stderr.write(
      `There is no component ${unknown.join(", ")}.\nusage: node components/build.ts [--always | --check | --code | --engines] [name …]   (of ${NAMES.join(", ")})\n`,
    );
    process.exit(2);
  }
  const progress = (line: string) => void process.stderr.write(`${line}\n`);
  const names = positionals.length > 0 ? positionals : NAMES;
  try {
    if (values.check) {
      const wrong: string[] = [];
      for (const name of names) {
        const why = await check(name, progress);
        if (why !== undefined) wrong.push(why);
      }
      for (const line of wrong) progress(line);
      process.exit(wrong.length > 0 ? 1 : 0);
    }
    if (values.engines) await makeEngines(progress);
    for (const name of names) {
      if (!values.code && (values.always || !(await isCurrent(name)))) await build(name, progress);
      if (SHIPPED.includes(name)) await bringCode(name, progress);
    }
  } catch (error) {
    process.stderr.write(`Failed to build: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}
