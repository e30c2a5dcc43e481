import type { Decision } from "../../state/wire.ts";
import { Button } from "../../widgets/controls.tsx";

interface AnswersProps {
  readonly choices: readonly (readonly [decision: Decision, label: string])[];
  /** True if the first answer is highlighted. */
  readonly isUrged?: boolean;
  onDecide(decision: Decision): void;
}

export function Answers({ choices, isUrged = true, onDecide }: AnswersProps) {
  return (
    <div class="answers">
      {choices.map(([decision, label], index) => (
        <Button
          label={label}
          key={decision}
          class={isUrged && index === 0 ? "primary" : decision === "deny" ? "danger" : ""}
          onClick={() => onDecide(decision)}
        />
      ))}
    </div>
  );
}
