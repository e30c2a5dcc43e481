/** Questions in the page's own dialogs: `await confirmed(…)`, `await entered(…)`. */

import type { ComponentChildren } from "preact";
import { text } from "../text/text.ts";
import { Form } from "./controls.tsx";
import { showModal } from "./modal.tsx";

interface Question {
  readonly title: string;
  readonly words?: string;
  /** The label of the confirming button. */
  readonly yes: string;
  /** For an action that cannot be undone: its button is red and Cancel has the focus. */
  readonly danger?: boolean;
}

interface Entry extends Question {
  readonly label: string;
  readonly value?: string;
  readonly placeholder?: string;
  /** True if the answer may be empty. */
  readonly optional?: boolean;
}

/** Resolves to true if the person agreed. */
export function confirmed(question: Question): Promise<boolean> {
  return new Promise((resolve) =>
    showModal({
      ...question,
      role: "alertdialog",
      content: (end) => <Answers question={question} end={end} />,
      onClose: (answer) => resolve(answer !== undefined),
    }),
  );
}

/** Resolves to the entered text, or undefined if the person cancelled. */
export function entered({ label, value = "", placeholder, optional, ...question }: Entry) {
  return new Promise<string | undefined>((resolve) =>
    showModal({
      ...question,
      content: (end) => (
        <Answers question={question} end={end}>
          <label>
            {label}
            <input
              name="entered"
              dir="auto"
              data-first
              autocomplete="off"
              defaultValue={value}
              placeholder={placeholder}
              required={!optional}
            />
          </label>
        </Answers>
      ),
      onClose: resolve,
    }),
  );
}

interface AnswersProps {
  readonly question: Question;
  readonly children?: ComponentChildren;
  end(answer?: string): void;
}

function Answers({ question: { yes, danger }, children, end }: AnswersProps) {
  return (
    <Form onSubmit={({ entered = "" }) => end(entered)}>
      {children}
      <span class="row">
        <button type="button" data-first={danger || undefined} onClick={() => end()}>
          {text.basics.cancel}
        </button>
        <button type="submit" class={danger ? "danger" : "primary"} data-first={!danger || undefined}>
          {yes}
        </button>
      </span>
    </Form>
  );
}
