/** Places and countries in a text: "in New York, US", "from Oslo to Rome", "Berlin weather". */
import { kindOf } from "./kinds.ts";
import { type Branch, type Params, type Property, textOf } from "./schema.ts";
import type { Source } from "./source.ts";
import { isStop, stem, wordsOfName } from "./words.ts";

const TIME_WORDS = new Set(
  `today tonight tomorrow yesterday now morning afternoon evening night weekend week month year day days hour hours
  monday tuesday wednesday thursday friday saturday sunday next coming right moment later soon celsius fahrenheit
  metric imperial units unit degrees english please general detail short order time fact case particular`.split(
    /\s+/,
  ),
);

const PHRASE = /^\p{L}[\p{L}.'’-]*(?: \p{L}[\p{L}.'’-]*){0,5}/u;
const LEAD = "(?:the (?:city|town|region|village|area) of )?(?:the )?";

/** Takes the place that this property's role asks for; a capitalised one before any other. */
export function takePlace(source: Source, property: Property, withCountry: boolean): string | undefined {
  for (const prepositions of prepositionsOf(property)) {
    const phrases = phrasesAfter(source.rest, prepositions);
    const best = phrases.find((phrase) => /^\p{Lu}/u.test(phrase.text)) ?? phrases[0];
    if (best) {
      const text = best.text + regionAfter(source.rest.slice(best.start + best.text.length), withCountry);
      source.take(best.start, best.start + text.length);
      return text;
    }
  }
  return undefined;
}

