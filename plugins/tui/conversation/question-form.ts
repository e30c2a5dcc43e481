/** The form of a question that a tool's server asks, filled in line by line. */
import { type Field, type FieldValue, fieldsOf, mistakeIn } from "../../../kernel/kit/display.ts";
import type { Gate, Reply } from "../../../kernel/plugin.ts";

export type QuestionGate = Extract<Gate, { type: "question" }>;

/** A field that one line of the composer answers. */
export interface Step {
  readonly question: string;
  readonly field: Field;
}

export interface Form {
  /** The values given so far, one per step; undefined where an optional one was skipped. */
  readonly values: readonly (FieldValue | undefined)[];
  readonly mistake?: string;
}

export function stepsOf({ questions }: QuestionGate): readonly Step[] {
  return questions.flatMap(({ key, schema, url }) =>
    url === undefined ? (fieldsOf(schema) ?? []).map((field) => ({ question: key, field })) : [],
  );
}

export function currentStep(gate: QuestionGate, { values }: Form): Step | undefined {
  return stepsOf(gate)[values.length];
}

/** The form after a line was typed. */
export function fillIn(gate: QuestionGate, form: Form, line: string): Form {
  const step = currentStep(gate, form);
  if (step === undefined) return form;
  const { field } = step;
  const value = line.trim() === "" ? field.preset : readLine(field, line.trim());
  const wrong = value === undefined ? field.isRequired && "is required" : mistakeIn(field, value);
  return wrong
    ? { values: form.values, mistake: `${field.label} ${wrong}.` }
    : { values: [...form.values, value] };
}

export function repliesOf(gate: QuestionGate, { values }: Form): readonly Reply[] {
  const steps = stepsOf(gate);
  return gate.questions.map(({ key, url }) => {
    if (url !== undefined) return { key, action: "accept" };
    const given = steps.flatMap(({ question, field }, at) =>
      question === key && values[at] !== undefined ? [[field.name, values[at]] as const] : [],
    );
    return { key, action: "accept", content: Object.fromEntries(given) };
  });
}

function readLine(field: Field, text: string): FieldValue {
  switch (field.kind) {
    case "number":
    case "integer":
      return Number(text);
    case "boolean":
      return /^(?:y|yes|true)$/i.test(text) ? true : /^(?:n|no|false)$/i.test(text) ? false : text;
    case "choice":
      return choiceOf(field, text);
    case "choices":
      return text.split(",").map((one) => choiceOf(field, one.trim()));
    case "text":
      return text;
  }
}

/** A choice can be typed as its number in the list, its label or its value. */
function choiceOf({ choices = [] }: Field, text: string): string {
  const byNumber = /^\d{1,3}$/.test(text) ? choices[Number(text) - 1] : undefined;
  const isNamed = (name: string) => name.toLowerCase() === text.toLowerCase();
  const byName = choices.find(({ value, label }) => isNamed(value) || isNamed(label));
  return (byName ?? byNumber)?.value ?? text;
}

/** Describes what can be typed, as in "a whole number, 1 to 10". */
export function hintOf({ kind, isRequired, least, most, format, preset }: Field): string {
  const kinds: Readonly<Record<Field["kind"], string>> = {
    text: format ?? "text",
    number: "a number",
    integer: "a whole number",
    boolean: "y or n",
    choice: "a number from the list",
    choices: "numbers from the list, separated by commas",
  };
  const unit = kind === "text" ? " characters" : "";
  const bounds =
    least !== undefined && most !== undefined
      ? [`${least} to ${most}${unit}`]
      : least !== undefined
        ? [`at least ${least}${unit}`]
        : most !== undefined
          ? [`at most ${most}${unit}`]
          : [];
  const empty = preset === undefined ? (isRequired ? [] : ["Enter to skip"]) : [`Enter for ${say(preset)}`];
  return [kinds[kind], ...bounds, ...empty].join(", ");
}

export function say(value: FieldValue | undefined): string {
  if (value === undefined) return "skipped";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return Array.isArray(value) ? value.join(", ") || "none" : String(value);
}
