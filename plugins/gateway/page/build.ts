/** Bundles the page into dist/: `node plugins/gateway/page/build.ts`. No CDN, nothing but what is in this folder. */
import { cp, mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";

const HERE = import.meta.dirname;

export async function buildPage(): Promise<string> {
  const output = join(HERE, "dist");
  const work = join(HERE, `.dist-${process.pid}`);
  await rm(work, { recursive: true, force: true });
  await mkdir(work);
  await build({
    entryPoints: [join(HERE, "main.tsx")],
    outfile: join(work, "main.js"),
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    logLevel: "error",
  });
  await Promise.all(
    ["index.html", "style.css", "icon.svg"].map((file) => cp(join(HERE, file), join(work, file))),
  );
  await rm(output, { recursive: true, force: true });
  await rename(work, output);
  return output;
}

if (process.argv[1] === import.meta.filename) await buildPage();
