/** Remembering and recalling through the agent's memory tools. */
import { isRecord, textOf } from "./schema.ts";
import { means } from "./synonyms.ts";
import { capitalise, contentStems } from "./words.ts";

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

interface Note {
  readonly text: string;
  readonly shared: number;
}

/** The answer out of a memory search: the notes that share most words with the question. */
export function answerFromNotes(question: string, output: unknown): string | undefined {
  const results = isRecord(output) && Array.isArray(output["results"]) ? output["results"] : [];
  const asked = [...contentStems(question)];
  const notes: Note[] = results.filter(isRecord).map((result) => {
    const text = textOf(result["snippet"]).trim();
    const stems = [...contentStems(text)];
    return { text, shared: asked.filter((word) => stems.some((other) => means(word, other))).length };
  });
  const most = Math.max(0, ...notes.map((note) => note.shared));
  if (most === 0) return undefined;
  const told = notes.filter((note) => note.text !== "" && note.shared === most).slice(0, 5);
  const [only] = told;
  if (only && told.length === 1) return tell(only.text);
  return `This is what I have about it:\n\n${told.map((note) => `- ${capitalise(toSecondPerson(oneLine(note.text)))}`).join("\n")}`;
}

export function tell(note: string): string {
  if (note.includes("\n") || note.length > 200)
    return `I have this note:\n\n> ${note.trim().replaceAll("\n", "\n> ")}`;
  return /^(?:to|that)\b/i.test(note)
    ? `You asked me to remember ${toSecondPerson(note)}.`
    : `You told me that ${toSecondPerson(lowerOpening(note)).replace(/[.!]+$/, "")}.`;
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
