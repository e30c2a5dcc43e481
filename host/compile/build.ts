/**
 * Bundles the thread that reads components with jco's transpiler, for the published package: installed as a
 * dependency the transpiler brings 100 MB that are never loaded (binaryen, a minifier).
 */
import { copyFile, glob, mkdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { build } from "esbuild";

const TRANSPILER = join(
  dirname(createRequire(import.meta.url).resolve("@bytecodealliance/jco-transpile")),
  "..",
);

async function bundleReader(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await build({
    entryPoints: [join(import.meta.dirname, "component-reader.ts")],
    outfile: join(folder, "component-reader.js"),
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node26",
    external: ["@bytecodealliance/preview2-shim/*"],
    legalComments: "inline",
    logLevel: "error",
    plugins: [
      {
        name: "without the minifier",
        setup(bundler) {
          bundler.onResolve({ filter: /^oxc-minify$/ }, ({ path }) => ({ path, namespace: "unused" }));
          bundler.onLoad({ filter: /./, namespace: "unused" }, () => ({
            contents: 'export function minify() { throw new Error("the minifier is not bundled"); }',
          }));
        },
      },
    ],
  });
  // The transpiler is WebAssembly itself, and looks for it beside its own file.
  for await (const file of glob(join(TRANSPILER, "vendor", "*.wasm")))
    await copyFile(file, join(folder, basename(file)));
  await copyFile(join(TRANSPILER, "LICENSE"), join(folder, "jco-transpile.LICENSE"));
}

// `node host/compile/build.ts <folder>`
const [folder] = parseArgs({ allowPositionals: true }).positionals;
if (folder === undefined) throw new Error("usage: node host/compile/build.ts <folder>");
await bundleReader(folder);
