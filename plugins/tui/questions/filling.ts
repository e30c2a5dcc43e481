/** Answering a question of a tool's server in the composer, one line for each of its fields. */
import type { TurnInput } from "../../../kernel/plugin.ts";
import type { Transcript } from "../transcript.ts";
import { inputOf } from "./gate-answer.ts";
import { currentStep, type Form, fillIn, type QuestionGate } from "./question-form.ts";

export interface Filling {
  /** The field that the next line is for. */
  readonly filling: string | undefined;
  fill(line: string): void;
  /** The question stays open. False if none was being answered. */
  stopFilling(): boolean;
}

export function createFilling(
  transcript: Pick<Transcript, "entries" | "update">,
  start: (input: TurnInput) => void,
): Filling {
  function openForm(): { readonly id: number; readonly gate: QuestionGate; readonly form: Form } | undefined {
    for (const entry of transcript.entries.toReversed())
      if (
        entry.type === "gate" &&
        entry.decided === undefined &&
        entry.form &&
        entry.gate.type === "question"
      )
        return { id: entry.id, gate: entry.gate, form: entry.form };
    return undefined;
  }

  return {
    get filling() {
      const open = openForm();
      return open && currentStep(open.gate, open.form)?.field.label;
    },
    fill(line) {
      const open = openForm();
      if (open === undefined) return;
      const { id, gate } = open;
      const form = fillIn(gate, open.form, line);
      const isFilled = currentStep(gate, form) === undefined;
      transcript.update(id, "gate", (known) => ({
        ...known,
        form,
        ...(isFilled && { decided: "Answered" }),
      }));
      if (isFilled) start(inputOf(gate, "accept", form));
    },
    stopFilling() {
      const open = openForm();
      if (open) transcript.update(open.id, "gate", ({ form: _, ...known }) => known);
      return open !== undefined;
    },
  };
}
