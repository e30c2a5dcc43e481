/** Bundles the page from this folder and its imports; nothing is loaded from a CDN. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { type BuildOptions, build } from "esbuild";

const HERE = import.meta.dirname;
const STATIC_FILES = [
  "index.html",
  "icon.svg",
  ...["icon-192.png", "icon-512.png", "icon-maskable.png", "manifest.webmanifest", "offline.html"].map(
    (name) => `installable/${name}`,
  ),
];

export const OPTIONS = {
  entryPoints: {
    main: join(HERE, "main.tsx"),
    style: join(HERE, "style/style.css"),
    worker: join(HERE, "installable/worker.ts"),
    "colour-worker": join(HERE, "chat/prose/colour-worker.ts"),
  },
  outdir: HERE,
  write: false,
  bundle: true,
  splitting: true,
  chunkNames: "part-[hash]",
  minify: true,
  format: "esm",
  target: "es2022",
  charset: "utf8",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  logLevel: "error",
} as const satisfies BuildOptions;

/** Returns the contents of each file by its path below the gateway's address. */
export async function bundlePage(): Promise<ReadonlyMap<string, Uint8Array>> {
  const { outputFiles } = await build(OPTIONS);
  const others = STATIC_FILES.map(
    async (name) => [basename(name), await readFile(join(HERE, name))] as const,
  );
  const made = outputFiles.map(({ path, contents }) => [basename(path), contents] as const);
  const diagram = ["diagram.html", await bundleDiagram()] as const;
  return new Map<string, Uint8Array>([...made, ...(await Promise.all(others)), diagram]);
}

/** The frame that draws diagrams: one document with one script, which its policy can name by its hash. */
async function bundleDiagram(): Promise<Uint8Array> {
  const [library, own] = await Promise.all([
    readFile(new URL(import.meta.resolve("mermaid/dist/mermaid.min.js")), "utf8"),
    readFile(join(HERE, "diagram/frame.js"), "utf8"),
  ]);
  const script = `${library}\n${own}`.replaceAll(/<(?=\/script|!--)/gi, "\\x3c");
  const style = "html,body{height:100%;margin:0;overflow:hidden}body{display:grid;place-items:center}";
  const head = `<meta charset="utf-8"><title>Diagram</title><style>${style}</style>`;
  return Buffer.from(
    `<!doctype html><html lang="en"><head>${head}</head><body><script>${script}</script></body></html>\n`,
  );
}

// `node plugins/page/build.ts <folder>`: for the published package, which has no bundler.
if (process.argv[1] === import.meta.filename) {
  const [folder = join(HERE, "dist")] = parseArgs({ allowPositionals: true }).positionals;
  await mkdir(folder, { recursive: true });
  for (const [name, contents] of await bundlePage()) await writeFile(join(folder, name), contents);
}
