/** A server's questions as the fields of a form. The schema is a stranger's: never compiled, and no `pattern` is run. */
import { isRecord } from "../text/json.ts";
import type { Question, Reply } from "./gate.ts";

export type FieldValue = string | number | boolean | readonly string[];

export interface Field {
  readonly name: string;
  readonly label: string;
  readonly about?: string;
  readonly isRequired: boolean;
  readonly kind: "text" | "number" | "integer" | "boolean" | "choice" | "choices";
  readonly choices?: readonly { readonly value: string; readonly label: string }[];
  readonly format?: string;
  /** Characters of a text, the size of a number, how many choices. */
  readonly least?: number;
  readonly most?: number;
  readonly preset?: FieldValue;
}

// More than a person fills in.
const MAX_QUESTIONS = 8;
const MAX_FIELDS = 50;
const MAX_CHOICES = 500;
const MAX_QUESTION_LENGTH = 64 * 1024;
const MAX_TEXT_LENGTH = 16 * 1024;

/** Returns what is wrong with a server's questions; undefined where a person can be asked them. */
export function refuseQuestions(questions: readonly Question[]): string | undefined {
  if (questions.length === 0) return "it asks nothing";
  if (questions.length > MAX_QUESTIONS) return `it asks more than ${MAX_QUESTIONS} questions at once`;
  if (JSON.stringify(questions).length > MAX_QUESTION_LENGTH) return "its question is too long";
  if (new Set(questions.map(({ key }) => key)).size < questions.length)
    return "two of its questions have the same key";
  for (const { url } of questions) {
    const { protocol } = URL.parse(url ?? "https://none.invalid") ?? {};
    if (protocol !== "https:" && protocol !== "http:")
      return "it asks to visit an address that is no web page";
  }
  return questions.some(({ schema, url }) => url === undefined && fieldsOf(schema) === undefined)
    ? "it asks for more than texts, numbers, booleans and choices"
    : undefined;
}

/** The fields of a form, in the schema's order; undefined where it asks for anything that is not one. */
export function fieldsOf(schema: Question["schema"]): readonly Field[] | undefined {
  const { properties = {}, required } = schema ?? {};
  if (!isRecord(properties)) return undefined;
  const names = Object.keys(properties);
  if (names.length > MAX_FIELDS) return undefined;
  const wanted = new Set<unknown>(Array.isArray(required) ? required : []);
  const fields = names.map((name) => fieldOf(name, properties[name], wanted.has(name)));
  return fields.every((field) => field !== undefined) ? fields : undefined;
}

function fieldOf(name: string, given: unknown, isRequired: boolean): Field | undefined {
  if (!isRecord(given)) return undefined;
  const { type, title, description, format, minimum, maximum, minLength, maxLength, minItems, maxItems } =
    given;
  const choices = choicesOf(type === "array" ? given["items"] : given);
  const kind = kindOf(type, choices !== undefined);
  if (kind === undefined) return undefined;
  const bounds = { text: [minLength, maxLength], choices: [minItems, maxItems] };
  const [least, most] = kind in bounds ? bounds[kind as keyof typeof bounds] : [minimum, maximum];
  const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : undefined);
  const number = (value: unknown) => (typeof value === "number" ? value : undefined);
  const field: Field = {
    name,
    label: text(title) ?? name,
    about: text(description),
    isRequired,
    kind,
    choices: kind === "choice" || kind === "choices" ? choices : undefined,
    format: kind === "text" ? text(format) : undefined,
    least: number(least),
    most: number(most),
  };
  const preset = given["default"];
  return isValue(preset) && mistakeIn(field, preset) === undefined ? { ...field, preset } : field;
}

function kindOf(type: unknown, hasChoices: boolean): Field["kind"] | undefined {
  if (type === "array") return hasChoices ? "choices" : undefined;
  if (type === "string") return hasChoices ? "choice" : "text";
  return type === "number" || type === "integer" || type === "boolean" ? type : undefined;
}

/** The three ways in which the protocol has written choices. */
function choicesOf(given: unknown): Field["choices"] {
  if (!isRecord(given)) return undefined;
  const { enum: values, enumNames, oneOf, anyOf } = given;
  const titled = Array.isArray(oneOf) ? oneOf : Array.isArray(anyOf) ? anyOf : undefined;
  const all: readonly unknown[] | undefined = Array.isArray(values)
    ? values.map((value, at) => ({ const: value, title: Array.isArray(enumNames) ? enumNames[at] : value }))
    : titled;
  if (all === undefined || all.length === 0 || all.length > MAX_CHOICES) return undefined;
  const choices = all.flatMap((choice) => {
    if (!isRecord(choice) || typeof choice["const"] !== "string") return [];
    const { const: value, title } = choice;
    return [{ value, label: typeof title === "string" && title !== "" ? title : value }];
  });
  return choices.length === all.length ? choices : undefined;
}

