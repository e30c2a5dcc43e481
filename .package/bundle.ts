/**
 * For the published package, bundles each program of it: the service, whose start is mostly the loading of files, the code of a tool's
 * process and the other threads; and with them the packages that would bring far more than we use: as dependencies they would install 130 MB
 * that are never loaded, and compile a SQLite that nobody opens.
 */
import { copyFile, glob, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import standalone from "ajv/dist/standalone/index.js";
import { type BuildOptions, build, type Plugin } from "esbuild";
import { MANIFEST, ROOT } from "../kernel/package.ts";
import { COMPILED, compilerOf } from "../kernel/schema/check.ts";

interface Bundle {
  /** What is loaded by its path. They share code that is bundled once. */
  readonly modules: readonly [string, ...string[]];
  /** Not bundled: these stay dependencies. */
  readonly external: readonly string[];
  /** Imported by code that we do not run. */
  readonly without?: readonly string[];
  /** Files that the code looks for beside itself. */
  readonly files?: string;
}

const allBut = (...names: readonly string[]) =>
  Object.keys({ ...MANIFEST.dependencies, ...MANIFEST.devDependencies }).filter(
    (name) => !names.includes(name),
  );

const BUNDLES: readonly Bundle[] = [
  {
    modules: ["kernel/cli/main", "kernel/plugin", "kernel/kit", "plugins/contract/channel-contract"],
    external: allBut("@keyv/sqlite"),
    without: ["better-sqlite3", "bun:sqlite"],
  },
  {
    // They may read little else than this folder.
    modules: ["host/sandbox/inside/child", "host/sandbox/inside/worker"],
    external: ["piscina", "@bytecodealliance/preview2-shim/*"],
    without: ["oxc-minify"],
    files: "node_modules/@bytecodealliance/jco-transpile/vendor/*.wasm",
  },
  { modules: ["plugins/tui/text/highlighter-worker"], external: [] },
  ...[
    "host/author/build/maker",
    "plugins/agent/threads/attachments/pdf-child",
    "plugins/email/reading/mail-worker",
    "plugins/memory/embedding-worker",
    "plugins/telemetry/tracing/sender-worker",
    "plugins/workspace/search-worker",
  ].map((module): Bundle => ({ modules: [module], external: allBut() })),
];

/** The options of each bundle, for whoever wants to know what goes into it. */
export const bundleOptions = (): readonly BuildOptions[] => BUNDLES.map(optionsOf);

function optionsOf({ modules, external, without = [] }: Bundle): BuildOptions {
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
    plugins: [compileSchemas, ...without.map(leaveOut)],
    logLevel: "error",
  };
}

async function writeBundle(bundle: Bundle, folder: string): Promise<void> {
  const { modules, files } = bundle;
  const { metafile } = await build({ ...optionsOf(bundle), outdir: folder, metafile: true });
  const place = dirname(join(folder, modules[0]));
  if (files !== undefined)
    for await (const file of glob(files, { cwd: ROOT }))
      await copyFile(join(ROOT, file), join(place, basename(file)));
  const texts = await licenses(Object.keys(metafile.inputs));
  if (texts !== "") await writeFile(join(place, `${basename(modules[0])}.LICENSE`), texts);
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

/** Loading Ajv and compiling the schema of capabilities files would be a third of what `postern tool list` does. */
const compileSchemas: Plugin = {
  name: "compiled schemas",
  setup({ onLoad }) {
    onLoad({ filter: /capabilities\/(?:servers\/)?schema\.json$/ }, async ({ path }) => {
      const schema = JSON.parse(await readFile(path, "utf8"));
      const compiler = compilerOf(false, false);
      const code = standalone.default(compiler, compiler.compile(schema));
      const key = `Symbol.for(${JSON.stringify(COMPILED.description)})`;
      const imported = code
        .replace(/export default \w+;/, "")
        .replaceAll(
          /const (\w+) = require\("(.+?)"\)\.default;/g,
          'import $1Module from "$2.js"; const $1 = $1Module.default;',
        );
      return {
        contents: `${imported}\nexport default { ...${JSON.stringify(schema)}, [${key}]: validate };`,
      };
    });
  },
};

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
