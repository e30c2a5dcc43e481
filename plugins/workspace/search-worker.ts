/** The thread that searches texts: patterns are a stranger's, and a million lines take longer than a turn should wait for. */
import { RE2JS } from "re2js";
import type { SearchAnswer, SearchTask } from "./search.ts";

const MAX_SHOWN = 300;
/** So much of a long line is shown before what was found in it. */
const BEFORE = 60;

/** No task only shows that the thread has loaded. */
export default (task: SearchTask | undefined): SearchAnswer | undefined => task && search(task);

function search({ words, pattern, files, limit }: SearchTask): SearchAnswer {
  let finder: Finder;
  try {
    finder = pattern === undefined ? wordFinder(words ?? []) : patternFinder(pattern);
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
  const hits: { file: number; line: number; text: string }[] = [];
  for (const [file, data] of files.entries()) {
    const text = new TextDecoder().decode(data);
    const find = finder(text);
    let line = 1;
    let counted = 0;
    for (let from = 0; from <= text.length && hits.length < limit; ) {
      const found = find(from);
      if (found === undefined) break;
      const start = text.lastIndexOf("\n", found - 1) + 1;
      const end = endOfLine(text, found);
      for (let at = text.indexOf("\n", counted); at !== -1 && at < start; at = text.indexOf("\n", at + 1))
        line++;
      counted = start;
      hits.push({ file, line, text: shown(text.slice(start, end), found - start) });
      from = end + 1;
    }
    if (hits.length >= limit) break;
  }
  return { hits };
}

/** Where, from a place on, the next is. */
type Finder = (text: string) => (from: number) => number | undefined;

/** With one of these a pattern means something else on a block of lines than on a line alone. */
const SINGLE_LINE = /\\[AzZ]|\(\?[a-zA-Z]*-/;
const BLOCK_LENGTH = 16_384;

/** Each line is tested alone, but a block is asked first whether any of its lines could match: many times faster. */
function patternFinder(pattern: string): Finder {
  const line = RE2JS.compile(pattern);
  const block = SINGLE_LINE.test(pattern) ? undefined : RE2JS.compile(pattern, RE2JS.MULTILINE);
  return (text) => (from) => {
    for (let start = from; start < text.length; ) {
      const end = endOfLine(text, Math.min(text.length, start + BLOCK_LENGTH));
      if (block?.test(text.slice(start, end).replaceAll("\r\n", "\n")) !== false)
        for (let at = start; at < end; ) {
          const lineEnd = endOfLine(text, at);
          if (line.test(text.slice(at, text[lineEnd - 1] === "\r" ? lineEnd - 1 : lineEnd))) return at;
          at = lineEnd + 1;
        }
      start = end + 1;
    }
    return undefined;
  };
}

function endOfLine(text: string, from: number): number {
  const newline = text.indexOf("\n", from);
  return newline === -1 ? text.length : newline;
}

/** All words stand in the line, in any case. */
function wordFinder(words: readonly string[]): Finder {
  const [first = "", ...others] = words
    .map((word) => word.toLowerCase())
    .toSorted((a, b) => b.length - a.length);
  return (text) => {
    const folded = text.toLowerCase();
    // A few letters get longer with it: then places in the two texts differ.
    const [lower, firstWord, rest] =
      folded.length === text.length ? [folded, first, others] : [text, words[0] ?? "", words.slice(1)];
    return (from) => {
      for (let at = lower.indexOf(firstWord, from); at !== -1; ) {
        const end = endOfLine(lower, at);
        const line = lower.slice(lower.lastIndexOf("\n", at - 1) + 1, end);
        if (rest.every((word) => line.includes(word))) return at;
        at = lower.indexOf(firstWord, end);
      }
      return undefined;
    };
  };
}

function shown(line: string, at: number): string {
  const text = line.replace(/\r$/, "");
  if (text.length <= MAX_SHOWN) return text;
  const from = Math.max(0, Math.min(at - BEFORE, text.length - MAX_SHOWN));
  const end = from + MAX_SHOWN;
  return `${from > 0 ? "…" : ""}${text.slice(from, end).toWellFormed()}${end < text.length ? "…" : ""}`;
}
