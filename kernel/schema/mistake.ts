/** One thing that is wrong with a value, in the words that people and models read. */
export interface Mistake {
  /** The field as a person would write it, such as `tools[0].name`; empty for the value as a whole. */
  readonly path: string;
  /** Completes the sentence, such as `is missing` or `must be between -90 and 90, given 91`. */
  readonly problem: string;
}

/** A schema, or a part of one. */
export type SchemaNode = Readonly<Record<string, unknown>>;

/** Returns what the author of a schema says a value must be, such as `must be a number from 0.0 to 2.0`. */
export type AuthorWords = (node: SchemaNode) => string | undefined;

// Nobody reads more than a few at once.
const SHOWN_MISTAKES = 5;

/** `whole` names the value itself, for a mistake that is about no field of it. */
export function describeMistake({ path, problem }: Mistake, whole: string): string {
  return `${path === "" ? whole : `'${path}'`} ${problem}`;
}

export function describeMistakes(mistakes: readonly Mistake[], whole: string): string {
  const sentences = new Set(mistakes.map((mistake) => describeMistake(mistake, whole)));
  return [...sentences].slice(0, SHOWN_MISTAKES).join("; ");
}

/** `/http/allowlist/0/host` → `http.allowlist[0].host`, below `at`. */
export function writePath(pointer: string, value: unknown, at: string): string {
  let here = value;
  let path = at;
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    path = Array.isArray(here) ? `${path}[${key}]` : below(path, key);
    here = (here as Readonly<Record<string, unknown>> | null | undefined)?.[key];
  }
  return path;
}

export function below(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}
