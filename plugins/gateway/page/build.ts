/** Bundles the page: no CDN, nothing but what is in this folder and what it imports. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { build } from "esbuild";

const HERE = import.meta.dirname;
const AS_THEY_ARE = ["index.html", "style.css", "icon.svg"];

/** Each file's path below the gateway's address, and what is in it. */
export async function bundlePage(): Promise<ReadonlyMap<string, Uint8Array>> {
  const { outputFiles } = await build({
    entryPoints: [join(HERE, "main.tsx")],
    write: false,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    logLevel: "error",
  });
  const [script] = outputFiles;
  if (script === undefined) throw new Error("the bundler returned no script");
  const others = AS_THEY_ARE.map(async (name) => [name, await readFile(join(HERE, name))] as const);
  return new Map<string, Uint8Array>([["main.js", script.contents], ...(await Promise.all(others))]);
}

// `node plugins/gateway/page/build.ts <folder>`: for the published package, which has no bundler.
if (process.argv[1] === import.meta.filename) {
  const [folder = join(HERE, "dist")] = parseArgs({ allowPositionals: true }).positionals;
  await mkdir(folder, { recursive: true });
  for (const [name, contents] of await bundlePage()) await writeFile(join(folder, name), contents);
}
