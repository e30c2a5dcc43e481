import { visible, visibleJson, visibleLine } from "../../../../../kernel/text/visible.ts";
import type { Result } from "../../state/turn-view.ts";
import type { ToolCall } from "../../state/wire.ts";

interface CallCardProps {
  readonly call: ToolCall;
  readonly outcome?: Result;
  readonly millis?: number;
  readonly isWaiting?: boolean;
}

/** One tool call, folded to a line: what was called, with what, how long it took, what came back. */
export function CallCard({ call, outcome, millis, isWaiting }: CallCardProps) {
  const [mark, word] =
    outcome === undefined
      ? isWaiting
        ? ["?", "waiting"]
        : ["…", "running"]
      : outcome.status === "ok"
        ? ["✓", "succeeded"]
        : ["✗", "failed"];
  return (
    <details class="call" open={(outcome?.attachments?.length ?? 0) > 0}>
      <summary>
        <span class={`mark ${word}`} aria-hidden="true">
          {mark}
        </span>
        <b>{call.name}</b>
        <span class={word === "waiting" ? "tag" : "unseen"}>
          {word === "waiting" ? "waiting for you" : word}
        </span>
        <span class="what">{oneLine(call.params)}</span>
        <span class="time">
          {millis === undefined ? "" : `${(millis / 1000).toFixed(millis < 995 ? 2 : 1)} s`}
        </span>
      </summary>
      <div class="inside">
        <h3>Parameters</h3>
        <pre>{pretty(call.params)}</pre>
        {outcome && (
          <>
            <h3>{outcome.status === "ok" ? "Result" : "Error"}</h3>
            <pre class={outcome.status === "ok" ? "" : "failed"}>
              {outcome.status === "ok" ? pretty(outcome.output) : visible(outcome.message)}
            </pre>
            {outcome.attachments?.map(({ id, name }, at) => (
              <a key={id} href={`/api/attachments/${id}`} target="_blank" rel="noopener noreferrer">
                <img src={`/api/attachments/${id}`} alt={name ?? `Image ${at + 1} from ${call.name}`} />
              </a>
            ))}
            {"receipt" in outcome && outcome.receipt && <p class="soft">Receipt {outcome.receipt}</p>}
          </>
        )}
      </div>
    </details>
  );
}

// Hidden characters are made visible, since a model or a stranger wrote the text.
function pretty(json: string): string {
  try {
    return visibleJson(JSON.stringify(JSON.parse(json), null, 2));
  } catch {
    return visible(json);
  }
}

function oneLine(json: string): string {
  try {
    const values = JSON.parse(json) as Record<string, unknown>;
    const words = Object.entries(values).map(
      ([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
    );
    return visibleLine(words.join(", "));
  } catch {
    return visibleLine(json);
  }
}
