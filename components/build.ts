/**
 * Builds a shipped tool like any author's: `node components/build.ts weather` builds components/weather/tool.ts
 * to components/weather/dist/weather.wasm, and transpiles it beside that, so that a fresh home need not. With `--code`
 * it only transpiles what is built. Progress goes to stderr.
 */
import { hash } from "node:crypto";
import { readdir, readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { buildProject } from "../host/author/build/build.ts";
import type { Engine } from "../host/author/build/engines.ts";
import { installedToolchain } from "../host/author/build/toolchain.ts";
import { openProject } from "../host/author/project.ts";
import { readCapabilities } from "../host/catalog/install.ts";
import { filesOf } from "../host/catalog/shipped.ts";
import { bringAlong } from "../host/compile/transpile.ts";
import { createPool } from "../host/sandbox/pool.ts";

/** Tools for which the smaller engine is enough. */
const ENGINES: Readonly<Record<string, Engine>> = {
  convert: "quickjs",
  "read-page": "quickjs",
  "web-search": "quickjs",
};

export async function build(name: string, progress: (line: string) => void): Promise<string> {
  const project = openProject(fileURLToPath(new URL(name, import.meta.url)));
  const { file } = await buildProject(project, {
    engine: ENGINES[name] ?? "spidermonkey",
    progress: (line) => progress(`${name}: ${line}`),
    openToolchain: async () => installedToolchain(),
    // The builder itself may have changed.
    always: true,
  });
  return file;
}

/** Transpiles what is built, and removes what was transpiled of an earlier build. */
export async function bringCode(name: string, progress: (line: string) => void): Promise<void> {
  const { wasm, capabilities } = filesOf(name);
  const component = await readFile(wasm);
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
  const pool = createPool({ size: 1 });
  try {
    const entry = await bringAlong(source, pool.describe);
    const others = (await readdir(cache)).filter((file) => /^[0-9a-f]{64}-/.test(file) && file !== entry);
    for (const other of others) await rm(join(cache, other), { recursive: true, force: true });
  } finally {
    await pool.close();
  }
}

if (import.meta.main) {
  // A service keeps its files to itself; what it has built here is for everybody who uses this clone.
  process.umask(0o022);
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { code: { type: "boolean", default: false } },
  });
  const [name] = positionals;
  if (name === undefined || positionals.length > 1 || !/^[a-z0-9-]+$/.test(name)) {
    process.stderr.write("usage: node components/build.ts [--code] <name>   (a folder in components/)\n");
    process.exit(2);
  }
  try {
    const progress = (line: string) => void process.stderr.write(`${line}\n`);
    if (!values.code) await build(name, progress);
    await bringCode(name, progress);
  } catch (error) {
    process.stderr.write(
      `Failed to build ${name}: ${error instanceof Error ? error.message : String(error)}\n`,
    );
    process.exit(1);
  }
}
