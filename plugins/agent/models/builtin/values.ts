/** How each kind of value is found in a message. */

import { isStop, stem, wordsOfName } from "../../../../kernel/kit.ts";
import { isoDate, isoTime } from "./dates.ts";
import type { Phrase, Reading } from "./reading.ts";
import type { Property } from "./schema.ts";
import { isGeneric, wordsOf } from "./words.ts";

const SPOKEN = "zero one two three four five six seven eight nine ten eleven twelve".split(" ");
const PLACE = /\b(?:city|town|place|location|address|region|airport|timezone)\b/;
const TEXT = /^(?:saying|says|called|named|titled|about)$/;
const NUMBER = /^[-−+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?[°%]?$/;

/** Texts that have a form of their own, by the parameter's format or name. */
const FORMS: readonly (readonly [RegExp, (reading: Reading) => string | undefined])[] = [
  [/\be?mail(?: address)?$/, (reading) => takeLike(reading, /^[^\s@]+@[^\s@.]+\.[^\s@]+$/)],
  [/\b(?:ur[il]|link|website)$/, (reading) => takeLike(reading, /^https?:\/\//i)],
  [/\b(?:date[- ]?time|timestamp)\b/, (reading) => reading.takeDate("hasTime", (date) => date.toISOString())],
  [/\b(?:date|day|birthday|deadline)\b/, (reading) => reading.takeDate("hasDay", isoDate)],
  [/\btime$/, (reading) => reading.takeDate("hasTime", isoTime)],
];

function formOf({ type, format, name }: Property) {
  const names = type === "string" ? [format, wordsOfName(name).join(" ")] : [];
  return FORMS.find(([pattern]) => names.some((one) => pattern.test(one)))?.[1];
}

function takeLike(reading: Reading, pattern: RegExp): string | undefined {
  return reading.takeFirst(({ text }) => pattern.test(text));
}

/** What the parameter's type, format and name lead to; undefined where nothing is clearly meant for it. */
export function takeValue(reading: Reading, property: Property): unknown {
  if (property.type === "choice") return takeChoice(reading, property);
  if (property.type === "boolean") return takeBoolean(reading, property);
  if (property.type === "array") return takeList(reading, property);
  if (isNumber(property)) return takeNumber(reading, property);
  if (/country/i.test(property.name)) return takeLike(reading, /^[A-Z]{2}$/)?.replace("UK", "GB");
  return formOf(property)?.(reading);
}

/** True for texts of any form. */
export function isText(property: Property): boolean {
  return property.type === "string" && formOf(property) === undefined;
}

export function isNumber({ type }: Property): boolean {
  return type === "number" || type === "integer";
}

export function isPlace({ name }: Property): boolean {
  return PLACE.test(wordsOfName(name).join(" "));
}

/** What English puts before a value, by what the parameter is called. */
const LEADS: readonly (readonly [RegExp, RegExp])[] = [
  [/\b(?:from|source|origin|base|departure)\b/, /^from$/],
  [/\b(?:to|target|destination|into|arrival|language)$/, /^(?:to|into|in)$/],
  [PLACE, /^(?:in|for|at|near|of)$/],
  [/\b(?:name|title|text|body|message|content|comment|note|subject|topic|query)$/, TEXT],
];

function leadsOf({ name }: Property): RegExp | undefined {
  const words = wordsOfName(name).join(" ");
  return LEADS.find(([names]) => names.test(words))?.[1];
}

/** The listed value that stands where the parameter's name would put it ("to EUR"), else the first there is. */
function takeChoice(reading: Reading, property: Property): unknown {
  const find = (value: unknown) =>
    namesOf(String(value).slice(0, 100), property.description)
      .flatMap((said) => reading.find(said) ?? [])
      .map((phrase) => ({ value, ...phrase }));
  const found = property.choices.flatMap(find).sort((one, other) => one.from - other.from);
  const leads = leadsOf(property);
  const isOther = ({ lead }: Phrase) =>
    leads !== undefined && LEADS.some(([, some]) => some !== leads && some.test(lead));
  const best = found.find(({ lead }) => leads?.test(lead)) ?? found.find((one) => !isOther(one));
  if (best) reading.take(best.from, best.to);
  return best?.value;
}

/** A choice goes by its own name and by its part of the description: "imperial: Fahrenheit and mph". */
function namesOf(value: string, description: string): readonly string[] {
  const parts = description.toLowerCase().split(/[;.]\s*/);
  const about = parts.find((part) => part.startsWith(`${value.toLowerCase()}:`)) ?? "";
  return [value, ...wordsOf(about.slice(value.length))].filter((name) => !isStop(name));
}

/** True where the parameter is named, false where "no" or "off" stands beside it. */
function takeBoolean(reading: Reading, { name }: Property): boolean | undefined {
  const label = name.replace(/^(?:is|has|include|with|enable)_/, "");
  const found = reading.find(label) ?? (label === "on" ? reading.find("off") : undefined);
  if (!found) return undefined;
  const beside = reading.open.filter(({ at }) => at >= found.from - 2 && at <= found.to + 1);
  reading.take(found.from, found.to);
  return !beside.some(({ text }) => /^(?:no|false|off|not|without|don['’]?t)$/i.test(text));
}

/** The number beside the parameter's name, or before the compass point that stands for it. */
function takeNumber(reading: Reading, { name }: Property): number | undefined {
  const labels = wordsOfName(name).filter((word) => word.length > 2);
  const points = /^lat/i.test(name) ? "NS" : /^(?:lon|lng)/i.test(name) ? "EW" : "";
  for (const { at, text } of reading.open) {
    const [value, after] = [toNumber(text), reading.text(at + 1)];
    const beside = ` ${reading.text(at - 2)} ${reading.text(at - 1)} ${after}`.toLowerCase();
    const isPoint = after.length === 1 && points.includes(after);
    if (value === undefined || !(isPoint || labels.some((label) => beside.includes(` ${label}`)))) continue;
    reading.take(at);
    return isPoint && "SW".includes(after) ? -value : value;
  }
  return undefined;
}

/** The numbers that nothing has taken, in order. */
export function takeNumbers(reading: Reading, count: number): readonly number[] {
  const found = reading.open.filter(({ text }) => toNumber(text) !== undefined).slice(0, count);
  return found.map(({ at }) => toNumber(reading.take(at)) ?? 0);
}

function toNumber(text: string): number | undefined {
  if (NUMBER.test(text)) return Number.parseFloat(text.replaceAll(",", "").replace("−", "-"));
  return SPOKEN.includes(text.toLowerCase()) ? SPOKEN.indexOf(text.toLowerCase()) : undefined;
}

/** What follows the parameter's name. */
function takeList(reading: Reading, { name }: Property): unknown {
  const label = reading.find(name);
  const last = reading.open.at(-1);
  if (!label || !last || last.at <= label.to) return undefined;
  reading.take(label.from, label.to);
  return answerAs("array", reading.take(label.to + 1, last.at));
}

export function takeQuoted(reading: Reading): string | undefined {
  return reading.takeFirst(({ isQuoted }) => isQuoted);
}

/** The phrase that English puts such a value in: "in Berlin", "from Oslo", "saying hello". */
export function takeLed(reading: Reading, property: Property, withRegion: boolean): string | undefined {
  const phrases = reading.phrases();
  const leads = leadsOf(property);
  const led = phrases
    .filter(({ lead }) => leads?.test(lead))
    .flatMap((one) => reading.trim(one, isStop) ?? []);
  const isName = ({ from }: Phrase) => /^\p{Lu}/u.test(reading.text(from));
  const best = led.find(isName) ?? led.find(({ from }) => toNumber(reading.text(from)) === undefined);
  const next = phrases.find(({ from, lead }) => best && from === best.to + 1 && lead === ",");
  // "Bogotá, Colombia" is one place.
  const isRegion = withRegion && isPlace(property) && next && isName(next);
  return best && takeOn(reading, isRegion ? { ...best, to: next.to } : best, leads === TEXT);
}

/** What is left once the opening ("please search the web for") and the tool's own words at either end are gone. */
export function takeRest(reading: Reading, property: Property, isOwn: (word: string) => boolean) {
  let isNamed = false;
  const isOpening = (word: string) => {
    isNamed ||= isOwn(word);
    return isOwn(word) || isStop(word) || (!isNamed && isGeneric(stem(word)));
  };
  const [first] = reading.phrases().flatMap((phrase) => reading.trim(phrase, isOpening) ?? []);
  const leads = leadsOf(property);
  return first && takeOn(reading, first, leads === undefined || leads === TEXT, isOwn);
}

/** Takes the phrase. A text runs on across commas and little words, where the name of something ends. */
function takeOn(reading: Reading, { from, to }: Phrase, runsOn: boolean, isOwn = isStop): string {
  const open = new Set(reading.open.map(({ at }) => at));
  let last = to;
  while (runsOn && open.has(last + 1)) last += 1;
  while (last > from && (isStop(reading.text(last)) || isOwn(reading.text(last)))) last -= 1;
  return reading.take(from, last);
}

/** A whole answer to "which city?", or its first phrase: without "it's" and "in". */
export function takeAnswer(reading: Reading, isShort: boolean): string | undefined {
  const isOpening = (word: string) => /^(?:it['’]?s|that['’]?s|use|in|for|at|my|the)$/i.test(word);
  const first = reading.open.find(({ text }) => !isOpening(text));
  const last = isShort
    ? reading.phrases().find(({ to }) => first && to >= first.at)?.to
    : reading.open.at(-1)?.at;
  return first && reading.take(first.at, last);
}

/** The whole message as what was asked for: yes or no, or a list. */
export function answerAs(type: string, text: string): unknown {
  const [first = ""] = wordsOf(text.toLowerCase());
  if (type === "array") return text.split(/,|\band\b/).flatMap((part) => part.trim() || []);
  if (type !== "boolean" || !/^(?:yes|yeah|sure|true|on|no|nope|false|off)$/.test(first)) return undefined;
  return !/^(?:no|nope|false|off)$/.test(first);
}
