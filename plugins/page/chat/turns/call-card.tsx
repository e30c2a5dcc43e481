import ChevronRight from "lucide/dist/esm/icons/chevron-right.mjs";
import CircleCheck from "lucide/dist/esm/icons/circle-check.mjs";
import CircleX from "lucide/dist/esm/icons/circle-x.mjs";
import Hand from "lucide/dist/esm/icons/hand.mjs";
import LoaderCircle from "lucide/dist/esm/icons/loader-circle.mjs";
import { readCodeRun, tellingParam } from "../../../../kernel/kit/display.ts";
import { isRecord, tryJson, visible, visibleLine } from "../../../../kernel/kit/text.ts";
import type { Piece, Result } from "../../state/turn-view.ts";
import type { ToolCall } from "../../state/wire.ts";
import { duration } from "../../text/language.ts";
import { text } from "../../text/text.ts";
import { FileLink } from "../../widgets/change-set.tsx";
import { Differences } from "../../widgets/differences.tsx";
import { Icon } from "../../widgets/icon.tsx";
import { KeepButton } from "../attachments/keep-button.tsx";
import { Values } from "../values.tsx";
import { tellCall } from "./call-words.ts";
import { Charts, CodeRunView } from "./code-run.tsx";

export type Call = Extract<Piece, { type: "call" }>;

/** Calls that follow each other, a line for each. Pictures stand below all of them, so that none of the lines moves. */
export function Calls({ of: calls }: { of: readonly Call[] }) {
  const charts = calls.flatMap(({ call, outcome }) => runOf(call, outcome)?.result?.charts ?? []);
  const made = calls.flatMap(({ call, outcome }) =>
    (outcome?.attachments ?? []).map((file, at) => ({
      file,
      alt: file.name ?? text.chat.calls.image(at + 1, call.name),
    })),
  );
  return (
    <>
      <div class="calls">
        {calls.map((call) => (
          <CallLine key={call.call.id} {...call} />
        ))}
      </div>
      {/* What was asked for is not folded away. */}
      {made.map(({ file, alt }) => (
        <figure key={file.id} class="made">
          <a href={`/api/attachments/${file.id}`} target="_blank" rel="noopener noreferrer">
            <img src={`/api/attachments/${file.id}`} alt={alt} />
          </a>
          <KeepButton file={file} />
        </figure>
      ))}
      <Charts of={charts} />
    </>
  );
}

const runOf = (call: ToolCall, outcome: Result | undefined) =>
  readCodeRun(call, outcome?.status === "ok" ? outcome.output : undefined);

const STATES = {
  running: { icon: LoaderCircle, words: text.chat.calls.running },
  preparing: { icon: LoaderCircle, words: text.chat.calls.preparing },
  waiting: { icon: Hand, words: text.chat.calls.waiting },
  succeeded: { icon: CircleCheck, words: text.chat.calls.succeeded },
  failed: { icon: CircleX, words: text.chat.calls.failed },
};

/** The states that are said, besides their icon. */
const SAID: ReadonlySet<string> = new Set(["preparing", "waiting"]);

function stateOf({ outcome, isWaiting, isPreparing }: Call): keyof typeof STATES {
  if (outcome) return outcome.status === "ok" ? "succeeded" : "failed";
  if (isWaiting) return "waiting";
  return isPreparing ? "preparing" : "running";
}

/** One tool call, folded to a line: what it did, the tool's name, how long it took; inside, its parameters and its result. */
function CallLine(piece: Call) {
  const { call, summary, outcome, millis } = piece;
  const state = stateOf(piece);
  const { icon, words } = STATES[state];
  const run = runOf(call, outcome);
  const change = outcome?.change;
  const paths = pathsIn(call, outcome);
  const receipt = outcome && "receipt" in outcome ? outcome.receipt : undefined;
  const told = outcome ? outcome.summary : summary;
  const [name, object] = [visibleLine(call.name), tellingParam(call)];
  const done = state === "succeeded" ? "done" : state === "failed" ? "failed" : "running";
  const why = outcome?.status === "ok" ? "" : visibleLine(outcome?.message ?? "");
  return (
    <details class={`call ${state}`}>
      <summary>
        <Icon of={icon} />
        <span class={SAID.has(state) ? `tag ${state}` : "unseen"}>{words}</span>
        <span class="what" dir="auto">
          <b>{told ? tellCall(told, done) : name}</b> {why || (told ? "" : object)}
        </span>
        {told && <span class="tool">{name}</span>}
        <span class="time">{millis === undefined ? "" : duration(millis)}</span>
        <Icon of={ChevronRight} />
      </summary>
      <div class="inside">
        {run && <CodeRunView run={run} receipt={receipt} />}
        {change && (
          <section class="changed" aria-label={text.chat.calls.changed(visibleLine(change.path))}>
            <Differences lines={change.lines.map((line) => visibleLine(line))} />
            {change.is_cut && <p class="soft">{text.chat.calls.changeIsCut}</p>}
          </section>
        )}
        {outcome && outcome.status !== "ok" && run && <Values of={visible(outcome.message)} isFailed />}
        {change || run ? (
          <details class="whole">
            <summary>{text.chat.calls.wholeCall}</summary>
            <WholeCall call={call} outcome={outcome} />
          </details>
        ) : (
          <WholeCall call={call} outcome={outcome} />
        )}
        {paths.length > 0 && (
          <p class="row">
            {paths.map((path) => (
              <FileLink key={path} path={path} />
            ))}
          </p>
        )}
        <p class="soft">
          {name}
          {receipt && (
            <>
              {" · "}
              <span>{text.chat.calls.receipt(receipt)}</span>
            </>
          )}
        </p>
      </div>
    </details>
  );
}

function WholeCall({ call, outcome }: Pick<Call, "call" | "outcome">) {
  return (
    <>
      <h3>{text.chat.calls.parameters}</h3>
      <Values of={call.params} />
      {outcome && (
        <>
          <h3>{outcome.status === "ok" ? text.chat.calls.result : text.chat.calls.error}</h3>
          {outcome.status === "ok" ? (
            <Values of={outcome.output} />
          ) : (
            <Values of={visible(outcome.message)} isFailed />
          )}
        </>
      )}
    </>
  );
}

const MAX_PATHS = 20;

/** The paths that a call of the workspace's own tools names, in its params or in what came back. */
function pathsIn({ name, params }: ToolCall, outcome: Result | undefined): readonly string[] {
  if (!name.startsWith("workspace_")) return [];
  const output = outcome?.status === "ok" ? tryJson(outcome.output) : undefined;
  const rows = [tryJson(params), output, ...(isRecord(output) ? Object.values(output) : [])].flat();
  const paths = rows.flatMap((row) => (isRecord(row) ? [row["path"], row["to"]] : []));
  return [...new Set(paths.filter((path) => typeof path === "string"))].slice(0, MAX_PATHS);
}
