/**
 * Builds a shipped tool like any author's: `node components/build.ts weather` builds components/weather/tool.ts
 * to components/weather/dist/weather.wasm. Progress goes to stderr.
 */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { buildProject } from "../host/author/build/build.ts";
import type { Engine } from "../host/author/build/engines.ts";
import { installedToolchain } from "../host/author/build/toolchain.ts";
import { openProject } from "../host/author/project.ts";

/** Tools for which the smaller engine is enough. */
const ENGINES: Readonly<Record<string, Engine>> = { convert: "quickjs" };

export async function build(name: string, progress: (line: string) => void): Promise<string> {
  const project = openProject(fileURLToPath(new URL(name, import.meta.url)));
  const { file } = await buildProject(project, {
    engine: ENGINES[name] ?? "spidermonkey",
    progress: (line) => progress(`${name}: ${line}`),
    openToolchain: async () => installedToolchain(),
  });
  return file;
}

if (import.meta.main) {
  // A service keeps its files to itself; what it has built here is for everybody who uses this clone.
  process.umask(0o022);
  const { positionals } = parseArgs({ allowPositionals: true });
  const [name] = positionals;
  if (name === undefined || positionals.length > 1 || !/^[a-z0-9-]+$/.test(name)) {
    process.stderr.write("usage: node components/build.ts <name>   (a folder in components/)\n");
    process.exit(2);
  }
  try {
    await build(name, (line) => process.stderr.write(`${line}\n`));
  } catch (error) {
    process.stderr.write(
      `Failed to build ${name}: ${error instanceof Error ? error.message : String(error)}\n`,
    );
    process.exit(1);
  }
}
