/** A message cut into tokens and phrases ("flights | from Oslo | to Rome"). What one parameter takes, no other takes. */

import { isStop, stem, trimEnd, wordsOfName } from "../../../../kernel/kit.ts";
import { datesIn, isoDate, type Mention } from "./dates.ts";
import { contentStems } from "./words.ts";

interface Token {
  readonly at: number;
  readonly text: string;
  readonly stem: string;
  readonly start: number;
  readonly end: number;
  /** The punctuation after it. */
  readonly mark: string;
  readonly isQuoted: boolean;
}

export interface Phrase {
  /** The word or mark before it, which says what it is for. */
  readonly lead: string;
  readonly from: number;
  readonly to: number;
}

/** A message, with what is read from it once for all tools. */
export interface Heard {
  readonly text: string;
  readonly stems: ReadonlySet<string>;
  readonly tokens: readonly Token[];
  readonly dates: readonly Mention[];
  /** It names a day after today. */
  readonly isLater: boolean;
}

const TOKEN = /"[^"]+"|“[^”]+”|`[^`]+`|(?<!\S)'[^']+'(?!\w)|https?:\/\/\S+|[^\s=]+=?/giu;
const LEAD = /^(?:in|on|at|to|from|for|with|by|into|of|near|and|or|about|saying|says|called|named|titled)$/i;

export function hear(text: string, now: Date): Heard {
  const tokens = [...text.matchAll(TOKEN)].map(({ 0: raw, index }, at) => {
    const isQuoted = /^["“`'].+["”`']$/su.test(raw);
    const from = /^[("'“`[]/u.test(raw) ? 1 : 0;
    const to = isQuoted ? raw.length - 1 : Math.max(from, trimEnd(raw, ".,;:!?=)]\"'”").length);
    const mark = isQuoted ? "" : raw.slice(to);
    const said = raw.slice(from, to);
    return { at, text: said, stem: stem(said), start: index + from, end: index + to, mark, isQuoted };
  });
  const dates = datesIn(text, now);
  const isLater = dates.some(({ date, hasDay }) => hasDay && isoDate(date) > isoDate(now));
  return { text, stems: contentStems(text), tokens, dates, isLater };
}

export class Reading {
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

  /** The next date that names a day, or a time of day: one mention may give both. */
  takeDate(part: "hasDay" | "hasTime", say: (date: Date) => string): string | undefined {
    const mention = this.heard.dates.find((one) => one[part] && !this.#taken.has(`${part} ${one.start}`));
    if (!mention) return undefined;
    this.#taken.add(`${part} ${mention.start}`);
    const named = this.open.filter(({ start, end }) => start < mention.end && end > mention.start);
    for (const { at } of named) this.take(at);
    return say(mention.date);
  }

  /** Where the words of a name stand one after the other. */
  find(name: string): Phrase | undefined {
    const { tokens } = this.heard;
    const stems = wordsOfName(name).map(stem);
    const first = this.open.find(({ at }) => stems.every((one, step) => tokens[at + step]?.stem === one));
    if (!first || stems.length === 0) return undefined;
    return { lead: this.text(first.at - 1).toLowerCase(), from: first.at, to: first.at + stems.length - 1 };
  }

  phrases(): readonly Phrase[] {
    const phrases: { lead: string; from: number; to: number }[] = [];
    let lead = "";
    let isOpen = false;
    for (const { at, text, mark, start, isQuoted } of this.heard.tokens) {
      const isTaken = isQuoted || this.#taken.has(at);
      const isLead = !isTaken && LEAD.test(text);
      // "tomorrow" is never part of a name; "Sun" in "Sun City" may be.
      const isDate =
        !/^\p{Lu}/u.test(text) && this.heard.dates.some((one) => start >= one.start && start < one.end);
      const isPart = !isTaken && !isLead && !isDate;
      const last = phrases.at(-1);
      if (isPart && isOpen && last) last.to = at;
      else if (isPart) phrases.push({ lead, from: at, to: at });
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
