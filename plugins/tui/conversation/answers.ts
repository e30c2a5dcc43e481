/** Answers to what the history asks: a gate by choice or field by field, or a question of Postern's own by yes or no. */
import { ApprovalDecision } from "../../../kernel/kit/turns.ts";
import type { Gate } from "../../../kernel/plugin.ts";
import type { GateAnswer } from "../services.ts";
import { ANSWERED, type Choice, isFoldable } from "./entry.ts";
import { currentStep, type Form, fillIn, type QuestionGate, repliesOf, stepsOf } from "./question-form.ts";
import type { Transcript } from "./transcript.ts";

export function createAnswers(transcript: Transcript, start: (answer: GateAnswer) => void) {
  const { add, update } = transcript;
  const confirmations = new Map<number, (isAgreed: boolean) => void>();

  function openForm(): { readonly id: number; readonly gate: QuestionGate; readonly form: Form } | undefined {
    for (const entry of transcript.entries.toReversed()) {
      if (entry.type !== "gate" || entry.decided !== undefined || entry.gate.type !== "question") continue;
      if (entry.form) return { id: entry.id, gate: entry.gate, form: entry.form };
    }
    return undefined;
  }

  return {
    /**
     * Asks before something that cannot be undone; `yes` names what is done. Never resolves if the history is cleared first:
     * then nothing is done.
     */
    confirm(question: string, yes: string): Promise<boolean> {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      // The last choice, which does nothing, is preselected.
      confirmations.set(add({ type: "confirm", question, yes, choice: 1 }), resolve);
      return promise;
    },
    /** Opens or closes an entry. */
    toggle(id: number): void {
      const entry = transcript.entries.find((each) => each.id === id);
      if (entry?.type === "gate" || (entry && isFoldable(entry)))
        update(id, entry.type, (known) => ({ ...known, open: !entry.open }) as never);
    },
    /** Shows the JSON of a call, or no longer. */
    toggleRaw: (id: number) =>
      update(id, "tool", (entry) => ({ ...entry, open: true, isRaw: !(entry.open && entry.isRaw) })),
    choose(id: number, choice: number): void {
      update(id, "gate", (entry) => ({ ...entry, choice }));
      update(id, "confirm", (entry) => ({ ...entry, choice }));
    },
    decide(id: number, { label, decision }: Choice): void {
      const resolve = confirmations.get(id);
      if (resolve) {
        confirmations.delete(id);
        update(id, "confirm", (known) => ({ ...known, decided: label }));
        resolve(decision === "yes");
        return;
      }
      const entry = transcript.entries.find((each) => each.id === id);
      if (entry?.type !== "gate" || entry.decided !== undefined) return;
      const { gate } = entry;
      if (gate.type === "question" && decision === "accept" && stepsOf(gate).length > 0)
        update(id, "gate", (known) => ({ ...known, form: { values: [] } }));
      else {
        update(id, "gate", (known) => ({ ...known, decided: label, open: false }));
        start(answerOf(gate, decision, { lookedMs: Math.max(0, Date.now() - entry.shownAt) }));
      }
    },
    /** Returns the field that the next line in the composer answers, if a form is open. */
    openField(): string | undefined {
      const open = openForm();
      return open && currentStep(open.gate, open.form)?.field.label;
    },
    fillField(line: string): void {
      const open = openForm();
      if (open === undefined) return;
      const { id, gate } = open;
      const form = fillIn(gate, open.form, line);
      const decided = currentStep(gate, form) === undefined ? ANSWERED : undefined;
      update(id, "gate", (known) => ({ ...known, form, decided }));
      if (decided) start(answerOf(gate, "accept", { form }));
    },
    /** The question stays open. Returns false if no form was open. */
    closeForm(): boolean {
      const open = openForm();
      if (open) update(open.id, "gate", (known) => ({ ...known, form: undefined }));
      return open !== undefined;
    },
  };
}

function answerOf(
  gate: Gate,
  decision: string,
  { form = { values: [] }, lookedMs }: { readonly form?: Form; readonly lookedMs?: number },
): GateAnswer {
  if (gate.type === "question") {
    const declined = gate.questions.map(({ key }) => ({ key, action: "decline" as const }));
    const replies = decision === "accept" ? repliesOf(gate, form) : declined;
    return { type: "question", gate: gate.id, replies };
  }
  if (gate.type === "authentication")
    return { type: "authentication", gate: gate.id, decision: decision === "done" ? "done" : "deny" };
  const known = ApprovalDecision.enum.find((one) => one === decision);
  return {
    type: "approval",
    gate: gate.id,
    decision: known ?? "deny",
    ...(lookedMs !== undefined && { lookedMs }),
  };
}
