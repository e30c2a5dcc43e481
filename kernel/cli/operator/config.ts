/** `postern config`: the settings that something set, or all of them, with where each came from; secrets are hidden. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { Fault, reason } from "../../plugin.ts";
import { liveReaders } from "../../settings/live.ts";
import { say, sayJson, typedCommand, warn } from "../../terminal/output.ts";
import { showPaged } from "../../terminal/pager.ts";
import { type TableOptions, table } from "../../terminal/table.ts";
import { type JsonOption, verb } from "../../terminal/verb.ts";
import { noSuchSetting, setSettings, unsetSettings } from "./config-change.ts";
import type { OperatorContext } from "./context.ts";

export function register(command: Command, context: OperatorContext): void {
  command
    .option("--all", "those with their defaults, too")
    .option("--json", "print JSON, of all settings")
    .enablePositionalOptions()
    .addHelpText(
      "after",
      `
Examples:
  $ postern config
  $ postern config --all
  $ postern config set DAILY_USD_CAP 5
  $ postern config --json | jq '.settings[] | select(.source != "default")'`,
    )
    .action(({ json = false, all = false }: JsonOption & { readonly all?: boolean }) =>
      showConfig(context, { json, all }),
    );
  verb(command, "get <name>", "print the value in use of one setting", "config get MODEL_NAME").action(
    (name: string, { json = false }: JsonOption) => showConfig(context, { json, only: name }),
  );
  command
    .command("set")
    .description("keep settings in the store, where a running service picks them up")
    .argument("<name[=value]...>", "a name and its value, or several NAME=value")
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      `
The environment and .env win: what they set is changed there. The value of a secret is asked for, or read from standard input.

Examples:
  $ postern config set CHAT_RATE_LIMIT 60
  $ postern config set ANTHROPIC_API_KEY
  $ postern config set OPENAI_API_KEY < key.txt
  $ postern config set MODEL_BASE_URL=http://127.0.0.1:8000/v1 MODEL_NAME=qwen MODEL_API_KEY`,
    )
    .action((words: readonly string[], { json = false }: JsonOption) => setSettings(words, json, context));
  const about = "remove settings from the store: their defaults count again";
  verb(command, "unset <name...>", about, "config unset DAILY_USD_CAP").action(
    (names: readonly string[], { json = false }: JsonOption) => unsetSettings(names, json, context),
  );
}

const HIDDEN = "(set, hidden)";

interface Row {
  readonly name: string;
  readonly plugin: string;
  readonly value: string | null;
  readonly source: string;
  readonly type: string;
  readonly about: string;
}

interface Shown {
  readonly json: boolean;
  readonly all?: boolean;
  readonly only?: string;
}

/** Shows the settings that something set, all of them, or the one that is named. */
async function showConfig(context: OperatorContext, { json, all = false, only }: Shown): Promise<void> {
  const session = await context.open();
  const { folder, home, given } = session;
  const [plugins, store] = await Promise.all([context.allPlugins(session), context.store()]);
  const { settings, ignored } = await store.peekSettings(session.settings, home, liveReaders(plugins));
  const broken: string[] = [];
  for (const plugin of plugins) {
    try {
      plugin.configure(settings.for(plugin.name));
    } catch (error) {
      broken.push(`plugin "${plugin.name}" cannot be configured: ${reason(error)}`);
    }
  }
  const declared = new Map(
    [...session.settings.declared, ...settings.declared].map((one) => [one.name, one]),
  );
  const rows = [...declared.values()].map(({ name, plugin, type, about, secret, source, value }) => ({
    ...{ name, plugin, type, about, secret },
    source: given.includes(name) ? "option" : source,
    value: secret && value !== undefined ? HIDDEN : (value ?? null),
  }));
  if (only !== undefined) return showOne(rows, only, json);
  const problems = [...session.settings.problems, ...settings.problems];
  if (json) {
    sayJson({ settings: rows, problems, ignored: Object.fromEntries(ignored) }, 2);
  } else {
    await showPaged(inGroups(rows, all), session.pager);
  }
  const here = join(folder, ".env");
  if (folder !== home && existsSync(here))
    warn(`postern: ${here} counts only where the service starts, so it is not shown here\n`);
  for (const [name, meant] of session.misspelled(declared.keys()))
    warn(`postern: ${name} is not a setting: did you mean ${meant}?\n`);
  for (const [name, why] of ignored) warn(`postern: the stored setting ${name} is ignored: ${why}\n`);
  if (broken.length > 0) throw new Fault("config", "bad_plugin", broken.join("\n"));
  session.settings.assertSound();
  settings.assertSound();
}

const UNSET: TableOptions["colours"] = { VALUE: (value) => (value === "(unset)" ? "gray" : undefined) };

/** By the plugin that reads them; without `all` only those that something other than the default gave a value. */
function inGroups(rows: readonly Row[], all: boolean): string {
  // Everybody has a PATH.
  const shown = rows.filter(({ name, source }) => all || (source !== "default" && name !== "PATH"));
  const groups = Map.groupBy(shown, ({ plugin }) => plugin);
  const tables = [...groups].map(([plugin, settings]) => {
    const lines = settings.map(({ name, value, source, about }) => [name, value ?? "(unset)", source, about]);
    return `${plugin}\n${table(["NAME", "VALUE", "FROM", "MEANING"], lines, { indent: "  ", colours: UNSET })}`;
  });
  const rest = rows.length - shown.length;
  const hint = `${shown.length === 0 ? "Nothing is set. " : ""}${rest} settings have their defaults: ${typedCommand()} config --all\n`;
  return [...tables, ...(rest > 0 ? [hint] : [])].join("\n");
}

function showOne(rows: readonly Row[], name: string, json: boolean): void {
  const row = rows.find((one) => one.name === name);
  if (row === undefined)
    throw new Fault(
      "missing",
      "no_such_setting",
      noSuchSetting(
        name,
        rows.map((one) => one.name),
      ),
    );
  if (json) sayJson(row, 2);
  else say(`${row.value ?? ""}\n`);
  if (row.value === null) process.exitCode = 1;
}
