import { useEffect, useState } from "preact/hooks";
import { cancel, retry } from "../app.ts";
import { CallCard } from "./call-card.tsx";
import { GateCard } from "./gate-card.tsx";
import { Prose } from "./prose.tsx";
import { isOver, type TurnView } from "./turn-view.ts";

export function TurnBlock({ turn, isLast }: { turn: TurnView; isLast: boolean }) {
  return (
    <article class="answer" aria-busy={!isOver(turn)}>
      {(turn.asked ?? turn.replied) === undefined ? (
        <h2 class="unseen">Postern goes on</h2>
      ) : (
        <>
          <h2 class="unseen">You</h2>
          <div class="asked">{turn.asked ?? turn.replied}</div>
        </>
      )}
      {turn.pieces.map((piece) =>
        piece.type === "text" ? (
          <Prose key={piece.id} text={piece.text} />
        ) : (
          <CallCard key={piece.call.id} {...piece} />
        ),
      )}
      {turn.notice && <p class="banner">{turn.notice}</p>}
      {turn.gate && <GateCard gate={turn.gate} />}
      {turn.error && (
        <div class="trouble" role="alert">
          <span>
            {turn.error.message} <span class="soft">({turn.error.code})</span>
          </span>
          {isLast && turn.asked !== undefined && (
            <span class="row">
              <button type="button" onClick={() => void retry(turn)}>
                Try again
              </button>
            </span>
          )}
        </div>
      )}
      <Meta turn={turn} />
    </article>
  );
}

function Meta({ turn }: { turn: TurnView }) {
  const elapsed = useElapsed(turn);
  const cost = costWords(turn);
  if (turn.status === "queued") {
    return (
      <p class="meta">
        <span>waiting for the answer above</span>
        <button type="button" class="small" onClick={() => void cancel(turn.id)}>
          Take back
        </button>
      </p>
    );
  }
  if (!isOver(turn)) {
    return (
      <p class="meta">
        <span class="working">working, {elapsed} s</span>
      </p>
    );
  }
  return (
    <p class="meta">
      {turn.status === "cancelled" && <span>stopped</span>}
      {turn.channel !== "gateway" && <span>by {turn.channel}</span>}
      {turn.model && <span>{turn.model.name}</span>}
      {cost && <span>{cost}</span>}
    </p>
  );
}

function useElapsed(turn: TurnView): number {
  const [now, setNow] = useState(Date.now);
  const runs = !isOver(turn);
  useEffect(() => {
    if (!runs) return;
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [runs]);
  return Math.max(0, Math.round((now - turn.startedAt) / 1000));
}

function costWords({ usage }: TurnView): string | undefined {
  if (!usage || usage.total_tokens === 0) return undefined;
  const { cost } = usage;
  return `${usage.total_tokens.toLocaleString()} tokens${cost > 0 ? ` · $${cost.toFixed(4)}` : ""}`;
}
