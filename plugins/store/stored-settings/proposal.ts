/** Changes of stored settings, looked at before anything is stored: all of them can be had, or every reason why not. Pure. */

import {
  changeable,
  type LiveReader,
  readAll,
  type Settings,
  type StoredValue,
} from "../../../kernel/kit/settings.ts";
import { Fault } from "../../../kernel/plugin.ts";
import type { SettingValues } from "../services.ts";
import { added, describe, type Layered } from "./layers.ts";

const MAX_LENGTH = 10_000;

interface Refusal {
  readonly param: string;
  readonly message: string;
}

export interface Proposal {
  readonly settings: Settings;
  /** The values to store; undefined where a row goes. */
  readonly written: ReadonlyMap<string, StoredValue | undefined>;
}

/** A value that is empty counts as none, as in the environment. */
export function propose(
  given: Settings,
  readers: readonly LiveReader[],
  now: Pick<Layered, "settings" | "stored">,
  values: SettingValues,
): Proposal {
  const names = changeable(given, readers);
  const refused: Refusal[] = [];
  const candidate = new Map(now.stored);
  const written = new Map<string, StoredValue | undefined>();
  for (const [name, value] of Object.entries(values)) {
    const text = value?.trim() || undefined;
    const setting = names.get(name);
    const why =
      setting === undefined
        ? NOT_CHANGEABLE
        : (whyFixed(setting.source) ?? (text === undefined ? undefined : whyUnfit(text)));
    if (why !== undefined) refused.push({ param: name, message: why });
    else if (text === undefined) candidate.delete(name);
    else candidate.set(name, { text });
    written.set(name, text === undefined ? undefined : { text });
  }
  const settings = readAll(given.over(candidate), readers);
  for (const problem of added(now.settings, settings))
    refused.push({ param: problem.name, message: describe(problem) });
  if (refused.length > 0) throw refusal(refused);
  for (const [name, value] of written)
    if (value !== undefined && names.get(name)?.secret)
      written.set(name, { ...value, urls: settings.sentTo(name) });
  return { settings, written };
}

const NOT_CHANGEABLE =
  "cannot be changed while the service runs: set it in the environment or in .env of the home, and restart";

/** Says where a setting is fixed; undefined where it is not. */
function whyFixed(source: string): string | undefined {
  if (source === "environment") return "is set in the environment of the service: change it there";
  return source === ".env" ? "is set in a .env file: change it there" : undefined;
}

function whyUnfit(text: string): string | undefined {
  if (text.length > MAX_LENGTH) return `is longer than ${MAX_LENGTH} characters`;
  return /\p{Cc}/u.test(text) ? "holds a line break or another control character" : undefined;
}

function refusal(problems: readonly Refusal[]): Fault {
  const lines = problems.map(({ param, message }) => `  ${param}: ${message}`);
  const count = lines.length === 1 ? "1 setting is" : `${lines.length} settings are`;
  const message = `${count} refused; nothing was changed.\n${lines.join("\n")}`;
  return new Fault("invalid", "bad_settings", message, { param: problems[0]?.param, problems, usage: true });
}
