import type { Decision } from "../../state/wire.ts";

interface AnswersProps {
  readonly choices: readonly (readonly [decision: Decision, label: string])[];
  /** The first is what most people want. */
  readonly isUrged?: boolean;
  onDecide(decision: Decision): void;
}

export function Answers({ choices, isUrged = true, onDecide }: AnswersProps) {
  return (
    <span class="row">
      {choices.map(([decision, label], index) => (
        <button
          type="button"
          key={decision}
          class={isUrged && index === 0 ? "primary" : decision === "deny" ? "danger" : ""}
          onClick={() => onDecide(decision)}
        >
          {label}
        </button>
      ))}
    </span>
  );
}
