/** Request bodies as text, and JSON that may be long. */
import { setImmediate } from "node:timers/promises";
import type { Middleware } from "koa";
import { Fault } from "../fault.ts";
import { giveWay, LONG_LENGTH } from "../text/long.ts";
import { parseBody } from "./body-parser.ts";

export interface TextOptions {
  /** Bodies of these types are read, such as `json`. */
  readonly types: readonly string[];
  readonly maxBytes: number;
  readonly encoding?: "utf8" | "latin1";
}

/** Reads a body as text. */
export function readText({ types, maxBytes, encoding = "utf8" }: TextOptions): Middleware {
  const reads = { text: true, json: false, urlencoded: false, multipart: false };
  return parseBody({ ...reads, textTypes: [...types], textLimit: maxBytes, encoding });
}

// Written plainly or with an escape for any of its letters.
const MAY_HOLD_PROTO = /__proto__|\\u00/;

/** JSON from outside, without fields named `__proto__`: the first code that copies one to another object would change that object's nature. */
export function parseJson(text: string): unknown {
  const parsed: unknown = JSON.parse(text);
  if (!MAY_HOLD_PROTO.test(text)) return parsed;
  // Not recursive: a body may nest deeper than a stack reaches.
  const waiting = [parsed];
  while (waiting.length > 0) {
    const node = waiting.pop();
    if (typeof node !== "object" || node === null) continue;
    Reflect.deleteProperty(node, "__proto__");
    for (const inner of Object.values(node)) waiting.push(inner);
  }
  return parsed;
}

/** More than any request of ours has, and few enough that parsing, checking and copying them stays short. */
const MAX_DEPTH = 200;
const MAX_VALUES = 100_000;

/** JSON of megabytes: others have their turn in between. */
export async function parseLargeJson(text: string): Promise<unknown> {
  for (const _ of scan(text)) await setImmediate();
  await giveWay(text.length);
  const parsed = parseJson(text);
  await giveWay(text.length);
  return parsed;
}

/** Before anything is parsed: a few megabytes of brackets would take the parser seconds, and code that recurses its stack. */
export const assertSimple = (text: string): void => scan(text).forEach(() => {});

/** One pass, which pauses after each stretch. */
function* scan(text: string): Generator<undefined, void> {
  let depth = 0;
  let values = 0;
  let isInString = false;
  for (let at = 0, steps = 1; at < text.length; at++, steps++) {
    if (steps % LONG_LENGTH === 0) yield;
    const char = text[at];
    if (isInString) {
      at = text.indexOf('"', at);
      // The parser says what is wrong with it.
      if (at === -1) return;
      isInString = isEscaped(text, at);
    } else if (char === '"') isInString = true;
    else if (char === "[" || char === "{") {
      depth++;
      values++;
    } else if (char === "]" || char === "}") depth--;
    else if (char === ",") values++;
    if (depth > MAX_DEPTH) throw tooComplex(`is nested deeper than ${MAX_DEPTH} levels`);
    if (values > MAX_VALUES) throw tooComplex(`holds more than ${MAX_VALUES} values`);
  }
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text[at - 1 - slashes] === "\\") slashes++;
  return slashes % 2 === 1;
}

function tooComplex(what: string): Fault {
  return new Fault("invalid", "body_too_complex", `The body ${what}.`);
}
