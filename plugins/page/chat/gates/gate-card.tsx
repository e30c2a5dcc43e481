import KeyRound from "lucide/dist/esm/icons/key-round.mjs";
import MessageCircleQuestionMark from "lucide/dist/esm/icons/message-circle-question-mark.mjs";
import ShieldAlert from "lucide/dist/esm/icons/shield-alert.mjs";
import ShieldQuestionMark from "lucide/dist/esm/icons/shield-question-mark.mjs";
import { useEffect, useState } from "preact/hooks";
import { decisionsAt, type Piece, type Told, tell } from "../../../../kernel/kit/display.ts";
import { visibleLine } from "../../../../kernel/kit/text.ts";
import { answerGate } from "../../state/turns.ts";
import { useApp } from "../../state/use-app.ts";
import type { Answer, Decision, Doubt, Gate, ToolCall } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { Button, Form } from "../../widgets/controls.tsx";
import { Field } from "../../widgets/field.tsx";
import { Grants } from "../../widgets/grants.tsx";
import type { SetupAtGate } from "../../widgets/tool-setup.tsx";
import { Values } from "../values.tsx";
import { GateHead } from "./gate-head.tsx";
import { QuestionCard } from "./question-card.tsx";

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
          <GateHead icon={MessageCircleQuestionMark}>{text.chat.gates.program}</GateHead>
          <p class="lead">{text.chat.gates.waitsForProgram(<b key="name">{gate.call.name}</b>)}</p>
        </section>
      );
  }
}

interface SignInCardProps {
  readonly gate: Extract<Gate, { type: "authentication" }>;
  onDecide(decision: Decision): void;
}

/** A call that lacks a credential. The operator gives it here for all users, anybody else for themselves. */
function SignInCard({ gate, onDecide }: SignInCardProps) {
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
        {isOperator ? (
          <LateSetup tool={gate.call.name} isOwn={false} />
        ) : (
          <LateSetup tool={gate.call.name} isOwn otherwise={gates.onlyOperator} />
        )}
      </div>
      <Answers onDecide={onDecide} choices={choices} />
    </section>
  );
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
      {offer?.kind === "amount" && (
        <Form class="rule" onSubmit={({ limit }) => onDecide("rule", limit)}>
          <Field label={gates.amountADay(offer.param)} name="limit">
            {(field) => (
              <span class="amount">
                <input
                  {...field}
                  required
                  pattern="[0-9]{1,9}([.,][0-9]{1,2})?"
                  inputMode="decimal"
                  autocomplete="off"
                  defaultValue={offer.limit}
                />
                {offer.unit}
              </span>
            )}
          </Field>
          <button type="submit">{gates.allowAmount}</button>
        </Form>
      )}
    </section>
  );
}

/** The tasks that led to the question, the outermost first. */
function Path({ gate: { task } }: { gate: Gate }) {
  if (!task) return null;
  return (
    <p class="gate-note" dir="auto">
      {text.chat.gates.askedBy(task.path.map(visibleLine).join(" › "))}
    </p>
  );
}

/** What is asked for, as the card shows it and as it can be looked up once it is answered. */
export function Asked({ gate }: { gate: Extract<Gate, { type: "approval" | "authentication" }> }) {
  if (gate.type === "authentication")
    return (
      <>
        <p class="gate-note">{gate.message}</p>
        <Calls calls={[gate.call]} />
      </>
    );
  const { call, grants, doubts = [], others = [], steps } = gate;
  if (steps) return <Steps of={steps} />;
  return (
    <>
      <Doubts of={doubts} />
      {doubts.length === 0 ? (
        <Calls calls={[call, ...others]} />
      ) : (
        <details class="more">
          <summary>
            {others.length > 0
              ? text.chat.gates.callsOf(others.length + 1, visibleLine(call.name))
              : text.chat.gates.callOf(visibleLine(call.name))}
          </summary>
          <CallList calls={[call, ...others]} />
        </details>
      )}
      {/* Of a tool of the agent's own, they are the question. */}
      <details class="more" open={gate.fingerprint === undefined && doubts.length === 0}>
        <summary>{text.chat.gates.whatItMayDo(visibleLine(call.name))}</summary>
        <Grants of={grants} />
      </details>
    </>
  );
}

