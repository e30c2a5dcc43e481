/** The words of a query that documents are searched for, and which words of a document match them. */
import { foldedWords } from "../../kernel/kit.ts";

const MAX_TERMS = 12;

const LITTLE = new Set(
  `a an the this that these those of in on at to for from with by as is am are was were be been do does did have has had
  will would can could should may might i me my mine we us our you your he she it its they them their what which who whom
  whose when where why how there here and or but if about say said tell told know remember please not no so`.split(
    /\s+/,
  ),
);

/** What to look for: without the little words, unless there is nothing else. */
export function termsOf(query: string): string[] {
  const words = [...new Set(foldedWords(query.slice(0, 2000)))];
  const telling = words.filter((word) => !LITTLE.has(word));
  return (telling.length > 0 ? telling : words).slice(0, MAX_TERMS);
}

/** The same word, or the same but for its ending. */
export function wordMatches(word: string, term: string): boolean {
  if (word === term) return true;
  const shorter = Math.min(word.length, term.length);
  return (
    shorter >= 4 &&
    Math.abs(word.length - term.length) <= 3 &&
    word.slice(0, shorter - 1) === term.slice(0, shorter - 1)
  );
}
