import { answerGate } from "../app.ts";
import { Grants } from "../tools/grants.tsx";
import type { Answer, Decision, Gate } from "../wire.ts";
import { QuestionCard } from "./question-card.tsx";

interface GateCardProps {
  readonly gate: Gate;
  /** Where the thread is not the reader's own, and so not shown after the answer. */
  onAnswer?(answer: Answer): void;
}

/** What the thread waits for, in words, with the answers that go on. */
export function GateCard({ gate, onAnswer = (answer) => void answerGate(gate, answer) }: GateCardProps) {
  const onDecide = (decision: Decision) => onAnswer({ decision });
  switch (gate.type) {
    case "approval":
      return (
        <section class="gate" aria-label="Approval">
          <strong>May {gate.call.name} run?</strong>
          <pre class="log">{gate.call.params}</pre>
          <Grants of={gate.grants ?? []} />
          <Answers
            onDecide={onDecide}
            choices={{
              once: "Allow once",
              // What is asked for each time anew has no fingerprint to remember.
              ...(gate.fingerprint && { always: "Always allow this tool" }),
              deny: "Deny",
            }}
          />
        </section>
      );
    case "authentication":
      return (
        <section class="gate" aria-label="Sign-in of a tool">
          <strong>{gate.call.name} needs to sign in</strong>
          <span>{gate.message}</span>
          <Answers onDecide={onDecide} choices={{ done: "Done, continue", deny: "Continue without it" }} />
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

interface AnswersProps {
  readonly choices: Readonly<Partial<Record<Decision, string>>>;
  onDecide(decision: Decision): void;
}

function Answers({ choices, onDecide }: AnswersProps) {
  return (
    <span class="row">
      {Object.entries(choices).map(([decision, label], index) => (
        <button
          type="button"
          key={decision}
          class={index === 0 ? "primary" : decision === "deny" ? "danger" : ""}
          onClick={() => onDecide(decision as Decision)}
        >
          {label}
        </button>
      ))}
    </span>
  );
}
