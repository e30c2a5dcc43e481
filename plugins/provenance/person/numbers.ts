/** Numbers as people write them. Only those that count something: no part of a date, an account or an id. */
import { trimEnd } from "../../../kernel/kit/words.ts";
import calendar from "../words/calendar.json" with { type: "json" };

export const SPOKEN = calendar.numbers.split(" ");

const ACCOUNT = /(?<![\p{L}\p{N}])[a-z]{2}\d{2}(?: ?[a-z0-9]{4}){2,7}(?: ?[a-z0-9]{1,4})?(?![\p{L}\p{N}])/gu;
const TELEPHONE = /\+\d[\d ()/-]{5,24}/g;
const LABELLED = /(?:\b(?:ids?|nos?|nr|number|year|since|in|of|q[1-4])[.:]? |#)\d+(?![\d.,]*\d)/g;
const WRITTEN =
  /(?<![\p{L}\p{N}_.,/#-])[-+]?[€$£¥]?(\d[\d.,'’]{0,30})(?! \d{3}(?!\d))(?: ?(k|%|percent|million)(?![\p{L}\p{N}])| ?(?:[€$£¥]|eur|usd|chf|gbp|kg|g|l|ml|km|m|h|min)?(?![\p{L}\p{N}_/@-]))/gu;
/** 12 000, as it is written in much of Europe. */
const SPACED = /(?<![\p{L}\p{N}_.,-])\d{1,3}(?:[ \u00a0\u202f]\d{3}){1,4}(?:,\d{1,2})?(?![\p{L}\p{N}])/gu;

/** Every number in a text of lower case. */
export function numbersIn(text: string): ReadonlySet<number> {
  const found = new Set<number>();
  const rest = text.replace(ACCOUNT, " ; ").replace(TELEPHONE, " ; ").replace(LABELLED, " ; ");
  for (const [written] of rest.matchAll(SPACED))
    found.add(Number(written.replace(/[ \u00a0\u202f]/g, "").replace(",", ".")));
  for (const [, written = "", unit] of rest.matchAll(WRITTEN))
    for (const value of readingsOf(written)) {
      found.add(value);
      if (unit === "%" || unit === "percent") found.add(value / 100);
      if (unit === "k") found.add(value * 1000);
      if (unit === "million") found.add(value * 1_000_000);
    }
  for (const [at, word] of SPOKEN.entries()) if (new RegExp(`\\b${word}\\b`).test(text)) found.add(at);
  found.delete(Number.NaN);
  return found;
}

/** Reads a text that is nothing but a number and can be read in one way only; more zeros than people write could carry something. */
export function readNumber(text: string): number | undefined {
  if (/^0\d|[.,]\d{2,}0$|[.,'’]$/.test(text) && !/^\d{1,3}(?:[.,'’]\d{3})+$/.test(text)) return undefined;
  const [only, ...others] = readingsOf(text);
  return others.length === 0 ? only : undefined;
}

/** 1.200 is a thousand and two hundred to some, and a little over one to others; 12.50 is never 1250. */
function readingsOf(written: string): readonly number[] {
  const number = trimEnd(written, ".,'’");
  const found = new Set<number>();
  if (/^\d+(?:\.\d+)?$/.test(number)) found.add(Number(number));
  if (/^\d+,\d+$/.test(number) && !/^\d{1,3},\d{3}$/.test(number))
    found.add(Number(number.replace(",", ".")));
  if (/^\d{1,3}(?:[,'’]\d{3})+(?:\.\d+)?$/.test(number)) found.add(Number(number.replaceAll(/[,'’]/g, "")));
  if (/^\d{1,3}(?:\.\d{3})+(?:,\d+)?$/.test(number))
    found.add(Number(number.replaceAll(".", "").replace(",", ".")));
  return [...found];
}
