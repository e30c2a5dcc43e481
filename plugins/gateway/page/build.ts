/** Bundles the page from this folder and its imports; nothing is loaded from a CDN. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { build } from "esbuild";

const HERE = import.meta.dirname;
const STATIC_FILES = [
  "index.html",
  "icon.svg",
  ...["icon-192.png", "icon-512.png", "icon-maskable.png", "manifest.webmanifest", "offline.html"].map(
    (name) => `installable/${name}`,
  ),
];

/** Returns the contents of each file by its path below the gateway's address. */
export async function bundlePage(): Promise<ReadonlyMap<string, Uint8Array>> {
  const { outputFiles } = await build({
    entryPoints: {
      main: join(HERE, "main.tsx"),
      style: join(HERE, "style/style.css"),
      worker: join(HERE, "installable/worker.ts"),
      colouring: join(HERE, "chat/prose/colouring.ts"),
    },
    outdir: HERE,
    write: false,
    bundle: true,
    splitting: true,
    chunkNames: "part-[hash]",
    minify: true,
    format: "esm",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    logLevel: "error",
  });
  const others = STATIC_FILES.map(
    async (name) => [basename(name), await readFile(join(HERE, name))] as const,
  );
  const made = outputFiles.map(({ path, contents }) => [basename(path), contents] as const);
  return new Map<string, Uint8Array>([...made, ...(await Promise.all(others))]);
}

// `node plugins/gateway/page/build.ts <folder>`: for the published package, which has no bundler.
if (process.argv[1] === import.meta.filename) {
  const [folder = join(HERE, "dist")] = parseArgs({ allowPositionals: true }).positionals;
  await mkdir(folder, { recursive: true });
  for (const [name, contents] of await bundlePage()) await writeFile(join(folder, name), contents);
}
