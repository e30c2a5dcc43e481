/**
 * For the published package, bundles each program of it: the service, whose start is mostly the loading of files, the code of a tool's
 * process and the other threads. With them are all packages but those that look for files of their own, have native code, or declare types that
 * our declarations use: a package brings far more than is used of it, and each of its files takes a start half a millisecond.
 */
import { globSync, readFileSync } from "node:fs";
import { copyFile, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import standalone from "ajv/dist/standalone/index.js";
import { type OutputChunk, type Plugin, type RolldownBuild, rolldown } from "rolldown";
import { PACKAGES } from "../host/author/build/toolchain.ts";
import { MANIFEST, ROOT } from "../kernel/package.ts";
import type { JsonSchema } from "../kernel/plugin.ts";
import { COMPILED } from "../kernel/schema/check.ts";
import { compilerOf } from "../kernel/schema/compiler.ts";

interface Program {
  /** The modules that are loaded by their path. Code that they share is bundled once. */
  readonly modules: readonly [string, ...string[]];
  /** Not bundled: these stay dependencies. */
  readonly external: readonly string[];
  /** Imported by code that we do not run. */
  readonly without?: readonly string[];
  /** Files that the code looks for beside itself. */
  readonly files?: string;
  /** The oldest Node it runs on, if that is not the one that comes with the package. */
  readonly target?: string;
}

/** These packages are installed with Postern, or fetched for building. Every other one is bundled; it is a development dependency. */
const OUTSIDE = [...Object.keys(MANIFEST.dependencies), ...Object.keys(PACKAGES)];

const PROGRAMS: readonly Program[] = [
  {
    modules: [
      ...(["kernel/cli/main", "kernel/plugin"] as const),
      ...globSync("kernel/kit/*.ts", { cwd: ROOT }).map((file) => file.replace(/\.ts$/, "")),
      "test/channel-contract/channel-contract",
    ],
    external: OUTSIDE,
    without: ["better-sqlite3", "bun:sqlite", "pg-native", "react-devtools-core"],
  },
  {
    // A program of its own: what imports it loads nothing of the service.
    modules: ["host/library/tool-host"],
    external: OUTSIDE,
    without: ["better-sqlite3", "bun:sqlite"],
    target: "node22",
  },
  {
    // They may read little else than this folder.
    modules: ["host/sandbox/inside/child", "host/sandbox/inside/worker"],
    external: ["piscina", "@bytecodealliance/preview2-shim"],
    without: ["oxc-minify"],
    files: "node_modules/@bytecodealliance/jco-transpile/vendor/*.wasm",
  },
  { modules: ["plugins/tui/text/highlighter-worker"], external: [] },
  {
    modules: ["plugins/messaging/charts/chart-worker"],
    external: OUTSIDE,
    files: "node_modules/roboto-fontface/fonts/roboto/Roboto-Regular.woff",
  },
  ...[
    "host/author/build/maker",
    "kernel/files/document-child",
    "kernel/text/text-worker",
    "plugins/email/reading/mail-worker",
    "plugins/memory/embedding-worker",
    "plugins/telemetry/tracing/sender-worker",
    "plugins/workspace/search-worker",
  ].map((module): Program => ({ modules: [module], external: OUTSIDE })),
];

/** Harmless: a module that is loaded when needed is part of what is always loaded, or asks for what only other compilers read. */
const EXPECTED = new Set(["INEFFECTIVE_DYNAMIC_IMPORT", "MODULE_LEVEL_DIRECTIVE"]);
/** One wraps old functions of Koa by `eval`, to warn of them; the other hides its optional Redis clients, which we have not, from bundlers. */
const MAY_EVAL = /node_modules\/(?:depd|bottleneck)\//;

/** True for the name of one of these packages, or of a module in it. */
const isOneOf = (packages: readonly string[], id: string) =>
  packages.some((name) => id === name || id.startsWith(`${name}/`));

const open = (
  { modules, external, without = [], target }: Program,
  places: Map<string, string>,
): Promise<RolldownBuild> =>
  rolldown({
    input: Object.fromEntries(modules.map((module) => [module, join(ROOT, `${module}.ts`)])),
    cwd: ROOT,
    platform: "node",
    external: (id) => isOneOf(external, id),
    ...(target && { transform: { target } }),
    plugins: [compileSchemas, importPlugins, bundleRequired, placeModules(places), ...without.map(leaveOut)],
    onLog(_level, { code = "", message }) {
      const isExpected = EXPECTED.has(code) || (code === "EVAL" && MAY_EVAL.test(message));
      if (!isExpected) throw new Error(message);
    },
  });

async function writeProgram(program: Program, folder: string): Promise<void> {
  const { modules, target } = program;
  const places = new Map<string, string>();
  const bundle = await open(program, places);
  const { output } = await bundle.write({
    dir: folder,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: `${dirname(modules[0])}/[name].js`,
    comments: false,
    ...(target === undefined && {
      codeSplitting: {
        groups: Object.keys(TOGETHER).map((name) => ({ name, test: (id) => places.get(id) === name })),
      },
    }),
  });
  const place = dirname(join(folder, modules[0]));
  for (const file of copiedBy(program)) await copyFile(join(ROOT, file), join(place, basename(file)));
  const texts = await licenses(packagesOf([...filesIn(output), ...copiedBy(program)]));
  if (texts !== "") await writeFile(join(place, `${basename(modules[0])}.LICENSE`), texts);
}

const copiedBy = ({ files }: Program) => (files === undefined ? [] : globSync(files, { cwd: ROOT }));

const filesIn = (output: readonly { readonly type: string }[]) =>
  output
    .filter((part): part is OutputChunk => part.type === "chunk")
    .flatMap(({ moduleIds }) => moduleIds.map((id) => relative(ROOT, id)));

/** Returns the packages that are inside of the bundles, as the lock file names them. */
export async function bundledPackages(): Promise<readonly string[]> {
  const outputs = await Promise.all(
    PROGRAMS.map(async (program) => (await open(program, new Map())).generate()),
  );
  const files = outputs.flatMap(({ output }) => filesIn(output));
  return packagesOf([...files, ...PROGRAMS.flatMap(copiedBy)]);
}

/**
 * Modules that are loaded at the same time, and all that they import: one file each, which takes half a millisecond less than every file that it
 * is made of. What several of these would have is in the first.
 */
const TOGETHER: Readonly<Record<string, RegExp>> = {
  every: /^kernel\/cli\/main\.ts$/,
  home: /^(?:kernel\/cli\/(?:service\/session|command-context)|plugins\/store\/(?:access|start))\.ts$/,
  tools: /^host\/(?:(?:service|tool)-host|commands\/tool)\.ts$/,
  doctor:
    /^(?:host\/diagnosis|kernel\/cli\/operator\/doctor|plugins\/(?:models\/choice\/check|(?:accounts|home|messaging|store\/maintenance)\/diagnosis))\.ts$/,
};

/** Fills in which of them each module belongs to. */
const placeModules = (places: Map<string, string>): Plugin => ({
  name: "modules that are loaded together",
  buildEnd() {
    const add = (id: string, name: string) => {
      const module = this.getModuleInfo(id);
      if (module === null || places.has(id)) return;
      places.set(id, name);
      for (const imported of module.importedIds) add(imported, name);
    };
    for (const [name, roots] of Object.entries(TOGETHER))
      for (const id of this.getModuleIds()) if (roots.test(relative(ROOT, id))) add(id, name);
  },
});

/** Every command loads every plugin's `plugin.ts`, which says what it offers: no files of their own. Only a client of another service loads the client's. */
const importPlugins: Plugin = {
  name: "plugins",
  transform(code, id) {
    if (id !== join(ROOT, "kernel/cli/main.ts")) return undefined;
    const imports: string[] = [];
    const named = code.replaceAll(/\bimport\(("(?!.*\/client\/)[^"]+\/plugin\.ts")\)/g, (_, path) => {
      imports.push(`import * as plugin${imports.length} from ${path};`);
      return `Promise.resolve(plugin${imports.length - 1})`;
    });
    return { code: `${imports.join("\n")}\n${named}` };
  },
};

/** Looks for a package where the program runs. */
const LOOKED_FOR =
  /(?:createRequire\(import\.meta\.url\)(?:\.resolve)?|import\.meta\.resolve)(?:\("([^"]+)"\))?/g;

/** Packages that our own modules load when they first need them, without waiting for it: in a bundle their code runs then. */
const bundleRequired: Plugin = {
  name: "required packages",
  transform(code, id) {
    if (!id.startsWith(ROOT) || id.includes("/node_modules/")) return undefined;
    const bundled = code.replaceAll(/createRequire\(import\.meta\.url\)(?=\(")/g, "require");
    for (const [look, name = ""] of bundled.matchAll(LOOKED_FOR))
      if (!isOneOf(OUTSIDE, name)) throw new Error(`${id}: ${look} finds only packages that are installed`);
    return bundled === code ? undefined : { code: bundled };
  },
};

function leaveOut(name: string): Plugin {
  const id = `\0without ${name}`;
  const code = `module.exports = new Proxy({}, { get() { throw new Error("${name} is not bundled"); } });`;
  return {
    name: id,
    resolveId: (path) => (path === name ? id : undefined),
    load: (path) => (path === id ? code : undefined),
  };
}

/** Loading Ajv and compiling the schema of capabilities files would be a third of what `postern tool list` does. */
const SCHEMAS = new Map(
  ["capabilities/schema.json", "capabilities/servers/schema.json"].map((file) => [
    join(ROOT, file),
    compileSchema(JSON.parse(readFileSync(join(ROOT, file), "utf8"))),
  ]),
);

function compileSchema(schema: JsonSchema): string {
  const compiler = compilerOf(false, false);
  const code = standalone.default(compiler, compiler.compile(schema)).replace(/export default \w+;/, "");
  const key = `Symbol.for(${JSON.stringify(COMPILED.description)})`;
  return `${code}\nexport default { ...${JSON.stringify(schema)}, [${key}]: validate };`;
}

const compileSchemas: Plugin = {
  name: "compiled schemas",
  load(path) {
    const code = SCHEMAS.get(path);
    return code === undefined ? undefined : { code, moduleType: "js" };
  },
};

/** Returns the folders of the packages that these files are from, as the lock file names them. */
export function packagesOf(files: readonly string[]): readonly string[] {
  return [
    ...new Set(files.flatMap((file) => /node_modules\/.*$/.exec(file)?.[0].match(PACKAGE)?.[0] ?? [])),
  ].sort();
}

const PACKAGE = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/;

async function licenses(packages: readonly string[]): Promise<string> {
  const texts = packages.map(async (path) => {
    const folder = join(ROOT, path);
    const file = (await readdir(folder)).find((name) => /^licen[cs]e\b/i.test(name));
    const text =
      file === undefined ? await statedLicense(folder) : await readFile(join(folder, file), "utf8");
    return `${path.replace(/^.*node_modules\//, "")}\n\n${text.trim()}\n`;
  });
  return (await Promise.all(texts)).join("\n\n");
}

async function statedLicense(folder: string): Promise<string> {
  const { license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  return `Its package has no text of a licence. It states: ${license}`;
}

// `node .package/bundle.ts <folder>`
if (import.meta.main) {
  const [folder = "dist"] = parseArgs({ allowPositionals: true }).positionals;
  for (const program of PROGRAMS) await writeProgram(program, resolve(ROOT, folder));
}
