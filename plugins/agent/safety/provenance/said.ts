/** What the person said, so that a value can be asked: is it theirs? */
import { foldedWords } from "../../memory/terms.ts";
import { isSameDay, momentsIn, readMoment } from "./moments.ts";
import { numbersIn } from "./numbers.ts";

/** Read once for a thread and its new message. */
export interface Said {
  /** Every word, folded. */
  readonly words: ReadonlySet<string>;
  /** The words of their messages and instructions alone: what they asked for. */
  readonly asked: ReadonlySet<string>;
  /** True where these words stand in a row somewhere. */
  hasPhrase(text: string): boolean;
  /** How many of these words, from the first on, stand in a row somewhere. */
  run(words: readonly string[], from: number): number;
  hasNumber(value: number): boolean;
  /** True where it is called a number of something: "file 13", "id 13". */
  hasLabelled(value: string, label: string): boolean;
  /** True where it is named exactly: an address, an account, a link. Spaces within an account's number do not count. */
  hasName(value: string): boolean;
  /** True where the day is theirs, and the time too: said, or as long after a time they said as they said it should take. */
  hasMoment(value: string, beside: readonly string[]): boolean;
  /** What they said a name begins with: "the channel starting with External". */
  readonly beginnings: readonly string[];
}

const EDGES = /^[\s'"“”‘’`()<>[\]{},;!?]+|[\s'"“”‘’`()<>[\]{},;!?.:]+$/gu;
const BEGINS = /\b(?:start|begin)(?:s|ing|ning)? with ['"“‘]?([\p{L}\p{N}_-]{3,64})/gu;
/** A number of an account is written in groups. */
const GROUPED = /^[a-z0-9]{8,}$/;

/** `known`: values that count as theirs without being requests: what they approved, files of the operator. */
export function hear(texts: readonly string[], known: readonly string[] = []): Said {
  const lower = [...texts, ...known].join("\n\n").normalize("NFC").toLowerCase();
  const words = foldedWords(lower);
  const places = new Map<string, number[]>();
  for (const [at, word] of words.entries()) {
    const known = places.get(word);
    if (known) known.push(at);
    else places.set(word, [at]);
  }
  const names = new Set(lower.split(/[\s<>"“”()]+/u).map((name) => name.replace(EDGES, "")));
  const { days, times, durations, rest } = momentsIn(lower);
  const numbers = numbersIn(rest);
  const compact = lower.replace(/[\s-]+/g, "");

  const run = (asked: readonly string[], from: number): number => {
    let longest = 0;
    for (const start of places.get(asked[from] ?? "") ?? []) {
      let length = 1;
      while (from + length < asked.length && words[start + length] === asked[from + length]) length++;
      longest = Math.max(longest, length);
    }
    return longest;
  };

  return {
    words: new Set(words),
    asked: new Set(foldedWords(texts.join("\n\n"))),
    run,
    hasPhrase(text) {
      const asked = foldedWords(text);
      return asked.length > 0 && run(asked, 0) === asked.length;
    },
    hasNumber: (value) => numbers.has(value),
    hasLabelled(value, label) {
      const labels = [...foldedWords(label), "id", "number", "no", "nr"];
      return (places.get(value.toLowerCase()) ?? []).some(
        (at) => labels.includes(words[at - 1] ?? "") && numbers.has(Number(value)),
      );
    },
    hasName(value) {
      const name = value.normalize("NFC").toLowerCase().replace(EDGES, "");
      if (names.has(name) || names.has(name.replace(/^https?:\/\//, "")) || names.has(`https://${name}`))
        return true;
      const digits = name.replaceAll(/[\s-]/g, "");
      return GROUPED.test(digits) && /\d{4}/.test(digits) && compact.includes(digits);
    },
    hasMoment(value, beside) {
      const moment = readMoment(value);
      if (moment === undefined || !days.some((day) => isSameDay(moment.day, day))) return false;
      const { time } = moment;
      if (time === undefined || times.includes(time)) return true;
      return beside.some((other) => {
        const from = readMoment(other)?.time;
        return from !== undefined && times.includes(from) && [0, ...durations].includes(time - from);
      });
    },
    beginnings: [...lower.matchAll(BEGINS)].map(([, begin = ""]) => begin),
  };
}
