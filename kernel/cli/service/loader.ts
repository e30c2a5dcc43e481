/** Third-party plugins: packages or paths named in `PLUGINS`, which import only `postern/plugin` and the doors in `postern/kit/`. */
import { createRequire, registerHooks } from "node:module";
import { isAbsolute, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Fault, reason } from "../../fault.ts";
import { moduleFile } from "../../package.ts";
import type { AnyPlugin } from "../../plugin.ts";

const DOOR = /^postern\/(plugin|kit\/\w+)$/;

export async function loadPlugins(names: readonly string[], folder: string): Promise<readonly AnyPlugin[]> {
  if (names.length === 0) return [];
  // A plugin gets the modules of the Postern that runs it, no matter what its own folder has installed.
  registerHooks({
    resolve(specifier, context, next) {
      const door = DOOR.exec(specifier)?.[1];
      if (door === undefined) return next(specifier, context);
      return { url: pathToFileURL(moduleFile(`kernel/${door}`)).href, shortCircuit: true };
    },
  });
  return Promise.all(names.map((name) => load(name, folder)));
}

async function load(name: string, folder: string): Promise<AnyPlugin> {
  let loaded: { default?: unknown };
  try {
    const isPath = name.startsWith(".") || isAbsolute(name);
    const file = isPath ? resolve(folder, name) : createRequire(join(folder, "package.json")).resolve(name);
    loaded = (await importModule(file)) as { default?: unknown };
  } catch (error) {
    throw refusal(
      name,
      `cannot be loaded (${reason(error)}): give the path of a module, or the name of a package installed in ${folder}`,
      error,
    );
  }
  const plugin = defaultOf(loaded.default);
  if (
    typeof plugin?.name !== "string" ||
    typeof plugin.configure !== "function" ||
    typeof plugin.start !== "function"
  ) {
    throw refusal(name, "is not a plugin: its default export must be what definePlugin() returns");
  }
  return plugin as AnyPlugin;
}

/** If the nearest package.json does not say "module", an ES module arrives wrapped in a CommonJS one. */
function defaultOf(exported: unknown): Partial<AnyPlugin> | undefined {
  const inner = (exported as { default?: unknown } | undefined)?.default;
  return (inner ?? exported) as Partial<AnyPlugin> | undefined;
}

/** tsx reads all of TypeScript, also in the published package; Node alone reads only what it can erase, and none in node_modules. */
async function importModule(file: string): Promise<unknown> {
  const url = pathToFileURL(file).href;
  if (!/\.[cm]?tsx?$/.test(file)) return import(url);
  const { tsImport } = await import("tsx/esm/api");
  return tsImport(url, import.meta.url);
}

function refusal(name: string, message: string, cause?: unknown): Fault {
  return new Fault("config", "bad_plugin", `PLUGINS: "${name}" ${message}`, { param: "PLUGINS", cause });
}
