import { type Piece, type Told, tell } from "../../../../kernel/kit/display.ts";
import { visibleLine } from "../../../../kernel/kit/text.ts";
import type { Doubt, Gate, ToolCall } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { Grants } from "../../widgets/grants.tsx";
import { Values } from "../values.tsx";

type Planned = NonNullable<Extract<Gate, { type: "approval" }>["steps"]>;

/** The tasks that led to the question, the outermost first. */
export function Path({ gate: { task } }: { gate: Gate }) {
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

type Value = Planned[number]["values"][number];

/** Who else said a value stands before it, so that no value can deny it. */
function Steps({ of: steps }: { of: Planned }) {
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
