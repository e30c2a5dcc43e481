import MessageCircleQuestionMark from "lucide/dist/esm/icons/message-circle-question-mark.mjs";
import { useState } from "preact/hooks";
import { type Field, type FieldValue, fieldsOf, mistakeInReplies } from "../../../../kernel/kit/display.ts";
import type { Answer, Gate, Question } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { Button, type Fields, Form } from "../../widgets/controls.tsx";
import { GateHead } from "./gate-head.tsx";

interface QuestionCardProps {
  readonly gate: Extract<Gate, { type: "question" }>;
  onAnswer(answer: Answer): void;
}

/** The questions of a tool's server as a form. The form says that the words are the server's. */
export function QuestionCard({ gate, onAnswer }: QuestionCardProps) {
  const [mistake, setMistake] = useState<string>();
  const submit = (_: Fields, form: HTMLFormElement) => {
    const given = new FormData(form);
    const replies = gate.questions.map((question, at) => replyTo(question, given, at));
    const wrong = mistakeInReplies(gate.questions, replies);
    setMistake(wrong?.message);
    if (!wrong) onAnswer({ replies });
  };
  return (
    <Form class="gate" aria-label={text.chat.questions.from(gate.server)} onSubmit={submit}>
      <GateHead icon={MessageCircleQuestionMark}>{text.chat.questions.question}</GateHead>
      <p class="lead">{text.chat.questions.hasQuestion(gate.server)}</p>
      <p class="gate-note">{text.chat.questions.whose(gate.call.name)}</p>
      {gate.questions.map((question, at) => (
        <Asked key={question.key} question={question} at={at} />
      ))}
      {mistake && (
        <span class="wrong" role="alert">
          {mistake}
        </span>
      )}
      <div class="answers">
        <button type="submit" class="primary">
          {gate.questions.every(({ url }) => url) ? text.chat.questions.done : text.chat.questions.send}
        </button>
        <Button
          label={text.chat.questions.decline}
          class="danger"
          onClick={() => onAnswer({ decision: "deny" })}
        />
      </div>
    </Form>
  );
}

function Asked({ question, at }: { question: Question; at: number }) {
  const { message, url, schema } = question;
  if (url !== undefined) return <Visit message={message} url={url} />;
  return (
    <fieldset>
      <legend>{message}</legend>
      {(fieldsOf(schema) ?? []).map((field, index) => (
        <FieldInput key={field.name} field={field} id={idOf(at, index)} />
      ))}
    </fieldset>
  );
}

/** Shows the whole address and its host; only the person opens it. */
function Visit({ message, url }: { message: string; url: string }) {
  const { host = "", protocol } = URL.parse(url) ?? {};
  const isWeb = protocol === "https:" || protocol === "http:";
  return (
    <fieldset>
      <legend>{message}</legend>
      <span>{text.chat.questions.visit(<strong key="host">{host}</strong>)}</span>
      <code>{url}</code>
      {isWeb && (
        <a href={url} target="_blank" rel="noopener noreferrer">
          {text.chat.questions.openHost(host)}
        </a>
      )}
    </fieldset>
  );
}

const idOf = (question: number, field: number): string => `answer-${question}-${field}`;

function replyTo({ key, url, schema }: Question, form: FormData, at: number) {
  if (url !== undefined) return { key, action: "accept" } as const;
  const values = (fieldsOf(schema) ?? []).flatMap((field, index) => {
    const value = readField(field, form, idOf(at, index));
    return value === undefined ? [] : [[field.name, value] as const];
  });
  return { key, action: "accept", content: Object.fromEntries(values) } as const;
}

type TextType = "text" | "email" | "url" | "date" | "datetime-local";

// A Map, since the format is a stranger's text and may be "constructor".
const INPUT_TYPES: ReadonlyMap<string, TextType> = new Map([
  ["email", "email"],
  ["uri", "url"],
  ["date", "date"],
  ["date-time", "datetime-local"],
]);

/** `id` is the name of the field in the form. */
function FieldInput({ field, id }: { field: Field; id: string }) {
  const about = field.about === undefined ? undefined : `${id}-about`;
  const help = field.about !== undefined && (
    <span class="soft" id={about}>
      {field.about}
    </span>
  );
  if (field.kind === "boolean")
    return (
      <span class="field">
        <label>
          <input type="checkbox" name={id} defaultChecked={field.preset === true} aria-describedby={about} />{" "}
          {field.label}
        </label>
        {help}
      </span>
    );
  if (field.kind === "choices")
    return (
      <fieldset class="field" aria-describedby={about}>
        <legend>{labelOf(field)}</legend>
        {help}
        {field.choices?.map(({ value, label }) => (
          <label key={value}>
            <input type="checkbox" name={id} value={value} defaultChecked={isPreset(field, value)} /> {label}
          </label>
        ))}
      </fieldset>
    );
  return (
    <span class="field">
      <label for={id}>{labelOf(field)}</label>
      {help}
      {field.kind === "choice" ? (
        <select id={id} name={id} required={field.isRequired} aria-describedby={about}>
          <option value="">{text.chat.questions.choose}</option>
          {field.choices?.map(({ value, label }, index) => (
            <option key={value} value={String(index)} selected={field.preset === value}>
              {label}
            </option>
          ))}
        </select>
      ) : (
        <input
          id={id}
          name={id}
          required={field.isRequired}
          aria-describedby={about}
          autocomplete="off"
          defaultValue={field.preset === undefined ? "" : String(field.preset)}
          // The declarations of JSX accept only one literal type.
          {...(limitsOf(field) as { type: "text" })}
        />
      )}
    </span>
  );
}

/** Returns undefined if the field was left empty. */
function readField(field: Field, form: FormData, id: string): FieldValue | undefined {
  const typed = String(form.get(id) ?? "");
  switch (field.kind) {
    case "boolean":
      return form.has(id);
    case "choices": {
      const chosen = form.getAll(id).map(String);
      return chosen.length === 0 && !field.isRequired ? undefined : chosen;
    }
    case "choice":
      // Options are numbered, since the value itself may be empty.
      return typed === "" ? undefined : field.choices?.[Number(typed)]?.value;
    case "number":
    case "integer":
      return typed === "" ? undefined : Number(typed);
    case "text": {
      const time = field.format === "date-time" ? Date.parse(typed) : Number.NaN;
      return typed === "" ? undefined : Number.isNaN(time) ? typed : new Date(time).toISOString();
    }
  }
}

const labelOf = ({ label, isRequired }: Field): string =>
  isRequired ? label : text.chat.questions.optional(label);

const isPreset = ({ preset }: Field, value: string): boolean =>
  Array.isArray(preset) && preset.includes(value);

function limitsOf({ kind, format = "", least, most }: Field) {
  if (kind === "text") return { type: INPUT_TYPES.get(format) ?? "text", minLength: least, maxLength: most };
  return { type: "number", step: kind === "integer" ? "1" : "any", min: least, max: most };
}
