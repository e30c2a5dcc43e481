import { visible, visibleJson } from "../../../../../kernel/text/visible.ts";
import { decisionsAt } from "../../../../../kernel/vocabulary/approval.ts";
import { type Piece, tell } from "../../../../../kernel/vocabulary/doubts.ts";
import { answerGate } from "../../state/turns.ts";
import type { Answer, Decision, Doubt, Gate, ToolCall } from "../../state/wire.ts";
import { Grants } from "../../widgets/grants.tsx";
import { QuestionCard } from "./question-card.tsx";

interface GateCardProps {
  readonly gate: Gate;
  /** Given if the thread belongs to somebody else, so that it is not opened after the answer. */
  onAnswer?(answer: Answer): void;
}

const SIGNED_IN = [
  ["done", "Done, continue"],
  ["deny", "Continue without it"],
] as const;

/** The gate that the thread waits at, with its possible answers. */
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

interface ApprovalCardProps {
  readonly gate: Extract<Gate, { type: "approval" }>;
  onDecide(decision: Decision): void;
}

/** Asks whether a call may run: the reasons, what the call would do, and the possible answers. */
function ApprovalCard({ gate, onDecide }: ApprovalCardProps) {
  const { call, grants, doubts = [], others = [] } = gate;
  const places = new Set(doubts.flatMap(({ rule, value }) => (rule === "destination" ? value : []))).size;
  const words: Readonly<Partial<Record<Decision, string>>> = {
    once: others.length > 0 ? "Allow all of them once" : "Allow once",
    always: "Always allow this tool",
    destination: `Allow, and ${places > 1 ? "these destinations" : "this destination"} from now on`,
    deny: "Deny",
  };
  const choices = decisionsAt(gate).map((decision) => [decision, words[decision] ?? decision] as const);
  return (
    <section class="gate" aria-label="Approval">
      {/* With doubts, the reason is more important than the question. */}
      {doubts.length === 0 ? (
        <strong>May {call.name} run?</strong>
      ) : (
        <span class="soft">May {call.name} run?</span>
      )}
      <Doubts of={doubts} />
      <Calls calls={[call, ...others]} />
      {doubts.length === 0 ? (
        <Grants of={grants} />
      ) : (
        <details>
          <summary>What {call.name} may do</summary>
          <Grants of={grants} />
        </details>
      )}
      {/* If a stranger's words are the reason for the question, no answer is highlighted. */}
      <Answers choices={choices} isUrged={doubts.length === 0} onDecide={onDecide} />
    </section>
  );
}

function Calls({ calls }: { calls: readonly ToolCall[] }) {
  const [first] = calls;
  if (first && calls.length === 1) return <Params of={first} />;
  return (
    <>
      <span>
        {calls.length} calls of {visible(first?.name ?? "")}. Your answer is for all of them:
      </span>
      <ol class="calls">
        {calls.map((call) => (
          <li key={call.id}>
            <Params of={call} />
          </li>
        ))}
      </ol>
    </>
  );
}

function Params({ of: { params } }: { of: ToolCall }) {
  return <pre class="log">{visibleJson(params)}</pre>;
}

/** The reasons to ask about a call although its tool may run, with excerpts of the sources of its values. */
function Doubts({ of: doubts }: { of: readonly Doubt[] }) {
  if (doubts.length === 0) return null;
  return (
    <ul class="doubts">
      {tell(doubts).map(({ sentence, source, excerpt }) => (
        <li key={sentence.map(({ text }) => text).join("")}>
          <p>
            <Pieces of={sentence} />
          </p>
          {excerpt && (
            <figure>
              {source !== undefined && (
                <figcaption>
                  <bdi>{source}</bdi> says:
                </figcaption>
              )}
              <blockquote dir="auto">
                <Pieces of={excerpt} />
              </blockquote>
            </figure>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Each piece has its own text direction, so that a stranger's letters cannot reorder ours. */
function Pieces({ of: pieces }: { of: readonly Piece[] }) {
  return pieces.map(({ at, text, mark }) =>
    mark === undefined ? (
      text
    ) : mark === "source" ? (
      <bdi key={at} class="source">
        {text}
      </bdi>
    ) : (
      <mark key={at}>
        <bdi>{text}</bdi>
      </mark>
    ),
  );
}

interface AnswersProps {
  readonly choices: readonly (readonly [decision: Decision, label: string])[];
  /** True if the first answer is highlighted. */
  readonly isUrged?: boolean;
  onDecide(decision: Decision): void;
}

function Answers({ choices, isUrged = true, onDecide }: AnswersProps) {
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
