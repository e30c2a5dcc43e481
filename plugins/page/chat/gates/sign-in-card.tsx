import KeyRound from "lucide/dist/esm/icons/key-round.mjs";
import { visibleLine } from "../../../../kernel/kit/text.ts";
import { useApp } from "../../state/use-app.ts";
import type { Decision, Gate } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { SetupAtGate } from "../../widgets/tool-setup.tsx";
import { Answers } from "./answers.tsx";
import { Asked, Path } from "./asked.tsx";
import { GateHead } from "./gate-head.tsx";

interface SignInCardProps {
  readonly gate: Extract<Gate, { type: "authentication" }>;
  onDecide(decision: Decision): void;
}

/** A call that lacks a credential. The operator gives it here for all users, anybody else for themselves. */
export function SignInCard({ gate, onDecide }: SignInCardProps) {
  const isOperator = useApp().user?.role === "operator";
  const { gates } = text.chat;
  const choices = [
    ["done", gates.done],
    ["deny", gates.without],
  ] as const;
  return (
    <section class="gate" aria-label={gates.signInOf}>
      <GateHead icon={KeyRound}>{gates.signIn}</GateHead>
      <p class="lead">{gates.needsToSignIn(visibleLine(gate.call.name))}</p>
      <Path gate={gate} />
      <Asked gate={gate} />
      <div class="setup">
        <SetupAtGate
          tool={gate.call.name}
          isOwn={!isOperator}
          otherwise={isOperator ? undefined : gates.onlyOperator}
        />
      </div>
      <Answers onDecide={onDecide} choices={choices} />
    </section>
  );
}
