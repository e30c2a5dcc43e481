/** What servers taught by refusing requests. It is kept over a restart, and for a month, because servers change. */
import type { Keyed } from "../../../kernel/plugin.ts";

/** Of one model at one server. */
export interface Lessons {
  has(lesson: string): boolean;
  /** `insteadOf`: the lesson that it contradicts. */
  learn(lesson: string, insteadOf?: string): void;
}

export type LessonsOf = (server: { readonly baseUrl: string }, name: string) => Lessons;

const KEPT_MS = 30 * 86_400_000;

/** `keep` is told all lessons whenever there is another. */
export function createLessons(
  known: Iterable<string> = [],
  keep = (_: readonly string[]): void => {},
): Lessons {
  const lessons = new Set(known);
  return {
    has: (lesson) => lessons.has(lesson),
    learn(lesson, insteadOf = "") {
      if (lessons.has(lesson)) return;
      lessons.delete(insteadOf);
      lessons.add(lesson);
      keep([...lessons]);
    },
  };
}

export async function openLessons(
  kept: Pick<Keyed<readonly string[]>, "set" | "iterator">,
  onError: (error: unknown) => void,
): Promise<LessonsOf> {
  const all = new Map<string, Lessons>();
  const open = (key: string, known: readonly string[]) =>
    createLessons(known, (lessons) => void kept.set(key, lessons, KEPT_MS).catch(onError));
  for await (const [key, known] of kept.iterator()) all.set(key, open(key, known));
  return ({ baseUrl }, name) => {
    const key = `${baseUrl} ${name}`;
    return all.getOrInsertComputed(key, () => open(key, []));
  };
}
