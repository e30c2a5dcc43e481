/** `postern config get|set|unset`: the settings that are kept in the store, which a running service follows. */

import type { ChangeableSetting, SettingValues, StoredSettings } from "../../../plugins/store/services.ts";
import { Fault } from "../../plugin.ts";
import { say, sayJson } from "../../terminal/output.ts";
import { isInteractive, readSecret } from "../../terminal/secret-input.ts";
import { OPERATOR } from "../../vocabulary/user.ts";
import { findRunning } from "../service/home.ts";
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
  const context = await line.contextOf(session, () => line.allPlugins(session));
  await context.with(["settings"], async ({ settings }) => {
    const values = await read(settings);
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
