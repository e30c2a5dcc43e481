import { visible, visibleJson } from "../../../../../kernel/text/visible.ts";
import { decisionsAt } from "../../../../../kernel/vocabulary/approval.ts";
import type { Decision, Gate, ToolCall } from "../../state/wire.ts";
import { Grants } from "../../tools/grants.tsx";
import { Answers } from "./answers.tsx";
import { Doubts } from "./doubts.tsx";

interface ApprovalCardProps {
  readonly gate: Extract<Gate, { type: "approval" }>;
  onDecide(decision: Decision): void;
}

/** May this call run: why it is asked about, what it would do, and the answers that fit. */
export function ApprovalCard({ gate, onDecide }: ApprovalCardProps) {
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
      {/* The reason speaks louder than the question. */}
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
      {/* What is asked because of a stranger's words has no answer that stands out. */}
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
