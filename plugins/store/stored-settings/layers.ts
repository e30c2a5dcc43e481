/** Stored settings below the environment and `.env`: which of them count, and what is wrong with the rest. Pure. */
import type { Env, Settings } from "../../../kernel/settings/env.ts";
import type { Problem, Setting, StoredValue, StoredValues } from "../../../kernel/settings/setting.ts";

/** What of a plugin's settings may be changed while it runs. */
export interface LiveReader {
  readonly plugin: string;
  read(env: Env): unknown;
}

/** Of all plugins, also of those that are off. */
export function liveReaders(
  plugins: readonly { readonly name: string; live?(env: Env): unknown }[],
): readonly LiveReader[] {
  return plugins.flatMap(({ name, live }) => (live === undefined ? [] : [{ plugin: name, read: live }]));
}

export interface Layered {
  /** Read by every reader. Its problems are those of the environment and `.env`. */
  readonly settings: Settings;
  /** Those that count. */
  readonly stored: StoredValues;
  /** Those that do not, and why. */
  readonly ignored: ReadonlyMap<string, Problem>;
}

/** The names that a store may hold, with what they may be. Whatever else it holds has no effect. */
export function changeable(given: Settings, readers: readonly LiveReader[]): ReadonlyMap<string, Setting> {
  return new Map(readAll(given.over(new Map()), readers).declared.map((setting) => [setting.name, setting]));
}

export function readAll(settings: Settings, readers: readonly LiveReader[]): Settings {
  for (const { plugin, read } of readers) read(settings.for(plugin));
  return settings;
}

/** A bad value must not keep a service from starting, nor cost it the good ones: it alone is left out. */
export function layer(given: Settings, readers: readonly LiveReader[], stored: StoredValues): Layered {
  const names = changeable(given, readers);
  const known = new Map([...stored].filter(([name]) => names.has(name)));
  const whole = readAll(given.over(known), readers);
  const bare = readAll(given.over(new Map()), readers);
  if (added(bare, whole).length === 0) return { settings: whole, stored: known, ignored: new Map() };
  return greedy(given, readers, known, bare);
}

/** Takes one after the other, in whatever order makes them fit: a provider may need a URL that comes after it. */
function greedy(
  given: Settings,
  readers: readonly LiveReader[],
  known: StoredValues,
  bare: Settings,
): Layered {
  let taken: ReadonlyMap<string, StoredValue> = new Map();
  let settings = bare;
  let left = [...known];
  const ignored = new Map<string, Problem>();
  for (let before = -1; before !== left.length; ) {
    before = left.length;
    left = left.filter(([name, value]) => {
      const more = new Map([...taken, [name, value]]);
      const tried = readAll(given.over(more), readers);
      const [problem] = added(settings, tried);
      if (problem !== undefined) {
        ignored.set(name, problem);
        return true;
      }
      ignored.delete(name);
      taken = more;
      settings = tried;
      return false;
    });
  }
  return { settings, stored: taken, ignored };
}

/** Problems that only the second has. */
export function added(before: Settings, after: Settings): readonly Problem[] {
  const known = new Set(before.problems.map(keyOf));
  return after.problems.filter((problem) => !known.has(keyOf(problem)));
}

function keyOf({ name, accepted }: Problem): string {
  return `${name}\n${accepted}`;
}
