/** `postern plugin …`: what each plugin needs, provides and adds, a look at one before it is ever started, and a new project. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { basename, join, resolve } from "node:path";
import type { Command } from "commander";
import { ROOT } from "../../package.ts";
import { type AnyPlugin, Fault, Off, reason } from "../../plugin.ts";
import { say, sayJson, warn } from "../../terminal/output.ts";
import { fields, table } from "../../terminal/table.ts";
import type { JsonOption } from "../../terminal/verb.ts";
import type { OperatorContext } from "./context.ts";

export function register(command: Command, context: OperatorContext): void {
  command.addHelpText(
    "after",
    `
Examples:
  $ postern plugin list
  $ postern plugin check ./my-chat
  $ postern plugin new my-chat`,
  );
  command
    .command("list")
    .description("list the plugins of this Postern and those in PLUGINS: whether each is on, and why not")
    .option("--json", "print JSON")
    .addHelpText("after", "\nExample:\n  $ postern plugin list --json | jq '.plugins[] | select(.on | not)'")
    .action(({ json = false }: JsonOption) => listPlugins(context, json));
  command
    .command("check")
    .description("show what a plugin needs, provides and adds, without starting it")
    .argument(
      "<package or folder>",
      "a file, a folder with a package.json, or the name of an installed package",
    )
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
Its module is loaded, so code outside of its functions runs. Nothing is opened, and the store is not touched.

Examples:
  $ postern plugin check ./my-chat
  $ postern plugin check postern-plugin-matrix --json`,
    )
    .action((name: string, { json = false }: JsonOption) => checkPlugin(context, name, json));
  command
    .command("new")
    .description("make a project for a channel of your own, with the contract suite wired in")
    .argument("<dir>", "the folder to make; its name becomes the channel's")
    .addHelpText(
      "after",
      "\nExample:\n  $ postern plugin new my-chat && cd my-chat && npm install && npm test",
    )
    .action((dir: string) => newPlugin(context, dir));
}

interface Description {
  readonly name: string;
  readonly kind: "channel" | "part" | "plugin";
  readonly on: boolean;
  readonly why?: string;
  readonly needs: readonly string[];
  readonly wants: readonly string[];
  readonly provides: readonly string[];
  readonly extends: readonly string[];
  readonly commands: readonly string[];
}

type Session = Awaited<ReturnType<OperatorContext["open"]>>;

function describe(plugin: AnyPlugin, { settings }: Session): Description {
  const { name, kind = "plugin", needs = [], wants = [], provides = [], operations } = plugin;
  const config = plugin.configure(settings.for(name));
  return {
    ...{ name, kind, on: !(config instanceof Off), ...(config instanceof Off && { why: config.why }) },
    ...{ needs, wants, provides, extends: plugin.extends ?? [] },
    commands: (operations?.commands ?? []).map((command) => command.name),
  };
}

async function listPlugins(context: OperatorContext, json: boolean): Promise<void> {
  const session = await context.open();
  const plugins = (await context.allPlugins(session))
    .filter(({ kind }) => kind !== "part")
    .map((plugin) => describe(plugin, session));
  if (json) return sayJson({ plugins });
  const rows = plugins.map(({ name, kind, on, why = "", needs, provides }) => [
    ...[name, kind, on ? "on" : "off", provides.join(", "), on ? needs.join(", ") : why],
  ]);
  say(table(["PLUGIN", "KIND", "STATE", "PROVIDES", "NEEDS, OR WHY IT IS OFF"], rows));
}

async function checkPlugin(context: OperatorContext, given: string, json: boolean): Promise<void> {
  const folder = process.cwd();
  const path = resolve(folder, given);
  const isPath =
    given.startsWith(".") || given.includes("/")
      ? existsSync(path)
      : statSync(path, { throwIfNoEntry: false });
  const session = await context.open({ given: { PLUGINS: isPath ? entryOf(path) : given } });
  const shipped = new Set((await context.shippedPlugins()).map(({ name }) => name));
  const all = await context.allPlugins(session);
  const plugin = all.findLast(({ name }) => !shipped.has(name));
  if (plugin === undefined) {
    const message = `PLUGINS: ${given} has the name of a plugin that Postern ships: rename it`;
    throw new Fault("config", "bad_plugin", message);
  }
  const found = describe(plugin, session);
  const services = new Set(["kernel", ...all.flatMap(({ provides = [] }) => provides)]);
  const missing = found.needs.filter((service) => !services.has(service));
  const replaces = all.flatMap((one) => {
    const config = shipped.has(one.name) ? one.configure(session.settings.for(one.name)) : undefined;
    return config instanceof Off && config.why === `replaced by ${plugin.name}` ? [one.name] : [];
  });
  const tables = (await plugin.operations?.tables?.()) ?? [];
  const settings = session.settings.declared.filter((setting) => setting.plugin === plugin.name);
  const problems = session.settings.problems.map(
    ({ name, given: value, accepted }) => `${name}=${value} cannot be used: it takes ${accepted}`,
  );
  for (const service of missing) problems.push(`it needs the service "${service}", which no plugin provides`);
  if (problems.length > 0) process.exitCode = 1;
  if (json)
    return sayJson({
      ...found,
      ...{ replaces, keeps: tables.map(({ owner }) => owner), problems },
      settings: settings.map(({ name, type, about }) => ({ name, type, about })),
    });
  const words = (names: readonly string[]) => (names.length === 0 ? "nothing" : names.join(", "));
  say(
    fields([
      ["name", `${found.name}${found.kind === "channel" ? ", a channel" : ""}`],
      ["needs", words(found.needs)],
      ["can use", words(found.wants)],
      ["provides", words(found.provides)],
      ["adds to", words(found.extends)],
      ["replaces", words(replaces)],
      ["commands", words(found.commands.map((name) => `postern ${name}`))],
      ["keeps", tables.length === 0 ? "nothing" : "tables in the store"],
      ...settings.map(({ name, about = "" }, at) => [at === 0 ? "settings" : "", `${name}: ${about}`]),
    ]),
  );
  for (const problem of problems) warn(`postern: ${problem}\n`);
  if (problems.length === 0)
    say(
      found.on
        ? `Nothing is wrong as far as can be told without starting it. To start it: PLUGINS=${given} postern serve\n`
        : `It would be off: ${found.why}\n`,
    );
}

/** The module of a folder is the one that its package.json names. */
function entryOf(path: string): string {
  if (!statSync(path).isDirectory()) return path;
  const manifest = join(path, "package.json");
  try {
    const { name, exports } = JSON.parse(readFileSync(manifest, "utf8")) as {
      name?: string;
      exports?: unknown;
    };
    const require = createRequire(manifest);
    return require.resolve(exports !== undefined && name !== undefined ? name : path);
  } catch (error) {
    const message = `${path} has no module to load (${reason(error)}): its package.json must name one in "exports" or "main"`;
    throw new Fault("config", "bad_plugin", message, { cause: error });
  }
}

