/** Questions in the page's own dialogs: `await confirmed(…)`, `await entered(…)`. */
import type { ComponentChildren } from "preact";
import { showModal } from "./modal.tsx";

interface Question {
  readonly title: string;
  readonly words?: string;
  /** What the button says that does it. */
  readonly yes: string;
  /** It cannot be taken back: its button is red, and the other one is focused. */
  readonly danger?: boolean;
}

interface Entry extends Question {
  /** What is to be entered. */
  readonly label: string;
  readonly value?: string;
  readonly placeholder?: string;
  /** An empty answer is one too. */
  readonly optional?: boolean;
}

/** True where the person agreed. */
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

/** What was entered, or undefined where the person thought better of it. */
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
  const submit = (event: Event) => {
    event.preventDefault();
    end(String(new FormData(event.currentTarget as HTMLFormElement).get("entered") ?? ""));
  };
  return (
    <form onSubmit={submit}>
      {children}
      <span class="row">
        <button type="button" data-first={danger || undefined} onClick={() => end()}>
          Cancel
        </button>
        <button type="submit" class={danger ? "danger" : "primary"} data-first={!danger || undefined}>
          {yes}
        </button>
      </span>
    </form>
  );
}
