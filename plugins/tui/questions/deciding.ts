/** What keys do to entries: open and close them, choose an answer and give it. */
import type { TurnInput } from "../../../kernel/plugin.ts";
import { type Choice, isFoldable } from "../screen/entry.ts";
import type { Transcript } from "../transcript.ts";
import type { Confirming } from "./confirming.ts";
import { inputOf } from "./gate-answer.ts";
import { stepsOf } from "./question-form.ts";

export interface Deciding {
  toggle(entry: number): void;
  choose(entry: number, choice: number): void;
  decide(entry: number, choice: Choice): void;
}

export function createDeciding(
  transcript: Transcript,
  confirming: Pick<Confirming, "answer">,
  start: (input: TurnInput) => void,
): Deciding {
  const { update } = transcript;
  return {
    toggle(id) {
      const entry = transcript.entries.find((each) => each.id === id);
      if (entry && isFoldable(entry))
        update(id, entry.type, (known) => ({ ...known, open: !entry.open }) as never);
    },
    choose(id, choice) {
      update(id, "gate", (entry) => ({ ...entry, choice }));
      update(id, "confirm", (entry) => ({ ...entry, choice }));
    },
    decide(id, { label, decision }) {
      if (confirming.answer(id, decision, label)) return;
      const entry = transcript.entries.find((each) => each.id === id);
      if (entry?.type !== "gate" || entry.decided !== undefined) return;
      const { gate } = entry;
      if (gate.type === "question" && decision === "accept" && stepsOf(gate).length > 0)
        return update(id, "gate", (known) => ({ ...known, form: { values: [] } }));
      update(id, "gate", (known) => ({ ...known, decided: label }));
      start(inputOf(gate, decision));
    },
  };
}
