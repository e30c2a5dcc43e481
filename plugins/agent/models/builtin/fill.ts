/** Reads a tool's parameters out of what the user wrote. */

import { stem, wordsOfName } from "../../../../kernel/kit.ts";
import type { Format } from "../../../../kernel/plugin.ts";
import type { ModelTool } from "../model.ts";
import { type Heard, Reading } from "./reading.ts";
import { type Branch, branchesOf, fits, type Params, type Property, parseRecord, textOf } from "./schema.ts";
import * as values from "./values.ts";
import { contentStems } from "./words.ts";

export interface Filled {
  readonly params: Params;
  /** Required parameters nothing was found for. */
  readonly missing: readonly Property[];
}

/** `known` comes from earlier in the conversation; for `asked`, which the message answers, a bare value is enough. */
export function fill(tool: ModelTool, branch: Branch, heard: Heard, known: Params = {}, asked = ""): Filled {
  const reading = new Reading(heard);
  const found = jsonIn(heard.text);
  const isAsked = ({ name }: Property) => name === asked;
  // What was asked for comes first: the answer "EUR" must not go to a parameter that was already known.
  const all = [...branch.properties.filter(isAsked), ...branch.properties.filter((one) => !isAsked(one))];
  const open = () => all.filter(({ name }) => !Object.hasOwn(found, name));
  const isWanted = (one: Property) =>
    isAsked(one) || (one.required && (asked === "" || !Object.hasOwn(known, one.name)));
  const wanted = (fits: (one: Property) => boolean) => open().filter((one) => isWanted(one) && fits(one));
  const put = (property: Property, value: unknown) => {
    if (fits(property, value)) found[property.name] = value;
  };

  for (const one of open()) put(one, values.takeValue(reading, one));
  const hasCountry = all.some(({ name }) => /country/i.test(name));
  for (const one of wanted(values.isText)) put(one, values.takeLed(reading, one, !hasCountry));
  const numbers = wanted(values.isNumber);
  const left = values.takeNumbers(reading, numbers.length);
  // One number for two parameters is the number of something else, unless it answers a question.
  if (asked !== "" || left.length === numbers.length)
    for (const [at, one] of numbers.entries()) put(one, left[at]);
  for (const one of wanted(values.isText)) put(one, values.takeQuoted(reading));
  const [last] = wanted(values.isText);
  const isShort = hasCountry && last !== undefined && values.isPlace(last);
  if (last && asked !== "") put(last, checkId(last, values.takeAnswer(reading, isShort)));
  else if (last) put(last, checkId(last, values.takeRest(reading, last, ownWords(tool, branch))));
  for (const one of wanted(isAsked)) put(one, values.answerAs(one.type, heard.text));
  // What the schema does not take is asked for again, or dropped where it was optional.
  const given = branch.properties.filter((one) => fits(one, { ...known, ...found }[one.name]));
  const params = Object.fromEntries(given.map(({ name }) => [name, { ...known, ...found }[name]]));
  const missing = branch.properties.filter((one) => one.required && !given.includes(one));
  return { params: { ...branch.fixed, ...params }, missing };
}

/** For a parameter that has to have a value although none was said. */
export function guess({ type, choices, least, most }: Property, text: string): unknown {
  const values: Readonly<Record<string, unknown>> = {
    choice: choices[0],
    string: text.slice(0, most),
    number: Math.max(0, least),
    integer: Math.max(0, Math.ceil(least)),
    boolean: false,
    array: [],
  };
  return values[type] ?? {};
}

const ANSWER = /answer|response|reply|message|text|result|summary|content/i;

/**
 * An answer as JSON: what the user said fills the schema, and the answer itself is the text that is named so, or the
 * only one that nothing was said for. Where more is missing it says so, in words.
 */
export function fillFormat(format: Format, heard: Heard, answer: string): string {
  if (format.type === "json_object") return JSON.stringify({ answer });
  const { name, description = "", schema } = format;
  const tool = { name, description, schema };
  const [branch] = branchesOf(schema);
  if (branch === undefined) return answer;
  const isAnswer = (one: Property) => values.isText(one) && ANSWER.test(one.name);
  const said = branch.properties.find((one) => one.required && isAnswer(one));
  const rest = { ...branch, properties: branch.properties.filter((one) => one !== said) };
  const { params, missing } = fill(tool, rest, heard);
  const [first, ...others] = said === undefined ? missing : [said, ...missing];
  if (first === undefined) return JSON.stringify(params);
  if (others.length === 0 && values.isText(first)) return JSON.stringify({ ...params, [first.name]: answer });
  return `I am a small built-in model and found nothing for ${missing.map((one) => one.name).join(", ")}.`;
}

/** Parameters written out as JSON are taken as they stand. */
function jsonIn(text: string): Params {
  return parseRecord(text.slice(Math.max(0, text.indexOf("{")), text.lastIndexOf("}") + 1));
}

/** An identifier has a digit in it and no space. */
function checkId({ name }: Property, text: string | undefined): string | undefined {
  const isId = /^(?:id|ref|reference|sku|serial|number)$/.test(wordsOfName(name).at(-1) ?? "");
  const looksLikeId = /\d/.test(text ?? "") && !/\s/.test(text ?? "");
  return isId && !looksLikeId ? undefined : text;
}

/** Words the tool uses about itself: they lead to a value and are none. */
function ownWords(tool: ModelTool, branch: Branch): (word: string) => boolean {
  const names = ["tool", "function", tool.name, ...branch.properties.map(({ name }) => name)];
  const own = [...names, ...Object.values(branch.fixed).map(textOf)].flatMap(wordsOfName).map(stem);
  const all = contentStems(`${tool.description.slice(0, 1000)} ${branch.description}`).union(new Set(own));
  return (word) => all.has(stem(word));
}
