/** The words of a sentence that say what it is about. */
import { isStop, stem } from "../../../kernel/kit/words.ts";

/** The words of a text as they are written, with their apostrophes. */
export function wordsOf(text: string): string[] {
  return text.match(/[\p{L}\p{N}][\p{L}\p{N}'’]*/gu) ?? [];
}

/** The stems of the words that say something, once each. */
export function contentStems(text: string): Set<string> {
  return new Set(wordsOf(text).flatMap((word) => (isStop(word) ? [] : stem(word))));
}