export interface ReplyMistake {
  readonly code: "reply_mismatch" | "invalid_reply";
  readonly message: string;
  readonly param: string;
}

export function mistakeInReplies(
  questions: readonly Question[],
  replies: readonly Reply[],
): ReplyMistake | undefined {
  const mismatch = (message: string, param: string): ReplyMistake => ({
    code: "reply_mismatch",
    message,
    param,
  });
  const seen = new Set<string>();
  for (const [at, reply] of replies.entries()) {
    const param = `replies[${at}]`;
    const question = questions.find(({ key }) => key === reply.key);
    if (question === undefined) return mismatch(`There is no question "${reply.key}".`, `${param}.key`);
    if (seen.has(reply.key)) return mismatch(`The question "${reply.key}" has two replies.`, `${param}.key`);
    seen.add(reply.key);
    const wrong = mistakeInReply(question, reply, `${param}.content`);
    if (wrong) return { code: "invalid_reply", ...wrong };
  }
  const open = questions.find(({ key }) => !seen.has(key));
  return open && mismatch(`The question "${open.key}" has no reply.`, "replies");
}

function mistakeInReply(
  { schema, url }: Question,
  { action, content }: Reply,
  param: string,
): Omit<ReplyMistake, "code"> | undefined {
  if (action !== "accept" || url !== undefined)
    return content === undefined
      ? undefined
      : { message: "Only a form that is accepted has content.", param };
  const fields = fieldsOf(schema);
  if (fields === undefined) return { message: "This question can only be declined here.", param };
  const unknown = Object.keys(content ?? {}).find((name) => !fields.some((field) => field.name === name));
  if (unknown !== undefined)
    return {
      message: `There is no field "${unknown.slice(0, 100)}".`,
      param: `${param}.${unknown.slice(0, 100)}`,
    };
  for (const field of fields) {
    const value = content && Object.hasOwn(content, field.name) ? content[field.name] : undefined;
    const wrong = value === undefined ? field.isRequired && "is required" : mistakeIn(field, value);
    if (wrong) return { message: `"${field.label}" ${wrong}.`, param: `${param}.${field.name}` };
  }
  return undefined;
}

/** Returns what is wrong with a value for this field, to go after its label. */
export function mistakeIn(field: Field, value: unknown): string | undefined {
  const { kind, least = Number.NEGATIVE_INFINITY, most = Number.POSITIVE_INFINITY, choices = [] } = field;
  const isChoice = (given: unknown) => choices.some((choice) => choice.value === given);
  switch (kind) {
    case "boolean":
      return typeof value === "boolean" ? undefined : "must be true or false";
    case "choice":
      return isChoice(value) ? undefined : "must be one of the choices";
    case "choices":
      if (!Array.isArray(value) || !value.every(isChoice) || new Set(value).size < value.length)
        return "must be some of the choices, each once";
      if (value.length < least) return `needs at least ${least}`;
      return value.length > most ? `takes at most ${most}` : undefined;
    case "number":
    case "integer":
      if (typeof value !== "number" || !Number.isFinite(value)) return "must be a number";
      if (kind === "integer" && !Number.isInteger(value)) return "must be a whole number";
      if (value < least) return `must be at least ${least}`;
      return value > most ? `must be at most ${most}` : undefined;
    case "text": {
      if (typeof value !== "string") return "must be text";
      if (value.length > MAX_TEXT_LENGTH) return "is too long";
      const characters = [...value].length;
      if (characters < least) return `needs at least ${least} characters`;
      if (characters > most) return `takes at most ${most} characters`;
      return mistakeInFormat(field.format, value);
    }
  }
}

function mistakeInFormat(format: string | undefined, value: string): string | undefined {
  switch (format) {
    case "email":
      return /^[^\s@]+@[^\s@]+$/.test(value) ? undefined : "must be an e-mail address";
    case "uri":
      return URL.canParse(value) ? undefined : "must be an address such as https://example.com";
    case "date":
      return /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value))
        ? undefined
        : "must be a date such as 2026-01-31";
    case "date-time":
      return /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d/.test(value) && !Number.isNaN(Date.parse(value))
        ? undefined
        : "must be a time such as 2026-01-31T09:30:00Z";
    default:
      return undefined;
  }
}

function isValue(value: unknown): value is FieldValue {
  return Array.isArray(value) || ["string", "number", "boolean"].includes(typeof value);
}
