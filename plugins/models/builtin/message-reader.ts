/** Cuts a message into tokens and phrases ("flights | from Oslo | to Rome"). What one parameter takes, no other takes. */
import { tryRecord } from "../../../kernel/kit/text.ts";
import { isStop, stem, trimEnd, wordsOfName } from "../../../kernel/kit/words.ts";
import { contentStems } from "./content-stems.ts";
import { datesIn, isoDate, type Mention } from "./dates.ts";

/** `lead` is the word or mark before the phrase, which says what it is for. */
export type Phrase = Readonly<{ lead: string; from: number; to: number }>;

const MAX_LENGTH = 2000;
const TOKEN = /"[^"]+"|“[^”]+”|`[^`]+`|(?<!\S)'[^']+'(?!\w)|https?:\/\/\S+|[^\s=]+=?/giu;
const LEAD = /^(?:in|on|at|to|from|for|with|by|into|of|near|and|or|about|saying|says|called|named|titled)$/i;

export type Heard = ReturnType<typeof hear>;
type Token = Heard["tokens"][number];

/** Reads the beginning of a message: nobody names a tool on page three. */
export function hear(message: string, now: Date) {
  const text = message.slice(0, MAX_LENGTH);
  const tokens = [...text.matchAll(TOKEN)].map(({ 0: raw, index }, at) => {
    const isQuoted = /^["“`'].+["”`']$/su.test(raw);
    const from = /^[("'“`[]/u.test(raw) ? 1 : 0;
    const to = isQuoted ? raw.length - 1 : Math.max(from, trimEnd(raw, ".,;:!?=)]\"'”").length);
    const [said, mark] = [raw.slice(from, to), isQuoted ? "" : raw.slice(to)];
    return { at, text: said, stem: stem(said), start: index + from, end: index + to, mark, isQuoted };
  });
  const dates = datesIn(text, now);
  const isLater = dates.some(({ date, hasDay }) => hasDay && isoDate(date) > isoDate(now));
  // Parameters that are written out as JSON are taken as they stand.
  const json = tryRecord(text.slice(Math.max(0, text.indexOf("{")), text.lastIndexOf("}") + 1));
  return { text, stems: contentStems(text), tokens, dates, isLater, json };
}

export class MessageReader {
  readonly heard: Heard;
  readonly #taken = new Set<unknown>();

  constructor(heard: Heard) {
    this.heard = heard;
  }

  /** The tokens that nothing has taken. */
  get open(): readonly Token[] {
    return this.heard.tokens.filter(({ at }) => !this.#taken.has(at));
  }

  text(at: number): string {
    return this.heard.tokens[at]?.text ?? "";
  }

  take(from: number, to = from): string {
    for (let at = from; at <= to; at += 1) this.#taken.add(at);
    const { text, tokens } = this.heard;
    return text.slice(tokens[from]?.start, tokens[to]?.end);
  }

  takeFirst(fits: (token: Token) => boolean): string | undefined {
    const token = this.open.find(fits);
    return token && this.take(token.at);
  }

  /** Takes the next date that names a day, or a time of day: one mention may give both. */
  takeDate(part: "hasDay" | "hasTime", say: (date: Date) => string): string | undefined {
    const mention = this.heard.dates.find((one) => one[part] && !this.#taken.has(`${part} ${one.start}`));
    if (!mention) return undefined;
    this.#taken.add(`${part} ${mention.start}`);
    for (const { at, start, end } of this.open)
      if (start < mention.end && end > mention.start) this.#taken.add(at);
    return say(mention.date);
  }

  /** Finds where the words of a name stand one after the other. */
  find(name: string): Phrase | undefined {
    const stems = wordsOfName(name).map(stem);
    const isHere = ({ at }: Token) => stems.every((one, step) => this.heard.tokens[at + step]?.stem === one);
    const from = stems.length === 0 ? undefined : this.open.find(isHere)?.at;
    if (from === undefined) return undefined;
    return { lead: this.text(from - 1).toLowerCase(), from, to: from + stems.length - 1 };
  }

  phrases(): readonly Phrase[] {
    const phrases: Phrase[] = [];
    let [lead, isOpen] = ["", false];
    for (const { at, text, mark, start, isQuoted } of this.heard.tokens) {
      const isTaken = isQuoted || this.#taken.has(at);
      const isLead = !isTaken && LEAD.test(text);
      // "tomorrow" is never part of a name; "Sun" in "Sun City" may be.
      const isInDate = (one: Mention) => start >= one.start && start < one.end;
      const isPart = !isTaken && !isLead && (/^\p{Lu}/u.test(text) || !this.heard.dates.some(isInDate));
      const last = isPart && isOpen ? phrases.pop() : undefined;
      if (isPart) phrases.push(last ? { ...last, to: at } : { lead, from: at, to: at });
      isOpen = isPart && mark === "";
      lead = isLead ? text.toLowerCase() : mark.charAt(0);
    }
    return phrases;
  }

  /** The phrase without the words at its beginning that say nothing, and the little words at its end. */
  trim(phrase: Phrase, isOpening: (word: string) => boolean): Phrase | undefined {
    let { from, to } = phrase;
    while (from <= to && isOpening(this.text(from))) from += 1;
    while (to > from && isStop(this.text(to))) to -= 1;
    return from <= to ? { ...phrase, from, to } : undefined;
  }
}
