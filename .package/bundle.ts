/**
 * For the published package, bundles the code of a tool's process, which then starts in half the time, and the modules
 * whose packages would bring far more than they use: as dependencies they would install 130 MB that are never loaded,
 * and compile a SQLite that nobody opens.
 */
import { copyFile, glob, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { ROOT } from "../kernel/package.ts";

interface Bundle {
  /** They lie in one folder, and share code that is bundled once. */
  readonly modules: readonly [string, ...string[]];
  /** Imported by these alone, so its own file is removed. */
  readonly inside?: string;
  /** Not bundled: these stay dependencies. */
  readonly external: readonly string[];
  /** Imported by code that we do not run. */
  readonly without: readonly string[];
  /** Files that the code looks for beside itself. */
  readonly files?: string;
}

const BUNDLES: readonly Bundle[] = [
  {
    // Each process of a tool loads these when it starts.
    modules: ["host/sandbox/inside/child", "host/sandbox/inside/worker"],
    inside: "host/wasm/component-reader",
    external: ["piscina", "@bytecodealliance/preview2-shim/*"],
    without: ["oxc-minify"],
    files: "node_modules/@bytecodealliance/jco-transpile/vendor/*.wasm",
  },
  {
    modules: ["plugins/store/sqlite/keyv"],
    external: ["keyv"],
    without: ["better-sqlite3", "bun:sqlite"],
  },
  {
    modules: ["plugins/tui/text/highlighter-worker"],
    inside: "kernel/text/code-colours",
    external: [],
    without: [],
  },
];

/** The options of each bundle, for whoever wants to know what goes into it. */
export const bundleOptions = (): readonly BuildOptions[] => BUNDLES.map(optionsOf);

function optionsOf({ modules, external, without }: Bundle): BuildOptions {
  return {
    entryPoints: modules.map((module) => join(ROOT, `${module}.ts`)),
    absWorkingDir: ROOT,
    outbase: ROOT,
    chunkNames: join(dirname(modules[0]), "[name]-[hash]"),
    bundle: true,
    splitting: true,
    platform: "node",
    format: "esm",
    target: "node26",
    external: [...external],
    plugins: without.map(leaveOut),
    logLevel: "error",
  };
}

async function writeBundle(bundle: Bundle, folder: string): Promise<void> {
  const { modules, inside, files } = bundle;
  const { metafile } = await build({ ...optionsOf(bundle), outdir: folder, metafile: true });
  if (inside !== undefined) await rm(join(folder, `${inside}.js`));
  const place = dirname(join(folder, modules[0]));
  if (files !== undefined)
    for await (const file of glob(files, { cwd: ROOT }))
      await copyFile(join(ROOT, file), join(place, basename(file)));
  await writeFile(
    join(place, `${basename(modules[0])}.LICENSE`),
    await licenses(Object.keys(metafile.inputs)),
  );
}

function leaveOut(name: string): Plugin {
  return {
    name: `without ${name}`,
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^/ }, ({ path }) => (path === name ? { path, namespace: name } : undefined));
      onLoad({ filter: /^/, namespace: name }, () => ({
        contents: `module.exports = new Proxy({}, { get() { throw new Error("${name} is not bundled"); } });`,
      }));
    },
  };
}

/** Returns the folders of the packages that these files are from, as the lock file names them. */
export function packagesOf(files: readonly string[]): readonly string[] {
  return [
    ...new Set(files.flatMap((file) => /node_modules\/.*$/.exec(file)?.[0].match(PACKAGE)?.[0] ?? [])),
  ].sort();
}

const PACKAGE = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/;

async function licenses(inputs: readonly string[]): Promise<string> {
  const texts = packagesOf(inputs).map(async (path) => {
    const text = await readFile(join(ROOT, path, "LICENSE"), "utf8");
    return `${path.replace(/^.*node_modules\//, "")}\n\n${text.trim()}\n`;
  });
  return (await Promise.all(texts)).join("\n\n");
}

// `node .package/bundle.ts <folder>`
if (import.meta.main) {
  const [folder = "dist"] = parseArgs({ allowPositionals: true }).positionals;
  for (const wanted of BUNDLES) await writeBundle(wanted, resolve(ROOT, folder));
}
