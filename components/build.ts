/**
 * Builds a shipped tool: `node components/build.ts weather` bundles components/weather/tool.ts and turns it
 * into components/weather/dist/weather.wasm. Progress goes to stderr.
 */
import { mkdir, mkdtemp, rename, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const WIT = fileURLToPath(new URL("../wit/tool.wit", import.meta.url));

export async function build(name: string, progress: (line: string) => void): Promise<string> {
  const folder = fileURLToPath(new URL(name, import.meta.url));
  const output = join(folder, "dist", `${name}.wasm`);
  const began = performance.now();
  progress(`${name}: bundling the TypeScript`);
  const { build: bundle } = await import("esbuild");
  const work = await mkdtemp(join(tmpdir(), "postern-build-"));
  try {
    const source = join(work, "tool.js");
    await bundle({
      entryPoints: [join(folder, "tool.ts")],
      outfile: source,
      bundle: true,
      format: "esm",
      target: "es2022",
      external: ["postern:*"],
      logLevel: "error",
    });
    progress(`${name}: making a component of it (about ten seconds)`);
    const { componentize } = await import("@bytecodealliance/componentize-js");
    const { component } = await componentize({
      sourcePath: source,
      witPath: WIT,
      worldName: "sandboxed-tool",
      // Clocks and randomness stay: without them the time would be that of the build, for ever.
      disableFeatures: ["http", "fetch-event"],
    });
    await mkdir(dirname(output), { recursive: true });
    // Two builds at once must not read each other's half-written file; the last rename wins.
    const draft = `${output}.${process.pid}`;
    await writeFile(draft, component);
    await rename(draft, output);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  const megabytes = ((await stat(output)).size / 1e6).toFixed(1);
  progress(`${name}: ${output}, ${megabytes} MB in ${((performance.now() - began) / 1000).toFixed(1)} s`);
  return output;
}

if (import.meta.main) {
  const { positionals } = parseArgs({ allowPositionals: true });
  const [name] = positionals;
  if (name === undefined || positionals.length > 1 || !/^[a-z0-9-]+$/.test(name)) {
    process.stderr.write("usage: node components/build.ts <name>   (a folder of components/)\n");
    process.exit(2);
  }
  try {
    await build(name, (line) => process.stderr.write(`${line}\n`));
  } catch (error) {
    process.stderr.write(
      `${name} could not be built: ${error instanceof Error ? error.message : String(error)}\n`,
    );
    process.exit(1);
  }
}
