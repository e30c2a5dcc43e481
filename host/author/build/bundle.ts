/** One script of a project's sources and the npm packages they use. */
import { join, relative, resolve } from "node:path";
import type { BuildFailure } from "esbuild";
import { insteadOfModule } from "../../calls/missing-names.ts";
import { type Project, WIT } from "../project.ts";
import type { Engine, Script } from "./engines.ts";
import { buildFault } from "./mistakes.ts";

/** Stands for the global `fetch` while we look whether it is used; asking for its type is no use. */
const FETCH = "POSTERN_FETCH";
const USES_FETCH = new RegExp(`(?<!\\btypeof )\\b${FETCH}\\b`);

const QUICKJS_GLOBALS = "quickjs-globals.js";

export async function bundle(project: Project, engine: Engine): Promise<Script> {
  const globals = engine === "quickjs" ? [QUICKJS_GLOBALS] : [];
  const define = { fetch: FETCH, "globalThis.fetch": FETCH, "self.fetch": FETCH };
  const script = await bundleWith(project, globals, define);
  if (!USES_FETCH.test(script.source)) return script;
  if (engine === "quickjs") {
    const message =
      "it uses fetch, which QuickJS does not have: use httpRequest of postern:tool/host, or build it without --engine quickjs";
    throw buildFault([{ file: relative(project.folder, project.entry), line: 0, column: 0, message }]);
  }
  return { ...(await bundleWith(project, ["fetch.js"])), usesFetch: true };
}

/** `globals` are files beside the WIT that run before the project's own. */
async function bundleWith(
  project: Project,
  globals: readonly string[],
  define: Readonly<Record<string, string>> = {},
): Promise<Script> {
  const { build } = await import("esbuild");
  // QuickJS lacks most of what the web has: packages that know engines like it have a form for React Native's.
  const isBare = globals.includes(QUICKJS_GLOBALS);
  // Nothing is written there: it is the place from which the source map counts.
  const file = join(project.folder, "tool.js");
  const { metafile, outputFiles } = await build({
    entryPoints: [project.entry],
    absWorkingDir: project.folder,
    outfile: file,
    write: false,
    bundle: true,
    format: "esm",
    target: "es2023",
    platform: "neutral",
    // A tool has what the web has, and nothing of Node's: packages often come in two forms.
    mainFields: ["browser", "module", "main"],
    conditions: [...(isBare ? ["react-native"] : []), "worker", "browser", "import", "default"],
    external: ["postern:*"],
    inject: globals.map((name) => join(WIT, name)),
    define,
    sourcemap: "external",
    // It goes into the component; what is published there are the names of the sources, not the sources.
    sourcesContent: false,
    metafile: true,
    logLevel: "silent",
  }).catch((error: unknown) => {
    throw isBuildFailure(error) ? explain(error, project) : error;
  });
  const exported = Object.values(metafile.outputs).flatMap((output) => output.exports);
  if (!exported.includes("tool")) {
    const message = `it must export "tool", an object with description, schema and execute; it exports ${exported.join(", ") || "nothing"}`;
    throw buildFault([{ file: relative(project.folder, project.entry), line: 0, column: 0, message }]);
  }
  const written = (path: string) => outputFiles.find((output) => output.path === path)?.text ?? "";
  const map = JSON.parse(written(`${file}.map`)) as { sources: string[] };
  // The path of this installation is nobody's business.
  const nameOf = (source: string) => {
    const own = relative(WIT, resolve(project.folder, source));
    return globals.includes(own) ? `postern:${own}` : source;
  };
  map.sources = map.sources.map(nameOf);
  const imported = Object.values(metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path));
  return {
    source: written(file),
    usesFetch: false,
    interfaces: imported.flatMap((path) => /^postern:tool\/([a-z-]+)@/.exec(path)?.[1] ?? []),
    map: JSON.stringify(map),
    // Ours change with our version.
    inputs: Object.keys(metafile.inputs).filter((path) => nameOf(path) === path),
  };
}

function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && Array.isArray((error as Partial<BuildFailure>).errors);
}

function explain({ errors }: BuildFailure, project: Project): Error {
  return buildFault(
    errors.map(({ text, location }) => ({
      file: location?.file ?? relative(project.folder, project.entry),
      line: location?.line ?? 0,
      // esbuild counts columns from 0.
      column: (location?.column ?? -1) + 1,
      message: text.startsWith("Could not resolve") ? `${text}: ${unresolved(text)}` : text,
    })),
  );
}

function unresolved(text: string): string {
  const [, specifier = ""] = /"(.*)"/.exec(text) ?? [];
  return insteadOfModule(specifier) ?? "is it installed?";
}
