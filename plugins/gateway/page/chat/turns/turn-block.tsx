import { useEffect, useRef, useState } from "preact/hooks";
import { isOver, type TurnView } from "../../state/turn-view.ts";
import { cancel, retry } from "../../state/turns.ts";
import { useApp } from "../../state/use-app.ts";
import { CopyButton } from "../../widgets/copy-button.tsx";
import { SentFiles } from "../attachments/sent-files.tsx";
import { GateCard } from "../gates/gate-card.tsx";
import { Prose } from "../prose/prose.tsx";
import { CallCard } from "./call-card.tsx";
import { MessageEditor } from "./message-editor.tsx";
import { Stepper, stepsOf } from "./version-stepper.tsx";

interface TurnBlockProps {
  readonly turn: TurnView;
  readonly isLast: boolean;
  /** The turn whose message this one answers, usually this one. */
  readonly root: TurnView | undefined;
  /** True if the next turn continues the same answer. */
  readonly isContinued: boolean;
}

export function TurnBlock({ turn, isLast, root, isContinued }: TurnBlockProps) {
  return (
    <article class="answer" aria-busy={!isOver(turn)}>
      {(turn.asked ?? turn.replied) === undefined ? (
        <h2 class="unseen">Postern goes on</h2>
      ) : (
        <>
          <h2 class="unseen">You</h2>
          <Message turn={turn} />
        </>
      )}
      {turn.pieces.map((piece) => {
        if (piece.type === "text") return <Prose key={piece.id} text={piece.text} />;
        if (piece.type === "call") return <CallCard key={piece.call.id} {...piece} />;
        const { id, text, millis } = piece;
        return <Thoughts key={id} text={text} isOver={isOver(turn)} millis={millis} />;
      })}
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
      <Meta turn={turn} root={root} isContinued={isContinued} />
    </article>
  );
}

/** The person's message, with buttons to copy and edit it. */
function Message({ turn }: { turn: TurnView }) {
  const { versions } = useApp();
  const [isEdited, setEdited] = useState(false);
  const edit = useRef<HTMLButtonElement>(null);
  const wasEdited = useRef(false);
  // The focus returns to the Edit button.
  useEffect(() => {
    if (!isEdited && wasEdited.current) edit.current?.focus();
    wasEdited.current = isEdited;
  }, [isEdited]);
  const said = turn.asked ?? turn.replied;
  if (isEdited) return <MessageEditor turn={turn} onClose={() => setEdited(false)} />;
  const beside = versions.get(turn.id);
  return (
    <>
      {turn.files && turn.files.length > 0 && <SentFiles files={turn.files} />}
      {said && (
        <div class="asked" dir="auto">
          {said}
        </div>
      )}
      {turn.asked !== undefined && (
        <p class="meta mine">
          {beside && <Stepper what="your question" {...stepsOf(beside, turn.id).messages} />}
          {turn.asked !== "" && <CopyButton text={turn.asked} what="your question" />}
          <button type="button" class="small" aria-label="Edit your question" onClick={() => setEdited(true)}>
            Edit
          </button>
        </p>
      )}
    </>
  );
}

const writtenIn = ({ pieces }: TurnView): string =>
  pieces.flatMap((piece) => (piece.type === "text" ? [piece.text] : [])).join("\n\n");

function Meta({ turn, root, isContinued }: Omit<TurnBlockProps, "isLast">) {
  const { versions } = useApp();
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
  const written = writtenIn(turn);
  const beside = versions.get(turn.id);
  return (
    <p class="meta">
      {beside && <Stepper what="the answer" {...stepsOf(beside, turn.id).answers} />}
      {written !== "" && <CopyButton text={written} what="the answer" />}
      {root && !isContinued && !turn.error && turn.status !== "waiting" && (
        <button
          type="button"
          class="small"
          aria-label="Regenerate the answer"
          onClick={() => void retry(root)}
        >
          Regenerate
        </button>
      )}
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

interface ThoughtsProps {
  readonly text: string;
  /** How long it took; known when it is over. */
  readonly millis?: number;
  readonly isOver: boolean;
}

/** The reasoning of the model, folded to a line. It is untrusted text like any other. */
function Thoughts({ text, millis, isOver }: ThoughtsProps) {
  return (
    <details class="thoughts">
      <summary>{words(millis, isOver)}</summary>
      <div class="inside">
        <Prose text={text} />
      </div>
    </details>
  );
}

function words(millis: number | undefined, isOver: boolean): string {
  if (millis === undefined) return isOver ? "Thoughts" : "Thinking…";
  const seconds = Math.round(millis / 1000);
  if (seconds < 1) return "Thought for a moment";
  return seconds < 60
    ? `Thought for ${seconds} s`
    : `Thought for ${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
