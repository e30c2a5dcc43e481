import { useState } from "preact/hooks";
import { fieldsOf, mistakeInReplies } from "../../../../../kernel/vocabulary/questions.ts";
import type { Answer, Gate, Question } from "../../state/wire.ts";
import { FieldInput, readField } from "./question-field.tsx";

interface QuestionCardProps {
  readonly gate: Extract<Gate, { type: "question" }>;
  onAnswer(answer: Answer): void;
}

/** What a tool's server asks, as a form. Its words are a stranger's, and are said to be. */
export function QuestionCard({ gate, onAnswer }: QuestionCardProps) {
  const [mistake, setMistake] = useState<string>();
  const submit = (event: Event) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const replies = gate.questions.map((question, at) => replyTo(question, form, at));
    const wrong = mistakeInReplies(gate.questions, replies);
    setMistake(wrong?.message);
    if (!wrong) onAnswer({ replies });
  };
  return (
    <form class="gate" aria-label={`A question from ${gate.server}`} onSubmit={submit}>
      <strong>{gate.server} has a question</strong>
      <span class="soft">
        Asked by the server of the tool {gate.call.name}. The words below are the server's, and it gets your
        answer. Never give it a password.
      </span>
      {gate.questions.map((question, at) => (
        <Asked key={question.key} question={question} at={at} />
      ))}
      {mistake && <span role="alert">{mistake}</span>}
      <span class="row">
        <button type="submit" class="primary">
          {gate.questions.every(({ url }) => url) ? "I have done it, continue" : "Send answer"}
        </button>
        <button type="button" class="danger" onClick={() => onAnswer({ decision: "deny" })}>
          Decline
        </button>
      </span>
    </form>
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

/** The whole address, with its host apart: only the person opens it. */
function Visit({ message, url }: { message: string; url: string }) {
  const { host = "", protocol } = URL.parse(url) ?? {};
  const isWeb = protocol === "https:" || protocol === "http:";
  return (
    <fieldset>
      <legend>{message}</legend>
      <span>
        It asks you to visit a page at <strong>{host}</strong>:
      </span>
      <code>{url}</code>
      {isWeb && (
        <a href={url} target="_blank" rel="noopener noreferrer">
          Open {host} in a new window
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
