/** Finds the tool that a message is about, and reads its parameters out of what the user wrote. */
import { isStop, sayName, stem, wordsOfName } from "../../../kernel/kit/words.ts";
import type { Format, ModelTool } from "../services.ts";
import { contentStems, wordsOf } from "./content-stems.ts";
import { isoDate, isoTime } from "./dates.ts";
import { type Heard, MessageReader, type Phrase } from "./message-reader.ts";
import { type Branch, branchesOf, fits, type Params, type Property, textOf } from "./schema.ts";

export type Candidate = NonNullable<ReturnType<typeof weigh>>;
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** A message with this score is taken to mean the tool. */
const MIN_SCORE = 2;
/** Tools whose scores differ by less fit alike. */
const CLOSE = 0.5;

/** The tool that is meant, or several that fit alike, or none. */
export function choose(heard: Heard, tools: readonly ModelTool[]): readonly Candidate[] {
  const isAboutMemory = /\bmemory|\bnotes?\b|\.md\b/i.test(heard.text);
  const candidates = tools
    .filter(({ name }) => isAboutMemory || !name.startsWith("memory_"))
    .flatMap((tool) => weigh(tool, heard) ?? [])
    .filter(({ score }) => score >= MIN_SCORE)
    .sort((one, other) => other.score - one.score);
  const [top] = candidates;
  if (!top) return [];
  // `weather` and `get_weather` do the same. The tools that a caller declares come last, and are the ones meant.
  const same = candidates.filter(({ tool }) => isLike(tool, top.tool) || isLike(top.tool, tool));
  const last = tools.findLast((tool) => same.some((one) => one.tool === tool));
  if (last !== top.tool) return same.filter(({ tool }) => tool === last);
  return candidates.filter(({ score }) => top.score - score < CLOSE);
}

/** One name is the other with a word like "get" added. */
function isLike(one: ModelTool, other: ModelTool): boolean {
  const [long, short] = [one, other].map(({ name }) => new Set(wordsOfName(name).map(stem)));
  return !!long && !!short && short.isSubsetOf(long) && [...long.difference(short)].every(isGeneric);
}

/** The tool with the parameters it would be called with, in the branch that fits best. */
export function weigh(tool: ModelTool, heard: Heard) {
  const candidates = branchesOf(tool.schema).flatMap((branch) => {
    const words = scoreOf(tool, branch, heard);
    if (words <= 0) return [];
    const filled = fill(tool, branch, heard);
    return [{ tool, branch, filled, score: words + (filled.missing.length === 0 ? 0.4 : 0) }];
  });
  return candidates.sort((one, other) => other.score - one.score)[0];
}

function scoreOf(tool: ModelTool, branch: Branch, heard: Heard): number {
  const stems = (names: readonly string[]) => new Set(names.flatMap(wordsOfName).map(stem));
  const [name, fixed] = [stems([tool.name]), Object.values(branch.fixed).map(textOf)];
  const names = name.union(stems(fixed));
  const taken = branch.properties.flatMap((one) => [one.name, ...one.choices.map(textOf)]);
  const inputs = stems(taken).difference(names);
  // The tags around the words of others are none of them.
  const description = tool.description.slice(0, 1000).replaceAll(/<\/?outside\b[^<>]{0,80}>/g, " ");
  const about = contentStems(`${description} ${branch.description}`);
  const said = (words: ReadonlySet<string>) =>
    [...words].filter((word) => heard.stems.has(word) && !/^\p{N}/u.test(word));
  // A tool called just "search" or "add" is meant by that word.
  const worth = (word: string) => (isGeneric(word) && ![...name].every(isGeneric) ? 0.8 : 3);
  const named = sum(said(names).map(worth));
  // `weather` is meant rather than `weather_pro` where nobody says "pro".
  const unsaid = [...name].filter((word) => !heard.stems.has(word) && !isGeneric(word)).length;
  // A tool is not about its inputs: a weather tool is not about cities.
  const told = said(about.difference(names).difference(inputs)).map((word) => (isGeneric(word) ? 0.5 : 1));
  const given = Math.min(1, 0.7 * said(inputs).length);
  // "Tomorrow" means the forecast, not the weather now.
  const branchWords = [...fixed.flatMap(wordsOfName), branch.description].join(" ");
  const later = heard.isLater && /\b(?:forecast|days|week)\b/.test(branchWords) ? 0.5 : 0;
  return Math.min(8, named) - (named > 0 ? 0.6 * unsaid : 0) + Math.min(3, sum(told)) + given + later;
}

