/** Makes an integration's message from an event: `{{a.b.c}}` is looked up in own properties; nothing is evaluated. */
import { visibleLine } from "../../../kernel/kit/text.ts";
import type { Outside } from "../../../kernel/kit/turns.ts";
import { Fault } from "../../../kernel/plugin.ts";

export interface Message {
  readonly text: string;
  /** The ranges of the event's values, which are strangers' words. */
  readonly spans: NonNullable<Outside["spans"]>;
}

type Part = string | readonly string[];

const MAX_TEMPLATE_LENGTH = 2000;
const MAX_VALUES = 32;
const MAX_LEVELS = 8;
const MAX_VALUE_LENGTH = 200;
const KEY = /^[\w$@-]{1,64}$/;

/** Throws a fault that says what is wrong. */
export function parseTemplate(template: string): readonly Part[] {
  if (template.length > MAX_TEMPLATE_LENGTH) throw bad(`must have at most ${MAX_TEMPLATE_LENGTH} characters`);
  if (template.trim() === "" || template.includes("\0")) throw bad("must not be blank, nor contain NUL");
  const parts: Part[] = [];
  let at = 0;
  for (let open = template.indexOf("{{"); open !== -1; open = template.indexOf("{{", at)) {
    const close = template.indexOf("}}", open);
    if (close === -1) throw bad(`has a "{{" without a "}}"`);
    const path = template.slice(open + 2, close).trim();
    const keys = path.split(".");
    if (keys.length > MAX_LEVELS || !keys.every((key) => KEY.test(key)))
      throw bad(
        `cannot look up "${path}": write {{name}} or {{name.of.a.field}}, at most ${MAX_LEVELS} names`,
      );
    parts.push(template.slice(at, open), keys);
    at = close + 2;
  }
  if (parts.length / 2 > MAX_VALUES) throw bad(`may fill in at most ${MAX_VALUES} values`);
  return [...parts, template.slice(at)];
}

export function render(parts: readonly Part[], event: unknown): Message {
  let text = "";
  const spans: { from: number; to: number }[] = [];
  for (const part of parts) {
    if (typeof part === "string") {
      text += part;
      continue;
    }
    const value = show(lookUp(event, part));
    const from = text.length;
    text += value === "" ? `(no ${part.join(".")})` : value;
    if (value !== "") spans.push({ from, to: text.length });
  }
  return { text, spans };
}

function lookUp(event: unknown, keys: readonly string[]): unknown {
  let value = event;
  for (const key of keys) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value;
}

/** Returns "" for what does not fit into a sentence: an object, a list, null, a blank text. */
function show(value: unknown): string {
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") return "";
  const line = visibleLine(
    String(value)
      .slice(0, 2 * MAX_VALUE_LENGTH)
      .trim()
      .toWellFormed(),
  );
  return line.length > MAX_VALUE_LENGTH ? `${line.slice(0, MAX_VALUE_LENGTH).toWellFormed()}…` : line;
}

function bad(problem: string): Fault {
  return new Fault("invalid", "bad_template", `The message template ${problem}.`, {
    param: "message",
    usage: true,
  });
}