type Value = NonNullable<ApprovalCardProps["gate"]["steps"]>[number]["values"][number];

/** Who else said a value stands before it, so that no value can deny it. */
function Steps({ of: steps }: { of: NonNullable<ApprovalCardProps["gate"]["steps"]> }) {
  return (
    <ol class="steps">
      {Object.entries(steps).map(([at, { title, tool, note, values }]) => (
        <li key={at}>
          <b>{visibleLine(title)}</b> <code class="soft">{visibleLine(tool)}</code>
          {note !== undefined && <p class="whose">{text.chat.gates.unaskedStep}</p>}
          <dl>
            {Object.entries(values).map(([nr, value]) => (
              <PlannedValue key={nr} {...value} />
            ))}
          </dl>
        </li>
      ))}
    </ol>
  );
}

/** A reference as the service writes it. */
const REFERENCE = /^⟨(\w+) of step (\d+)⟩$/;

function PlannedValue(given: Value) {
  const { param, value, why, called } = given;
  const whose = text.chat.whose(given);
  const isOurs = why === "earlier" || why === "later";
  const [, field, step] = (why === "earlier" && REFERENCE.exec(value)) || [];
  const shown = <bdi>{field && step ? text.chat.gates.fromStep(field, step) : value}</bdi>;
  return (
    <div>
      <dt>
        {param}
        {whose !== undefined && <span class={isOurs ? "soft" : "whose"}>{whose}</span>}
      </dt>
      <dd>
        {whose === undefined || isOurs ? shown : <mark>{shown}</mark>}
        {called !== undefined && (
          <span class="soft">
            {" "}
            “<bdi>{called}</bdi>”
          </span>
        )}
      </dd>
    </div>
  );
}

function Calls({ calls }: { calls: readonly ToolCall[] }) {
  const [first] = calls;
  return (
    <>
      {calls.length > 1 && (
        <span>{text.chat.gates.callsOf(calls.length, visibleLine(first?.name ?? ""))}</span>
      )}
      <CallList calls={calls} />
    </>
  );
}

function CallList({ calls }: { calls: readonly ToolCall[] }) {
  const [first] = calls;
  if (first && calls.length === 1) return <Values of={first.params} />;
  return (
    <ol class="several">
      {calls.map((call) => (
        <li key={call.id}>
          <Values of={call.params} />
        </li>
      ))}
    </ol>
  );
}

/** The reasons to ask about a call although its tool may run, with excerpts of the sources of its values: the strongest leads. */
function Doubts({ of: doubts }: { of: readonly Doubt[] }) {
  if (doubts.length === 0) return null;
  const { leads, others, also } = tell(doubts.map((doubt) => ({ ...doubt, ...text.chat.doubt(doubt) })));
  return (
    <>
      <ToldList of={leads} class="doubts leads" />
      {others.length > 0 && (
        <details class="more">
          <summary dir="auto">{text.chat.gates.also(also)}</summary>
          <ToldList of={others} class="doubts" />
        </details>
      )}
    </>
  );
}

function ToldList({ of: told, class: classes }: { of: readonly Told[]; class: string }) {
  return (
    <ul class={classes}>
      {told.map(({ sentence, source, excerpt }) => (
        <li key={sentence.map(({ text }) => text).join("")}>
          <p>
            <Pieces of={sentence} />
          </p>
          {excerpt && (
            <figure>
              {source !== undefined && (
                <figcaption>{text.chat.gates.says(<bdi key="source">{source}</bdi>)}</figcaption>
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

/** Few chats wait for a credential: the forms are loaded when one does. */
function LateSetup(props: Parameters<typeof SetupAtGate>[0]) {
  const [loaded, setLoaded] = useState<{ readonly Setup: typeof SetupAtGate }>();
  useEffect(() => {
    void import("../../widgets/tool-setup.tsx").then(({ SetupAtGate }) => setLoaded({ Setup: SetupAtGate }));
  }, []);
  return loaded ? <loaded.Setup {...props} /> : null;
}
