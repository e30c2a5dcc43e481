/** `postern config get|set|unset`: the settings that are kept in the store, which a running service follows. */

import type { ChangeableSetting, SettingValues, StoredSettings } from "../../../plugins/store/services.ts";
import { type AnyPlugin, Fault } from "../../plugin.ts";
import { liveReaders } from "../../settings/live.ts";
import { say, sayJson } from "../../terminal/output.ts";
import { isInteractive, readSecret } from "../../terminal/secret-input.ts";
import { findSimilar } from "../../text/similar.ts";
import { OPERATOR } from "../../vocabulary/user.ts";
import { findRunning } from "../service/home.ts";
import type { Session } from "../service/session.ts";
import type { OperatorContext } from "./context.ts";

/** `words`: a name and its value, or any number of `NAME=value`, with the bare name of a secret. */
export async function setSettings(
  words: readonly string[],
  json: boolean,
  context: OperatorContext,
): Promise<void> {
  await change(context, json, async (settings) => valuesOf(pairsOf(words), await settings.list()));
}

export async function unsetSettings(
  names: readonly string[],
  json: boolean,
  context: OperatorContext,
): Promise<void> {
  await change(context, json, async () => Object.fromEntries(names.map((name) => [name, null])));
}

async function change(
  line: OperatorContext,
  json: boolean,
  read: (settings: StoredSettings) => Promise<SettingValues>,
): Promise<void> {
  const session = await line.open();
  const plugins = await line.allPlugins(session);
  const context = await line.contextOf(session, async () => plugins);
  await context.with(["settings"], async ({ settings }) => {
    const values = await read(settings);
    refuseUnknown(Object.keys(values), declaredBy(session, plugins));
    await settings.change(values, OPERATOR);
    const changed = (await settings.list()).filter(({ name }) => name in values);
    if (json) return sayJson({ settings: changed.map(shown) }, 2);
    for (const setting of changed) say(`${setting.name} is ${wordsOf(setting)}\n`);
    say(
      findRunning(session.home) === undefined
        ? "It counts from the next start on.\n"
        : "The running service uses it from the next turn on.\n",
    );
  });
}

/** The names of all settings, also of those that the store cannot hold. */
function declaredBy({ settings }: Session, plugins: readonly AnyPlugin[]): readonly string[] {
  for (const { name, configure } of plugins)
    try {
      configure(settings.for(name));
    } catch {
      // It says so when it is started; what it read until then is known.
    }
  for (const { plugin, read } of liveReaders(plugins)) read(settings.for(plugin));
  return settings.declared.map(({ name }) => name);
}

function refuseUnknown(names: readonly string[], known: readonly string[]): void {
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length === 0) return;
  const message = unknown.map((name) => noSuchSetting(name, known)).join("\n");
  throw new Fault("missing", "no_such_setting", message, { usage: true });
}

export function noSuchSetting(name: string, known: readonly string[]): string {
  const meant = findSimilar(name, known);
  const hint = meant === undefined ? '"postern config --all" lists all.' : `Did you mean ${meant}?`;
  return `There is no setting ${name}. ${hint}`;
}

function pairsOf(words: readonly string[]): readonly (readonly [string, string | undefined])[] {
  const [name = "", value] = words;
  if (words.length === 2 && !name.includes("=")) return [[name, value]];
  return words.map((word) => {
    const at = word.indexOf("=");
    return at === -1 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
  });
}

async function valuesOf(
  pairs: ReturnType<typeof pairsOf>,
  known: readonly ChangeableSetting[],
): Promise<SettingValues> {
  const values: Record<string, string> = {};
  const isSecret = (name: string) => known.find((setting) => setting.name === name)?.isSecret === true;
  const secrets = pairs.filter(([name]) => isSecret(name));
  if (secrets.length > 1 && !isInteractive())
    throw usage("Standard input holds one secret: set them one after the other.");
  for (const [name, value] of pairs) {
    if (isSecret(name)) {
      if (value !== undefined)
        throw usage(
          `${name} is a secret and is not taken from the arguments, which end up in your shell's history: leave its value out and type it when asked, or pipe it in.`,
        );
      values[name] = await readSecret(name);
    } else if (value === undefined) throw usage(`Give a value: postern config set ${name} <value>`);
    else values[name] = value;
  }
  return values;
}

function wordsOf({ isSecret, isSet, value, source }: ChangeableSetting): string {
  const text = isSecret ? (isSet ? "set, hidden" : "not set") : (value ?? "not set");
  return source === "stored" ? text : `${text} (${source})`;
}

function shown({ name, value, isSecret, isSet, source }: ChangeableSetting) {
  return { name, value: value ?? null, secret: isSecret, set: isSet, source };
}

const usage = (message: string) => new Fault("invalid", "usage", message, { usage: true });
