/** The records in a tool's answer. Only structure counts: what a field's text pretends to be is never read as another field. */
import { wordsOfName } from "../../../kernel/kit.ts";
import { readYaml } from "./yaml.ts";

export type Scalar = string | number | boolean;
/** One thing with its fields; a plain text in a list is a record of one. */
export type AnswerRecord = readonly (readonly [field: string, value: Scalar])[];

const MOST_RECORDS = 2000;
const MOST_DEPTH = 12;
const MOST_TEXT = 2_000_000;

export function recordsIn(text: string): readonly AnswerRecord[] {
  const found: AnswerRecord[] = [];
  const walk = (value: unknown, depth: number): void => {
    if (depth > MOST_DEPTH || found.length >= MOST_RECORDS) return;
    if (Array.isArray(value)) {
      for (const one of value) {
        if (typeof one === "string") found.push([["", one]]);
        else walk(one, depth + 1);
      }
    } else if (typeof value === "object" && value !== null) {
      const fields = Object.entries(value);
      found.push(fields.flatMap(([name, one]) => (isScalar(one) ? [[name, one] as const] : [])));
      for (const [, one] of fields) {
        const isList = Array.isArray(one) && one.every((each) => !isObject(each));
        if (isObject(one) && !isList) walk(one, depth + 1);
      }
    }
  };
  walk(parse(text), 0);
  return found;
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

function isScalar(value: unknown): value is Scalar {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

function parse(text: string): unknown {
  if (text.length > MOST_TEXT) return undefined;
  const isJson = /^\s*[[{]/.test(text);
  try {
    return isJson ? JSON.parse(text) : readYaml(text);
  } catch {
    return undefined;
  }
}

const LISTS =
  /^(?:list|search|find|query|lookup|filter|all|recent|create|add|append|reserve|book|schedule|update|save)$/;
const GETS = /^(?:get|show|check)$/;
const PLURAL = /[^siu]s$/;
/** These answer with a text that somebody else wrote from its first letter to its last, records and all. */
const READS =
  /^(?:read|fetch|open|download|browse|scrape|cat|load|view|extract|summari[sz]e|transcribe|translate|run|exec|execute|shell|eval|http|web|webpage|page|pages|url|site|website|html|content|contents|body|text|raw|feed|rss|request|call)$/;

/** True where the answers of a tool list things, so that their fields are the tool's own. */
export function listsThings(tool: string): boolean {
  const words = wordsOfName(tool);
  if (words.some((word) => READS.test(word))) return false;
  return (
    words.some((word) => LISTS.test(word)) ||
    (words.some((word) => GETS.test(word)) && words.some((word) => PLURAL.test(word)))
  );
}
