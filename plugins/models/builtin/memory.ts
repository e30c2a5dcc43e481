/** Remembering, recalling and forgetting through the agent's memory tools. */

import { createHash } from "node:crypto";
import { isRecord } from "../../../kernel/kit/text.ts";
import { capitalise, stem, trimEnd } from "../../../kernel/kit/words.ts";
import { contentStems } from "./content-stems.ts";
import { textOf } from "./schema.ts";
import { clip } from "./talk.ts";

const MAX_SLUG_LENGTH = 60;
const ASKING = ["remember", "recall", "remind", "told", "mention", "memory", "note", "forget"].map(stem);

/** A fact gets a document of its own, so that no fact replaces another; the same fact twice is one. */
export function notePath(fact: string): string {
  const words = fact.normalize("NFKD").toLowerCase();
  const slug = (words.match(/[\p{L}\p{N}]+/gu) ?? []).join("-");
  if (slug !== "" && slug.length <= MAX_SLUG_LENGTH) return `notes/${slug}.md`;
  const hash = createHash("sha256").update(fact).digest("hex").slice(0, 8);
  return `notes/${slug.slice(0, MAX_SLUG_LENGTH - 9)}-${hash}.md`;
}

type Note = ReturnType<typeof bestNotes>[number];

/** The notes of a memory search that share most words with the question; `share` is how many, from 0 to 1. */
export function bestNotes(question: string, results: unknown) {
  const asked = trimEnd(question.slice(0, 1000));
  // The subject of the question counts double: the bike in "what colour is my bike?".
  const [, subject = ""] = /^.*\b(?:my|our|the|about)\s+(\S.*)$/isu.exec(asked) ?? [];
  const words = [...contentStems(asked), ...contentStems(subject)].filter((word) => !ASKING.includes(word));
  const notes = (Array.isArray(results) ? results.filter(isRecord) : []).map(({ path, snippet }) => {
    const text = textOf(snippet).trim();
    const stems = contentStems(text);
    const shared = words.filter((word) => stems.has(word));
    return { path: textOf(path), text, share: shared.length / Math.max(1, words.length) };
  });
  const most = Math.max(...notes.map(({ share }) => share));
  return notes.filter(({ text, share }) => text !== "" && share > 0 && share === most).slice(0, 5);
}

export function sayNotes(notes: readonly Note[]): string {
  const [only] = notes;
  if (only && notes.length === 1) return sayNote(only.text);
  const lines = notes.map(({ text }) => `- ${capitalise(turn(clip(text, 200).replace(/\s+/g, " ")))}`);
  return `I have these notes:\n\n${lines.join("\n")}`;
}

export function sayNote(text: string): string {
  const isLong = text.includes("\n") || text.length > 200;
  if (isLong) return `I have this note:\n\n> ${text.replaceAll("\n", "\n> ")}`;
  return `${SENTENCE.test(text) && !/^to\b/i.test(text) ? "You told me" : "You asked me to remember"} ${link(text)}.`;
}

export const sayRemembered = (fact: string): string =>
  fact.length > 200 ? "I have saved that." : `I will remember ${link(fact)}.`;

/** "that your bike is red", "to buy milk", "this: milk". */
const link = (fact: string): string =>
  (/^to\b/i.test(fact) ? "" : SENTENCE.test(fact) ? "that " : "this: ") + turn(trimEnd(fact));

/** Fits "my bike is red", not "buy milk". */
const SENTENCE =
  /^(?:i|my|we|our|he|she|it|they|the)\b|\b(?:is|are|was|were|am|has|have|had|will|can|likes?|lives?)\b/i;

const TURNED = new Map(
  "i/you me/you my/your mine/yours myself/yourself you/me your/my yours/mine am/are i'm/you're i've/you've"
    .split(" ")
    .map((pair) => pair.split("/") as [string, string]),
);

/** Says back to users what they said about themselves. */
function turn(text: string): string {
  return text
    .replace(/^(?:My|The|An?|Our|We|It|There|This|That|His|Her|Their)\b/, (word) => word.toLowerCase())
    .replace(/\bI was\b/g, "you were")
    .replace(/\p{L}+(?:['’]\p{L}+)?/gu, (word) => {
      const turned = TURNED.get(word.toLowerCase().replace("’", "'"));
      return turned !== undefined && /^(?:[IM]|\p{Ll})/u.test(word) ? turned : word;
    });
}
