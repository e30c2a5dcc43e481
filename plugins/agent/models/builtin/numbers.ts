/** Numbers in a text and the property each belongs to: by its label or unit first, then by order. */
import { type Property, textOf, typeOf } from "./schema.ts";
import { type Source, TAKEN } from "./source.ts";
import { means } from "./synonyms.ts";
import { isStop, stem, wordsOf, wordsOfName } from "./words.ts";

interface Found {
  readonly value: number;
  readonly start: number;
  readonly end: number;
}

const SPOKEN = "zero one two three four five six seven eight nine ten eleven twelve".split(" ");
const NUMBER = /(?<![\p{L}\p{N}_.#-])[-−+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![\p{N}_]|[-.:/]\p{N})/gu;

/** Takes the number this property's name, description or unit points at. */
export function takeLabelled(source: Source, property: Property): number | undefined {
  const labels = labelsOf(property);
  const compass = takeCompass(source, labels);
  if (compass !== undefined) return compass;
  const found = numbersIn(source).find((number) =>
    neighbours(source.rest, number).some((word) => labels.has(word)),
  );
  return found && take(source, found, property);
}

/** Takes the next number, whatever stands beside it. */
export function takeNext(source: Source, property: Property): number | undefined {
  const found = numbersIn(source).find((number) => fits(number.value, property));
  return found && take(source, found, property);
}

export function countNumbers(source: Source): number {
  return numbersIn(source).length;
}

export function takeAllNumbers(source: Source): number[] {
  return numbersIn(source).map((found) => {
    source.take(found.start, found.end);
    return found.value;
  });
}

function take(source: Source, found: Found, property: Property): number | undefined {
  if (typeOf(property.schema) === "integer" && !Number.isInteger(found.value)) return undefined;
  source.take(found.start, found.end);
  return found.value;
}

function numbersIn(source: Source): Found[] {
  const found: Found[] = [];
  for (const match of source.rest.matchAll(NUMBER)) {
    const value = Number(match[0].replaceAll(",", "").replace("−", "-"));
    if (Number.isFinite(value)) found.push({ value, start: match.index, end: match.index + match[0].length });
  }
  for (const word of wordsOf(source.rest)) {
    const value = SPOKEN.indexOf(word.text.toLowerCase());
    if (value >= 0) found.push({ value, start: word.start, end: word.end });
  }
  return found.sort((one, other) => one.start - other.start);
}

function labelsOf(property: Property): { has(word: string): boolean } {
  const own = wordsOfName(property.name).map(stem);
  const described = wordsOf(textOf(property.schema["description"]))
    .filter((word) => !isStop(word.text) && word.text.length > 3)
    .slice(0, 3)
    .map((word) => word.stem);
  const all = [...own, ...described];
  return { has: (word) => all.some((label) => means(label, word)) };
}

/** The word after the number, and the last one or two before it. */
function neighbours(text: string, number: Found): string[] {
  const before = wordsOf(
    text
      .slice(Math.max(0, number.start - 40), number.start)
      .split(TAKEN)
      .pop() ?? "",
  )
    .filter((word) => !isStop(word.text))
    .slice(-1);
  const following = /^[\s°]*([\p{L}%]+)/u.exec(text.slice(number.end));
  return [...before.map((word) => word.stem), ...(following?.[1] ? [stem(following[1])] : [])];
}

/** "52.5 N" is a latitude of 52.5, "0.12° W" a longitude of -0.12. */
function takeCompass(source: Source, labels: { has(word: string): boolean }): number | undefined {
  const letters = labels.has("lat") ? "NS" : labels.has("lon") ? "EW" : "";
  if (letters === "") return undefined;
  const match = new RegExp(`(\\d+(?:\\.\\d+)?)\\s*°?\\s*([${letters}])\\b`).exec(source.rest);
  if (!match) return undefined;
  source.take(match.index, match.index + match[0].length);
  return "SW".includes(match[2] ?? "") ? -Number(match[1]) : Number(match[1]);
}

function fits(value: number, property: Property): boolean {
  return typeOf(property.schema) !== "integer" || Number.isInteger(value);
}