const TEMPLATE = join(ROOT, "plugins", "template");

function newPlugin({ version }: OperatorContext, dir: string): void {
  const place = resolve(dir);
  const name = basename(place);
  if (!/^[a-z][a-z0-9-]{0,39}$/.test(name)) {
    const message = `"${name}" cannot be the name of a channel: use small letters, digits and dashes`;
    throw new Fault("invalid", "bad_name", message, { usage: true });
  }
  if (existsSync(place) && readdirSync(place).length > 0)
    throw new Fault("invalid", "folder_not_empty", `${dir} is not empty: choose another folder`, {
      usage: true,
    });
  mkdirSync(place, { recursive: true });
  cpSync(TEMPLATE, place, { recursive: true });
  // npm and the site of the documents would take these for their own.
  renameSync(join(place, "gitignore"), join(place, ".gitignore"));
  renameSync(join(place, "readme.txt"), join(place, "README.md"));
  const table = name.replaceAll("-", "_");
  const words = new Map(Object.entries({ name, table, version, SETTING: table.toUpperCase() }));
  for (const file of ["channel.ts", "channel.test.ts", "package.json", "README.md"]) {
    const path = join(place, file);
    const text = readFileSync(path, "utf8").replaceAll(
      /\{\{(\w+)\}\}/g,
      (_, key: string) => words.get(key) ?? "",
    );
    writeFileSync(path, text);
  }
  say(`Created ${dir}. Next:\n  cd ${dir}\n  npm install\n  npm test\n  npx postern plugin check .\n`);
}