/** Half of all tools have one of these in their names, so they say little about which one is meant. */
const GENERIC = new Set(
  `get set list find search lookup look run do create make fetch show read write load add new update delete remove
  check query call use execute start turn switch put tool data info information item id value by all`
    .split(/\s+/)
    .map(stem),
);
const isGeneric = (stemmed: string): boolean => GENERIC.has(stemmed);

/** `known` comes from earlier in the conversation; for `asked`, which the message answers, a bare value is enough. */
export function fill(tool: ModelTool, branch: Branch, heard: Heard, known: Params = {}, asked = "") {
  const reading = new MessageReader(heard);
  const found = { ...heard.json };
  const isAsked = ({ name }: Property) => name === asked;
  // The parameter that was asked for comes first: the answer "EUR" must not go to one that was known.
  const all = [...branch.properties.filter(isAsked), ...branch.properties.filter((one) => !isAsked(one))];
  const open = () => all.filter(({ name }) => !Object.hasOwn(found, name));
  const isWanted = (one: Property) =>
    isAsked(one) || (one.required && (asked === "" || !Object.hasOwn(known, one.name)));
  const wanted = (fits: (one: Property) => boolean) => open().filter((one) => isWanted(one) && fits(one));
  const put = (property: Property, value: unknown) => {
    if (fits(property, value)) found[property.name] = value;
  };

  for (const one of open()) put(one, takeValue(reading, one));
  const hasCountry = all.some(({ name }) => /country/i.test(name));
  for (const one of wanted(isText)) put(one, takeLed(reading, one, !hasCountry));
  const numbers = wanted(isNumber);
  const tokens = reading.open.filter(({ text }) => toNumber(text) !== undefined).slice(0, numbers.length);
  const left = tokens.map(({ at }) => toNumber(reading.take(at)));
  // One number for two parameters is the number of something else, unless it answers a question.
  if (asked !== "" || left.length === numbers.length)
    for (const [at, one] of numbers.entries()) put(one, left[at]);
  const takeQuoted = () => reading.takeFirst(({ isQuoted }) => isQuoted);
  for (const one of wanted(isText)) put(one, takeQuoted());
  const [last] = wanted(isText);
  const isShort = hasCountry && last !== undefined && isPlace(last);
  if (last && asked !== "") put(last, checkId(last, takeAnswer(reading, isShort)));
  else if (last) put(last, checkId(last, takeRest(reading, last, ownWords(tool, branch))));
  for (const one of wanted(isAsked)) put(one, answerAs(one.type, heard.text));
  // A value that the schema does not take is asked for again, or dropped where it was optional.
  const merged = { ...known, ...found };
  const given = branch.properties.filter((one) => fits(one, merged[one.name]));
  const params = Object.fromEntries(given.map(({ name }) => [name, merged[name]]));
  const missing = branch.properties.filter((one) => one.required && !given.includes(one));
  return { params: { ...branch.fixed, ...params }, missing };
}

/** Makes up a value for a parameter that has to have one although none was said. */
export function guess({ type, choices, least, most }: Property, text: string): unknown {
  if (type === "choice") return choices[0] ?? {};
  if (type === "string") return text.slice(0, most);
  if (isNumber({ type })) return Math.max(0, type === "integer" ? Math.ceil(least) : least);
  return type === "boolean" ? false : type === "array" ? [] : {};
}

const ANSWER = /answer|response|reply|message|text|result|summary|content/i;

/** Answers as JSON: what the user said fills the schema, and the answer is the text that is named so or the only one left. */
export function fillFormat(format: Format, heard: Heard, answer: string): string {
  if (format.type === "json_object") return JSON.stringify({ answer });
  const { name, description = "", schema } = format;
  const [branch] = branchesOf(schema);
  if (branch === undefined) return answer;
  const isAnswer = (one: Property) => isText(one) && ANSWER.test(one.name);
  const said = branch.properties.find((one) => one.required && isAnswer(one));
  const rest = { ...branch, properties: branch.properties.filter((one) => one !== said) };
  const { params, missing } = fill({ name, description, schema }, rest, heard);
  const [first, ...others] = said === undefined ? missing : [said, ...missing];
  if (first === undefined) return JSON.stringify(params);
  if (others.length === 0 && isText(first)) return JSON.stringify({ ...params, [first.name]: answer });
  return `I am a small built-in model and found nothing for ${missing.map((one) => one.name).join(", ")}.`;
}

