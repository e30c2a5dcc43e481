/** `postern config get|set|unset`: the settings that are kept in the store, which a running service follows. */
import { Fault } from "../../fault.ts";
import type { AnyPlugin } from "../../plugin.ts";
import type { ChangeableSetting, SettingValues, StoredSettings } from "../../settings/live.ts";
import { say, sayJson } from "../../terminal/output.ts";
import { isInteractive, readSecret } from "../../terminal/secret-input.ts";
import { OPERATOR } from "../../vocabulary/user.ts";
import { createCommandContext } from "../command-context.ts";
import { findRunning } from "../service/home.ts";
import type { Session } from "../service/session.ts";

export interface ChangeParts {
  readonly session: Session;
  readonly version: string;
  readonly json: boolean;
  plugins(): Promise<readonly AnyPlugin[]>;
}

/** `words`: a name and its value, or any number of `NAME=value`, with the bare name of a secret. */
export async function setSettings(words: readonly string[], parts: ChangeParts): Promise<void> {
  await withSettings(parts, async (settings) => {
    const known = await settings.list();
    await change(settings, await valuesOf(pairsOf(words), known), parts);
  });
}

export async function unsetSettings(names: readonly string[], parts: ChangeParts): Promise<void> {
  await withSettings(parts, (settings) =>
    change(settings, Object.fromEntries(names.map((name) => [name, null])), parts),
  );
}

async function withSettings(
  { session, plugins, version }: ChangeParts,
  work: (settings: StoredSettings) => Promise<void>,
): Promise<void> {
  await createCommandContext(session, plugins, version).with(["settings"], ({ settings }) => work(settings));
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

async function change(settings: StoredSettings, values: SettingValues, parts: ChangeParts): Promise<void> {
  await settings.change(values, OPERATOR);
  const changed = (await settings.list()).filter(({ name }) => name in values);
  if (parts.json) return sayJson({ settings: changed.map(shown) }, 2);
  const isRunning = findRunning(parts.session.home) !== undefined;
  for (const setting of changed) say(`${setting.name} is ${wordsOf(setting)}\n`);
  say(
    isRunning
      ? "The running service uses it from the next turn on.\n"
      : "It counts from the next start on.\n",
  );
}

function wordsOf({ isSecret, isSet, value, source }: ChangeableSetting): string {
  const text = isSecret ? (isSet ? "set, hidden" : "not set") : (value ?? "not set");
  return source === "stored" ? text : `${text} (${source})`;
}

function shown({ name, value, isSecret, isSet, source }: ChangeableSetting) {
  return { name, value: value ?? null, secret: isSecret, set: isSet, source };
}

const usage = (message: string) => new Fault("invalid", "usage", message, { usage: true });
