import { showVersion } from "../../state/threads.ts";
import type { Versions } from "../../state/timeline.ts";
import { text } from "../../text/text.ts";
import { Button } from "../../widgets/controls.tsx";

interface StepperProps {
  /** The turn that each step shows. */
  readonly steps: readonly string[];
  readonly at: number;
  readonly what: string;
}

/** Steps through versions: ‹ 2 / 3 ›. */
export function Stepper({ steps, at, what }: StepperProps) {
  if (steps.length < 2) return null;
  const step = (by: -1 | 1, words: string, mark: string) => {
    const to = steps[at + by];
    return (
      <Button
        label={mark}
        class="small"
        aria-label={words}
        disabled={to === undefined}
        onClick={() => stepTo(to as string, what, by)}
      />
    );
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is a form's
    <span
      class="versions"
      role="group"
      aria-label={text.chat.turn.versions(what)}
      data-shown={`${what} ${steps[at]}`}
    >
      {step(-1, text.chat.turn.previous(what), "‹")}
      <span>
        {at + 1} / {steps.length}
      </span>
      {step(1, text.chat.turn.next(what), "›")}
    </span>
  );
}

/** The buttons are replaced with the version, so the focus moves to the same button of the new version. */
async function stepTo(turn: string, what: string, by: -1 | 1): Promise<void> {
  await showVersion(turn);
  requestAnimationFrame(() => {
    const buttons = document.querySelectorAll<HTMLButtonElement>(
      `[data-shown=${JSON.stringify(`${what} ${turn}`)}] button`,
    );
    const [back, forth] = buttons;
    const same = by === -1 ? back : forth;
    (same?.disabled ? (by === -1 ? forth : back) : same)?.focus();
  });
}

/** Returns the newest turn of each message, and the turns with the same message as this one. */
export function stepsOf(versions: Versions, turn: string) {
  const own = versions.find(({ id }) => id === turn)?.message;
  const newest = new Map(versions.map(({ id, message }) => [message, id]));
  const numbers = [...newest.keys()].toSorted((one, other) => one - other);
  const answers = versions.filter(({ message }) => message === own).map(({ id }) => id);
  return {
    messages: { steps: numbers.map((number) => newest.get(number) as string), at: numbers.indexOf(own ?? 0) },
    answers: { steps: answers, at: answers.indexOf(turn) },
  };
}