/** An identifier has a digit and no space. */
function checkId({ name }: Property, text: string | undefined): string | undefined {
  const isId = /^(?:id|ref|reference|sku|serial|number)$/.test(wordsOfName(name).at(-1) ?? "");
  const looksLikeId = /\d/.test(text ?? "") && !/\s/.test(text ?? "");
  return isId && !looksLikeId ? undefined : text;
}

/** The words that the tool uses about itself lead to a value and are none. */
function ownWords(tool: ModelTool, branch: Branch): (word: string) => boolean {
  const names = ["tool", "function", tool.name, ...branch.properties.map(({ name }) => name)];
  const own = [...names, ...Object.values(branch.fixed).map(textOf)].flatMap(wordsOfName).map(stem);
  const all = contentStems(`${tool.description.slice(0, 1000)} ${branch.description}`).union(new Set(own));
  return (word) => all.has(stem(word));
}

const SPOKEN = "zero one two three four five six seven eight nine ten eleven twelve".split(" ");
const PLACE = /\b(?:city|town|place|location|address|region|airport|timezone)\b/;
const TEXT = /^(?:saying|says|called|named|titled|about)$/;
const DAY = /\b(?:date|day|birthday|deadline)\b/;
const NUMBER = /^[-−+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?[°%]?$/;

/** Texts that have a form of their own, by the parameter's format or name. */
const FORMS: readonly (readonly [RegExp, (reading: MessageReader) => string | undefined])[] = [
  [/\be?mail(?: address)?$/, (reading) => takeLike(reading, /^[^\s@]+@[^\s@.]+\.[^\s@]+$/)],
  [/\b(?:ur[il]|link|website)$/, (reading) => takeLike(reading, /^https?:\/\//i)],
  [/\b(?:date[- ]?time|timestamp)\b/, (reading) => reading.takeDate("hasTime", (date) => date.toISOString())],
  [DAY, (reading) => reading.takeDate("hasDay", isoDate)],
  [/\btime$/, (reading) => reading.takeDate("hasTime", isoTime)],
];

/** True for a tool that is given a day. */
export const takesDay = ({ properties }: Branch): boolean =>
  properties.some(
    ({ type, format, name }) => type === "string" && (DAY.test(format) || DAY.test(sayName(name))),
  );

function formOf({ type, format, name }: Property) {
  const names = type === "string" ? [format, sayName(name)] : [];
  return FORMS.find(([pattern]) => names.some((one) => pattern.test(one)))?.[1];
}

/** Takes what the parameter's type, format and name lead to; undefined where nothing is clearly meant for it. */
function takeValue(reading: MessageReader, property: Property): unknown {
  if (property.type === "choice") return takeChoice(reading, property);
  if (property.type === "boolean") return takeBoolean(reading, property);
  if (property.type === "array") return takeList(reading, property);
  if (isNumber(property)) return takeNumber(reading, property);
  if (/country/i.test(property.name)) return takeLike(reading, /^[A-Z]{2}$/)?.replace("UK", "GB");
  return formOf(property)?.(reading);
}

const isText = (property: Property) => property.type === "string" && formOf(property) === undefined;
const isNumber = ({ type }: Pick<Property, "type">) => type === "number" || type === "integer";
const isPlace = ({ name }: Property) => PLACE.test(sayName(name));
const leadsOf = ({ name }: Property) => LEADS.find(([names]) => names.test(sayName(name)))?.[1];
const takeLike = (reading: MessageReader, pattern: RegExp) =>
  reading.takeFirst(({ text }) => pattern.test(text));

/** The words that English puts before a value, by what the parameter is called. */
const LEADS: readonly (readonly [RegExp, RegExp])[] = [
  [/\b(?:from|source|origin|base|departure)\b/, /^from$/],
  [/\b(?:to|target|destination|into|arrival|language)$/, /^(?:to|into|in)$/],
  [PLACE, /^(?:in|for|at|near|of)$/],
  [/\b(?:name|title|text|body|message|content|comment|note|subject|topic|query)$/, TEXT],
];

/** Takes the listed value that stands where the parameter's name would put it ("to EUR"), else the first there is. */
function takeChoice(reading: MessageReader, property: Property): unknown {
  // A choice goes by its own name and by its part of the description: "imperial: Fahrenheit and mph".
  const parts = property.description.toLowerCase().split(/[;.]\s*/);
  const find = (value: unknown) => {
    const own = String(value).slice(0, 100);
    const about = parts.find((part) => part.startsWith(`${own.toLowerCase()}:`)) ?? "";
    const names = [own, ...wordsOf(about.slice(own.length))].filter((name) => !isStop(name));
    return names.flatMap((name) => reading.find(name) ?? []).map((phrase) => ({ value, ...phrase }));
  };
  const found = property.choices.flatMap(find).sort((one, other) => one.from - other.from);
  const leads = leadsOf(property);
  const others = leads ? LEADS.filter(([, some]) => some !== leads) : [];
  const isOther = ({ lead }: Phrase) => others.some(([, some]) => some.test(lead));
  const best = found.find(({ lead }) => leads?.test(lead)) ?? found.find((one) => !isOther(one));
  if (best) reading.take(best.from, best.to);
  return best?.value;
}

/** Takes true where the parameter is named, and false where "no" or "off" stands beside it. */
function takeBoolean(reading: MessageReader, { name }: Property): boolean | undefined {
  const label = name.replace(/^(?:is|has|include|with|enable)_/, "");
  const found = reading.find(label) ?? (label === "on" ? reading.find("off") : undefined);
  if (!found) return undefined;
  const beside = reading.open.filter(({ at }) => at >= found.from - 2 && at <= found.to + 1);
  reading.take(found.from, found.to);
  return !beside.some(({ text }) => /^(?:no|false|off|not|without|don['’]?t)$/i.test(text));
}

/** Takes the number beside the parameter's name, or before the compass point that stands for it. */
function takeNumber(reading: MessageReader, { name }: Property): number | undefined {
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

function toNumber(text: string): number | undefined {
  if (NUMBER.test(text)) return Number.parseFloat(text.replaceAll(",", "").replace("−", "-"));
  return SPOKEN.includes(text.toLowerCase()) ? SPOKEN.indexOf(text.toLowerCase()) : undefined;
}

function takeList(reading: MessageReader, { name }: Property): unknown {
  const [label, last] = [reading.find(name), reading.open.at(-1)];
  if (!label || !last || last.at <= label.to) return undefined;
  reading.take(label.from, label.to);
  return answerAs("array", reading.take(label.to + 1, last.at));
}

/** Takes the phrase that English puts such a value in: "in Berlin", "from Oslo", "saying hello". */
function takeLed(reading: MessageReader, property: Property, withRegion: boolean): string | undefined {
  const phrases = reading.phrases();
  const leads = leadsOf(property);
  const led = phrases.flatMap((one) => (leads?.test(one.lead) && reading.trim(one, isStop)) || []);
  const isName = ({ from }: Phrase) => /^\p{Lu}/u.test(reading.text(from));
  const best = led.find(isName) ?? led.find(({ from }) => toNumber(reading.text(from)) === undefined);
  const next = phrases.find(({ from, lead }) => best && from === best.to + 1 && lead === ",");
  // "Bogotá, Colombia" is one place.
  const isRegion = withRegion && isPlace(property) && next && isName(next);
  return best && takeOn(reading, isRegion ? { ...best, to: next.to } : best, leads === TEXT);
}

/** Takes what is left without the opening ("please search the web for") and the tool's own words at either end. */
function takeRest(reading: MessageReader, property: Property, isOwn: (word: string) => boolean) {
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
function takeOn(reading: MessageReader, { from, to }: Phrase, runsOn: boolean, isOwn = isStop): string {
  const open = new Set(reading.open.map(({ at }) => at));
  let last = to;
  while (runsOn && open.has(last + 1)) last += 1;
  while (last > from && (isStop(reading.text(last)) || isOwn(reading.text(last)))) last -= 1;
  return reading.take(from, last);
}

/** Takes a whole answer to "which city?", or its first phrase, without "it's" and "in". */
function takeAnswer(reading: MessageReader, isShort: boolean): string | undefined {
  const isOpening = /^(?:it['’]?s|that['’]?s|use|in|for|at|my|the)$/i;
  const first = reading.open.find(({ text }) => !isOpening.test(text));
  const phrase = isShort ? reading.phrases().find(({ to }) => first && to >= first.at) : undefined;
  return first && reading.take(first.at, isShort ? phrase?.to : reading.open.at(-1)?.at);
}

/** Reads the whole message as what was asked for: yes or no, or a list. */
function answerAs(type: string, text: string): unknown {
  if (type === "array") return text.split(/,|\band\b/).flatMap((part) => part.trim() || []);
  const [first = ""] = type === "boolean" ? wordsOf(text.toLowerCase()) : [];
  const isNo = /^(?:no|nope|false|off)$/.test(first);
  return isNo || /^(?:yes|yeah|sure|true|on)$/.test(first) ? !isNo : undefined;
}