/** "Paris, Texas" is not Paris: a region stays with its place, a country where nothing else takes it. */
function regionAfter(text: string, withCountry: boolean): string {
  const region = /^,\s*(\p{Lu}\p{L}+(?: \p{Lu}\p{L}+)*)(?![\p{L}'’-])/u.exec(text);
  const name = region?.[1];
  if (!region || name === undefined || isStop(name)) return "";
  const isCountry = codeOf(name) !== undefined || codeOf(name.split(" ")[0] ?? "") !== undefined;
  // "Berlin, Rome and Paris" is a list.
  const isList = /^\s*,|^\s+and\b/u.test(text.slice(region[0].length));
  return isList || (isCountry && !withCountry) ? "" : region[0];
}

function phrasesAfter(text: string, prepositions: string): { text: string; start: number }[] {
  const found: { text: string; start: number }[] = [];
  const opening = new RegExp(`\\b(?:${prepositions})\\s+${LEAD}(?=\\p{L})`, "giu");
  for (const match of text.matchAll(opening)) {
    const start = match.index + match[0].length;
    const place = cut(PHRASE.exec(text.slice(start))?.[0] ?? "");
    if (place !== "") found.push({ text: place, start });
  }
  return found;
}

function prepositionsOf(property: Property): readonly string[] {
  const words = wordsOfName(property.name);
  if (words.some((word) => ["origin", "from", "source", "departure", "start"].includes(word)))
    return ["from"];
  if (words.some((word) => ["destination", "to", "target", "arrival"].includes(word)))
    return ["to", "in|for"];
  return ["in|for|at|near|around|across", "of|to|from"];
}

/** Little words inside names: Frankfurt am Main, Isle of Man. */
const LINKS = /^(?:am|of|upon)$/;

/** The words of a phrase that still belong to a place. */
function cut(phrase: string): string {
  const kept: string[] = [];
  const words = phrase.split(" ");
  for (const [at, word] of words.entries()) {
    const bare = word.replace(/[.'’-]+$/u, "");
    const links = kept.length > 0 && LINKS.test(bare) && /^\p{Lu}/u.test(words[at + 1] ?? "");
    if (bare === "" || (isStop(bare) && !links) || TIME_WORDS.has(bare.toLowerCase())) break;
    kept.push(word);
    if (word !== bare && !/^(st|mt|ft)$/i.test(bare)) break;
  }
  return kept.join(" ").replace(/[.'’-]+$/u, "");
}

/** Takes a country, as its ISO code where the property wants one, else by name. */
export function takeCountry(source: Source, property: Property): string | undefined {
  for (const match of source.rest.matchAll(/(?:,\s*|\b(?:in|from)\s+(?:the\s+)?|\()(?=\p{L})/giu)) {
    const start = match.index + match[0].length;
    const words = (PHRASE.exec(source.rest.slice(start))?.[0] ?? "").split(" ");
    for (let count = words.length; count > 0; count -= 1) {
      const spelled = words.slice(0, count).join(" ");
      const code = codeOf(spelled);
      if (code === undefined) continue;
      source.take(start, start + spelled.length);
      return wantsCode(property) ? code : (countries().codes.get(code) ?? spelled);
    }
  }
  return undefined;
}

function codeOf(spelled: string): string | undefined {
  const bare = spelled.replace(/\.$/, "");
  const named = countries().byName.get(bare.toLowerCase());
  if (named !== undefined) return named;
  // "in" and "at" are codes too, so a code counts only in capitals.
  return /^[A-Z]{2}$/.test(bare) && countries().codes.has(bare) ? bare : undefined;
}

function wantsCode(property: Property): boolean {
  const { schema } = property;
  const described = `${wordsOfName(property.name).join(" ")} ${textOf(schema["description"])}`;
  return schema["maxLength"] === 2 || /\bcode\b|iso|alpha-2|two-letter/i.test(described);
}

interface Countries {
  readonly codes: ReadonlyMap<string, string>;
  readonly byName: ReadonlyMap<string, string>;
}

let known: Countries | undefined;

function countries(): Countries {
  known ??= readCountries();
  return known;
}

function readCountries(): Countries {
  const names = new Intl.DisplayNames(["en"], { type: "region", fallback: "none" });
  const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
  const codes = new Map<string, string>();
  const byName = new Map([
    ["usa", "US"],
    ["uk", "GB"],
    ["england", "GB"],
    ["scotland", "GB"],
    ["holland", "NL"],
  ]);
  for (const first of letters) {
    for (const second of letters) {
      const name = names.of(first + second);
      // A code that was replaced ("DD") has the name of the one in use.
      const isCurrent = Intl.getCanonicalLocales(`und-${first}${second}`)[0] === `und-${first}${second}`;
      if (name === undefined || name === "Unknown Region" || !isCurrent) continue;
      codes.set(first + second, name);
      if (!byName.has(name.toLowerCase())) byName.set(name.toLowerCase(), first + second);
    }
  }
  return { codes, byName };
}

/** A bare name in a request of key words, such as "berlin weather": what is left when the tool's own words go. */
export function takeBareName(source: Source, isToolWord: (stemmed: string) => boolean): string | undefined {
  const runs = [...source.rest.matchAll(/\p{L}[\p{L}'’-]*(?: \p{L}[\p{L}'’-]*)*/gu)];
  const count = source.text.split(/\s+/).length;
  for (const run of runs) {
    let start = run.index;
    let kept: string[] = [];
    let from = start;
    for (const word of [...run[0].split(" "), ""]) {
      const foreign =
        word !== "" && !isStop(word) && !TIME_WORDS.has(word.toLowerCase()) && !isToolWord(stem(word));
      if (foreign) {
        if (kept.length === 0) from = start;
        kept.push(word);
      } else if (kept.length > 0) {
        const phrase = kept.join(" ");
        const opens = /(?:^|[.!?]\s*)$/u.test(source.text.slice(0, from));
        const proper = kept.every((part) => /^\p{Lu}/u.test(part)) && (!opens || count <= 4);
        if (proper || (count <= 4 && kept.length <= 3 && !asks(source.text))) {
          source.take(from, from + phrase.length);
          return phrase;
        }
        kept = [];
      }
      start += word.length + 1;
    }
  }
  return undefined;
}

/** True for a sentence rather than a row of key words. */
function asks(text: string): boolean {
  return /\b(is|are|was|will|does|do|can|could|should|how|what|when|why|it|i|me|my|you)\b/i.test(text);
}

const MOST_PLACES = 4;

/** "Berlin, Paris and Rome": the parameters again for each place named beside the first. */
export function placesBeside(branch: Branch, params: Params, text: string): Params[] {
  const property = branch.properties.find(
    (one) => kindOf(one) === "place" && typeof params[one.name] === "string",
  );
  if (!property) return [];
  const first = String(params[property.name]);
  const at = text.indexOf(first);
  const more =
    at < 0
      ? null
      : /^((?:,\s*\p{Lu}[\p{L} .'’-]*?)*),?\s+and\s+(?:in\s+|for\s+)?(\p{Lu}[\p{L}.'’-]*(?: \p{Lu}[\p{L}.'’-]*)*)/u.exec(
          text.slice(at + first.length),
        );
  if (!more) return [];
  const between = (more[1] ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "" && codeOf(part) === undefined);
  const places = [...between, (more[2] ?? "").replace(/[.'’-]+$/u, "")].slice(0, MOST_PLACES);
  const country = branch.properties.find((one) => kindOf(one) === "country");
  return places.map((place) => {
    const again: Params = { ...params, [property.name]: place };
    if (country && !country.required) delete again[country.name];
    return again;
  });
}
