/** Stored settings below the environment and `.env`: which of them count, and what is wrong with the rest. Pure. */
import {
  type LiveReader,
  type Problem,
  readAll,
  type Settings,
  type StoredValue,
  type StoredValues,
} from "../../../kernel/kit/settings.ts";
import type { Decoded } from "./rows.ts";

export interface Layered {
  /** Read by every reader. Its problems are those of the environment and `.env`. */
  readonly settings: Settings;
  readonly stored: StoredValues;
  /** Those that do not count, and why. */
  readonly ignored: ReadonlyMap<string, string>;
}

/** A bad value must not keep a service from starting, nor cost it the good ones: it alone is left out. */
export function layer(
  given: Settings,
  readers: readonly LiveReader[],
  { stored, unreadable }: Decoded,
): Layered {
  const whole = readAll(given.over(stored), readers);
  const bare = readAll(given.over(new Map()), readers);
  if (added(bare, whole).length === 0) return { settings: whole, stored, ignored: unreadable };
  // Takes one after the other, in whatever order makes them fit: a provider may need a URL that comes after it.
  let taken: ReadonlyMap<string, StoredValue> = new Map();
  let settings = bare;
  let left = [...stored];
  const ignored = new Map(unreadable);
  for (let before = -1; before !== left.length; ) {
    before = left.length;
    left = left.filter(([name, value]) => {
      const more = new Map([...taken, [name, value]]);
      const tried = readAll(given.over(more), readers);
      const [problem] = added(settings, tried);
      if (problem !== undefined) {
        ignored.set(name, `${problem.name}: ${describe(problem)}`);
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

export function describe({ given, accepted }: Problem): string {
  return `got ${given}, expected ${accepted}`;
}

/** Problems that only the second has. */
export function added(before: Settings, after: Settings): readonly Problem[] {
  const known = new Set(before.problems.map(keyOf));
  return after.problems.filter((problem) => !known.has(keyOf(problem)));
}

function keyOf({ name, accepted }: Problem): string {
  return `${name}\n${accepted}`;
}
