/** Reads the person's words so that each value of a call can be looked up in them. */
import { foldedWords } from "../../../kernel/kit/words.ts";
import requests from "../words/requests.json" with { type: "json" };
import { isSameDay, momentsIn, readMoment } from "./dates.ts";
import { hasHidden, hostIn, isHost, namesIn, trimMarks } from "./identifiers.ts";
import { numbersIn } from "./numbers.ts";
import { type CountRun, phrasesIn } from "./phrase-index.ts";

export type Said = ReturnType<typeof hear>;

const BEGINS = /\b(?:start|begin)(?:s|ing|ning)? with ['"“‘]?([\p{L}\p{N}_-]{3,64})/gu;
/** "You can find her e-mail on her website: www.example.com". */
const ADDRESS_ON =
  /\b(?:find|get|take|copy|see|look up) (?:her|his|their|its) e-?mail(?: address)? (?:on|at|in|from) (?:[\p{L}'’]{1,20}:? ){0,4}((?:https?:\/\/|www\.)\S{1,500})/giu;
const WORD = /[\p{L}\p{N}\p{M}]+/gu;
/** Characters that are not on every keyboard. */
const MARK = /[^\p{L}\p{N}\s!-~]/gu;
/** Marks between two words: more of them than people write could carry something. */
const BETWEEN = /[^\p{L}\p{N}\p{M}]+/gu;
const USUAL_BETWEEN = /^(?:\S?[ \n]?["“‘'(@#€$£+]?| \S |[.!?:]?\n\n|\.{3} ?|\n[-*] )$/u;
const MAX_VALUE_LENGTH = 20_000;
const MAX_LINKS = 50;
/** Only the end of a very long thread counts; values from before it are asked about. */
const MAX_TEXT_LENGTH = 400_000;
const SENTENCE = /(?<=[.!?])\s+|\n+/u;
/** How a follow-up speaks of a site that it does not name. */
const PAGE = new RegExp(`(?<!\\p{L})(?:${requests.pages.replaceAll(" ", "|")})(?!\\p{L})`, "iu");
/** Separates messages, so that no phrase reaches from one into the next. */
const BREAK = "\n;\n";
const NOT = new Set(requests.not.split(" "));

/**
 * `known` are values that count as theirs without being requests: what they approved, and files of the operator. "Tomorrow" is
 * counted from `today`.
 */
export function hear(texts: readonly string[], known: readonly string[] = [], today?: Date) {
  const text = lastOf([...known, ...texts].join(BREAK)).normalize("NFC");
  const lower = text.toLowerCase();
  const messages = text.split(BREAK).map(foldedWords);
  const words = messages.flatMap((message) => [...message, BREAK]);
  const places = Map.groupBy(words.keys(), (at) => words[at] as string);
  const { days, times, durations, rest } = momentsIn(lower, today);
  const numbers = numbersIn(rest);
  const names = namesIn(text);
  const written = new Set([...(text.match(WORD) ?? []), ...(lower.match(WORD) ?? [])]);
  const marks = new Set(text.match(MARK));
  const between = new Set(text.match(BETWEEN));
  const now = today && { year: today.getFullYear(), month: today.getMonth() + 1, day: today.getDate() };
  let sentences: readonly Sentence[] | undefined;
  let countRun: CountRun | undefined;
  const run: CountRun = (asked, from) => {
    countRun ??= phrasesIn(words);
    return countRun(asked, from);
  };

  /** True where it is written as a person would: nothing hidden in it, and no address that is not theirs. */
  const isPlain = (value: string): boolean => {
    const plain = value.normalize("NFC");
    const isLong = plain.length > MAX_VALUE_LENGTH;
    if (isLong || hasHidden(plain)) {
      if (!lower.includes(plain.toLowerCase())) return false;
      if (isLong) return true;
    }
    const links = plain.split(/[\s<>"“”()]+/u).filter(isLink);
    return (
      (plain.match(MARK) ?? []).every((mark) => marks.has(mark) || /[–—‘’“”…€£«»]/u.test(mark)) &&
      (plain.match(BETWEEN) ?? []).every((marks) => USUAL_BETWEEN.test(marks) || between.has(marks)) &&
      (plain.match(WORD) ?? []).every((word) => isWritten(word, written)) &&
      links.length <= MAX_LINKS &&
      links.every((token) => names.has(trimMarks(token)))
    );
  };

  return {
    /** Every word, folded. */
    words: new Set(words) as ReadonlySet<string>,
    /** The words of their messages and instructions alone, without what they asked not to do. */
    asked: new Set(texts.flatMap((message) => wantedIn(foldedWords(message)))) as ReadonlySet<string>,
    /** They wrote a sum of money, or an account. */
    hasPrice: texts.some((message) => /[€$£¥]|\b[a-z]{2}\d\d ?[a-z0-9]{4} ?[a-z0-9]{4}/iu.test(message)),
    /** The messages and instructions themselves. */
    texts,
    run,
    isPlain,
    /** True where these words stand in a row somewhere, written as a person would. */
    hasPhrase(value: string): boolean {
      const asked = foldedWords(value);
      return asked.length > 0 && run(asked, 0) === asked.length && isPlain(value);
    },
    /** The number of the first of these words where they stand in a row: the first such place from `after` on, or else of all. */
    placeOf(asked: readonly string[], after: number): number | undefined {
      const starts = (places.get(asked[0] ?? "") ?? []).filter((at) =>
        asked.every((word, index) => words[at + index] === word),
      );
      return starts.find((at) => at >= after) ?? starts[0];
    },
    hasNumber: (value: number) => numbers.has(value),
    /** True where it is called a number of something: "file 13", "id 13". */
    hasLabelled(value: string, label: string): boolean {
      const labels = [...foldedWords(label), "id", "number", "no", "nr"];
      return (places.get(value.toLowerCase()) ?? []).some((at) => labels.includes(words[at - 1] ?? ""));
    },
    /** True where it is named exactly: an address, an account, a link. Spaces within an account's number do not count. */
    hasName: names.has,
    hasHost: names.hasHost,
    /** What they said about the site of an address: in sentences that name it, and in a follow-up about "the page". */
    about(address: string): readonly string[] {
      sentences ??= text.split(BREAK).flatMap(sentencesOf);
      const host = hostIn(address) ?? "";
      const named = sentences.filter(({ hosts }) => hosts.has(host));
      const last = sentences.findLast(({ hosts }) => hosts.size > 0);
      const isFollowed = last?.hosts.has(host) && last.message !== sentences.at(-1)?.message;
      const followUp = sentences.filter(
        (one) => isFollowed && one.message === sentences?.at(-1)?.message && PAGE.test(one.text),
      );
      return [...named, ...followUp].map((one) => one.text);
    },
    /** True where it is only named as the one that something is from. */
    isSender: names.isSender,
    /** True where the day is theirs, and the time too: said, or as long after a time they said as they said it should take. */
    hasMoment(value: string, beside: readonly string[]): boolean {
      const moment = readMoment(value);
      if (moment === undefined || hasHidden(value)) return false;
      const { day, time } = moment;
      // A time without a day means today.
      const known = days.length === 0 && now !== undefined ? [now] : days;
      if (day !== undefined && !known.some((one) => isSameDay(day, one))) return false;
      if (time === undefined || times.includes(time)) return true;
      return beside.some((other) => {
        const from = readMoment(other)?.time;
        return from !== undefined && times.includes(from) && [0, ...durations].includes(time - from);
      });
    },
    /** Beginnings of names that they mentioned: "the channel starting with External". */
    beginnings: [...lower.matchAll(BEGINS)].map(([, begin = ""]) => begin),
    /** Pages on which they said that somebody's e-mail address is to be found. */
    addressPages: [...text.matchAll(ADDRESS_ON)].map(([, page = ""]) => trimMarks(page)),
    durations,
  };
}

/** A message in its steps, each from the verb that begins it: "Delete the scans, and | write a list into 'Log'." */
export function stepsIn(text: string, isVerb: (word: string) => boolean): readonly string[] {
  const begins = [...text.matchAll(STEP)].filter(([, word = ""]) => isVerb(foldedWords(word)[0] ?? ""));
  const places = [0, ...begins.map(({ index }) => index)];
  return places.map((at, nr) => text.slice(at, places[nr + 1])).filter((step) => step.trim() !== "");
}

/** The first word of a clause. */
const STEP =
  /(?<=^|[.!?;:,\n]\s{0,20}|(?<!\p{L})(?:and|then|und|dann|et|puis|y|luego|e|poi|please|bitte)\s{1,20})(\p{L}+)/giu;

interface Sentence {
  readonly message: number;
  readonly text: string;
  readonly hosts: ReadonlySet<string>;
}

function sentencesOf(words: string, message: number): readonly Sentence[] {
  return words.split(SENTENCE).map((text) => ({ message, text, hosts: namesIn(text).hosts }));
}

/** The end of the text in whole words, because the end of a name may be another name. */
function lastOf(text: string): string {
  return text.length <= MAX_TEXT_LENGTH ? text : text.slice(-MAX_TEXT_LENGTH).replace(/^\S+/u, "");
}

/** The words that do not follow a "not" closely. */
function wantedIn(words: readonly string[]): readonly string[] {
  return words.filter((_, at) => !words.slice(Math.max(0, at - 3), at).some((before) => NOT.has(before)));
}

/** True where they wrote the word, also without its accents, in lower or upper case or with a capital first. */
function isWritten(word: string, written: ReadonlySet<string>): boolean {
  if (written.has(word)) return true;
  const small = word.toLowerCase();
  if (!written.has(small) && foldedWords(word).join("") !== small) return false;
  const capital = small.charAt(0).toUpperCase() + small.slice(1);
  return [small, word.toUpperCase(), capital].includes(word);
}

function isLink(token: string): boolean {
  const bare = trimMarks(token);
  return /@|:\/\//.test(bare) || (isHost(bare) && !/^[\d.,:]+$/.test(bare));
}
