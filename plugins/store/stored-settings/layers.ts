/** Stored settings below the environment and `.env`: which of them count, and what is wrong with the rest. Pure. */
import {
  changeable,
  type LiveReader,
  type Problem,
  readAll,
  type Settings,
  type StoredValue,
  type StoredValues,
} from "../../../kernel/kit.ts";

export interface Layered {
  /** Read by every reader. Its problems are those of the environment and `.env`. */
  readonly settings: Settings;
  readonly stored: StoredValues;
  /** Those that do not, and why. */
  readonly ignored: ReadonlyMap<string, Problem>;
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
