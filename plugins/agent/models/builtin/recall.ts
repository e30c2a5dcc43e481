/** Remembering and recalling through the agent's memory tools. */
import { isRecord, textOf } from "./schema.ts";
import { means } from "./synonyms.ts";
import { capitalise, contentStems, stem } from "./words.ts";

const MAX_SLUG = 60;

/** A fact gets a document of its own, so that no fact replaces another; the same fact twice is one. */
export function notePath(fact: string): string {
  const slug = fact
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "");
  const short = slug.length > MAX_SLUG ? `${slug.slice(0, MAX_SLUG - 7)}-${fingerprint(fact)}` : slug;
  return `notes/${short === "" ? fingerprint(fact) : short}.md`;
}

/** Six letters that tell long facts with the same opening apart. */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5;
  for (const unit of text) hash = Math.imul(hash ^ (unit.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash.toString(36).padStart(6, "0").slice(-6);
}

export interface Note {
  readonly path: string;
  readonly text: string;
  /** How much of the question it shares, from 0 to 1. */
  readonly share: number;
}

/** The notes of a memory search that share most words with the question, and any at all. */
export function bestNotes(question: string, output: unknown): readonly Note[] {
  const results = isRecord(output) && Array.isArray(output["results"]) ? output["results"] : [];
  const weights = weigh(question);
  const total = [...weights.values()].reduce((sum, weight) => sum + weight, 0);
  const notes = results.filter(isRecord).map((result): Note => {
    const text = textOf(result["snippet"]).trim();
    const stems = [...contentStems(text)];
    let shared = 0;
    for (const [word, weight] of weights) if (stems.some((other) => means(word, other))) shared += weight;
    return { path: textOf(result["path"]), text, share: total === 0 ? 0 : shared / total };
  });
  const most = Math.max(0, ...notes.map((note) => note.share));
  return most === 0 ? [] : notes.filter((note) => note.text !== "" && note.share === most).slice(0, 5);
}

/** What the question is about weighs more than what it asks of it: the bike in "what colour is my bike?". */
function weigh(question: string): ReadonlyMap<string, number> {
  const subject =
    /\b(?:my|our|the|about)\s+((?:(?!\b(?:my|our|the|about)\b).)+)$/isu.exec(question)?.[1] ?? "";
  const about = contentStems(subject);
  const weights = new Map<string, number>();
  for (const word of contentStems(question)) weights.set(word, about.has(word) ? 2 : 1);
  for (const asking of ASKING) weights.delete(asking);
  return weights;
}

/** Words about remembering itself. */
const ASKING = ["remember", "recall", "remind", "told", "mention", "memory", "note", "search", "forget"].map(
  stem,
);

export function answerFromNotes(notes: readonly Note[]): string {
  const [only] = notes;
  if (only && notes.length === 1) return tell(only.text);
  const lines = notes.map((note) => `- ${capitalise(toSecondPerson(oneLine(note.text)))}`);
  return `This is what I have about it:\n\n${lines.join("\n")}`;
}

/** The user speaks of themselves. */
export function isPersonal(text: string): boolean {
  return /\b(?:my|mine|i|our|we)\b/i.test(text);
}

/** True for what stands after "that": "my bike is red", not "buy milk". */
export function isSentence(fact: string): boolean {
  return /^(?:i|my|we|our|he|she|it|they|there|the|his|her|their)\b|\b(?:is|are|was|were|am|has|have|had|will|can|likes?|loves?|lives?|works?|wants?|needs?)\b/i.test(
    fact,
  );
}

export function tell(note: string): string {
  if (note.includes("\n") || note.length > 200)
    return `I have this note:\n\n> ${note.trim().replaceAll("\n", "\n> ")}`;
  if (/^to\b/i.test(note)) return `You asked me to remember ${toSecondPerson(note)}.`;
  return isSentence(note)
    ? `You told me that ${toSecondPerson(lowerOpening(note)).replace(/[.!]+$/, "")}.`
    : `You asked me to remember this: ${toSecondPerson(note)}`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** "My bike" inside a sentence is "my bike"; a name keeps its capital. */
function lowerOpening(text: string): string {
  return text.replace(/^(?:My|I|The|A|An|Our|We|It|There|This|That|His|Her|Their)\b/, (word) =>
    word === "I" ? word : word.toLowerCase(),
  );
}

const TURNED: Readonly<Record<string, string>> = {
  i: "you",
  me: "you",
  my: "your",
  mine: "yours",
  myself: "yourself",
  you: "me",
  your: "my",
  yours: "mine",
  am: "are",
  "i'm": "you're",
  "i’m": "you’re",
  "i've": "you've",
  "i’ve": "you’ve",
  "i'd": "you'd",
  "i'll": "you'll",
};

/** What the user said of themselves, said back to them. */
export function toSecondPerson(text: string): string {
  return text.replace(/\bI was\b/g, "you were").replace(/\b[\p{L}]+(?:['’][\p{L}]+)?/gu, (word) => {
    const turned = TURNED[word.toLowerCase()];
    if (turned === undefined || (word !== word.toLowerCase() && word !== "I" && !/^[IM]/.test(word)))
      return word;
    return turned;
  });
}
