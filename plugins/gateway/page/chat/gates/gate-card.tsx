import { answerGate } from "../../state/turns.ts";
import type { Answer, Decision, Gate } from "../../state/wire.ts";
import { Answers } from "./answers.tsx";
import { ApprovalCard } from "./approval-card.tsx";
import { QuestionCard } from "./question-card.tsx";

interface GateCardProps {
  readonly gate: Gate;
  /** Where the thread is not the reader's own, and so not shown after the answer. */
  onAnswer?(answer: Answer): void;
}

const SIGNED_IN = [
  ["done", "Done, continue"],
  ["deny", "Continue without it"],
] as const;

/** What the thread waits for, in words, with the answers that go on. */
export function GateCard({ gate, onAnswer = (answer) => void answerGate(gate, answer) }: GateCardProps) {
  const onDecide = (decision: Decision) => onAnswer({ decision });
  switch (gate.type) {
    case "approval":
      return <ApprovalCard gate={gate} onDecide={onDecide} />;
    case "authentication":
      return (
        <section class="gate" aria-label="Sign-in of a tool">
          <strong>{gate.call.name} needs to sign in</strong>
          <span>{gate.message}</span>
          <Answers onDecide={onDecide} choices={SIGNED_IN} />
        </section>
      );
    case "question":
      return <QuestionCard gate={gate} onAnswer={onAnswer} />;
    case "external_tool":
      return (
        <section class="gate" aria-label="Waiting for a program">
          <span>
            Waiting for the program that declared <b>{gate.call.name}</b> to answer.
          </span>
        </section>
      );
  }
}
