import ShieldAlert from "lucide/dist/esm/icons/shield-alert.mjs";
import ShieldQuestionMark from "lucide/dist/esm/icons/shield-question-mark.mjs";
import { useState } from "preact/hooks";
import { decisionsAt } from "../../../../kernel/kit/display.ts";
import { visibleLine } from "../../../../kernel/kit/text.ts";
import { answerGate } from "../../state/turns.ts";
import type { Answer, Decision, Gate } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { AmountRule } from "./amount-rule.tsx";
import { Answers } from "./answers.tsx";
import { Asked, Path } from "./asked.tsx";
import { GateHead } from "./gate-head.tsx";
import { QuestionCard } from "./question-card.tsx";
import { SignInCard } from "./sign-in-card.tsx";

interface GateCardProps {
  readonly gate: Gate;
  /** Given if the thread belongs to somebody else, so that it is not opened after the answer. */
  onAnswer?(answer: Answer): void;
}

/** The gate that the thread waits at, with its possible answers. */
export function GateCard({ gate, onAnswer = (answer) => void answerGate(gate, answer) }: GateCardProps) {
  const [shownAt] = useState(() => performance.now());
  const onDecide = (decision: Decision, limit?: string) =>
    onAnswer({ decision, limit, looked_ms: Math.round(performance.now() - shownAt) });
  switch (gate.type) {
    case "approval":
      return <ApprovalCard gate={gate} onDecide={onDecide} />;
    case "authentication":
      return <SignInCard gate={gate} onDecide={onDecide} />;
    case "question":
      return <QuestionCard gate={gate} onAnswer={onAnswer} />;
    case "external_tool":
      return (
        <section class="gate" aria-label={text.chat.gates.program}>
          <GateHead icon={ShieldQuestionMark}>{text.chat.gates.program}</GateHead>
          <p class="lead">{text.chat.gates.waitsForProgram(<b key="name">{gate.call.name}</b>)}</p>
        </section>
      );
  }
}

interface ApprovalCardProps {
  readonly gate: Extract<Gate, { type: "approval" }>;
  onDecide(decision: Decision, limit?: string): void;
}

/** Asks whether a call may run: the reasons, what the call would do, and the possible answers. */
function ApprovalCard({ gate, onDecide }: ApprovalCardProps) {
  const { call, doubts = [], others = [], steps, offer } = gate;
  const { gates } = text.chat;
  const places = new Set(doubts.flatMap(({ rule, value }) => (rule === "destination" ? value : []))).size;
  const words: Readonly<Partial<Record<Decision, string>>> = {
    once: steps ? gates.allowSteps : others.length > 0 ? gates.allowAllOnce : gates.allowOnce,
    always: gates.allowAlways,
    destination: places > 1 ? gates.allowDestinations : gates.allowDestination,
    rule: offer?.limit && gates.allowRule(text.tools.destinations.rule({ ...offer, limit: offer.limit })),
    deny: gates.deny,
  };
  // The limit of an amount can be typed.
  const decisions = decisionsAt(gate).filter((one) => one !== "rule" || offer?.kind !== "amount");
  const choices = decisions.map((decision) => [decision, words[decision] ?? decision] as const);
  return (
    <section class="gate" aria-label={gates.approval}>
      <GateHead icon={doubts.length === 0 ? ShieldQuestionMark : ShieldAlert}>{gates.approval}</GateHead>
      {/* Doubts ask the question themselves. */}
      {doubts.length === 0 && (
        <p class="lead">{steps ? gates.maySteps(steps.length) : gates.mayRun(visibleLine(call.name))}</p>
      )}
      {steps && <p class="gate-note">{gates.stepsNote}</p>}
      <Path gate={gate} />
      <Asked gate={gate} />
      {/* If a stranger's words are the reason for the question, no answer is highlighted. */}
      <Answers choices={choices} isUrged={doubts.length === 0 && !steps} onDecide={onDecide} />
      {offer?.kind === "amount" && <AmountRule offer={offer} onDecide={onDecide} />}
    </section>
  );
}
