import ChevronRight from "lucide/dist/esm/icons/chevron-right.mjs";
import { Fragment } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { findSources } from "../../../../kernel/kit/display.ts";
import { visibleLine } from "../../../../kernel/kit/text.ts";
import { isOver, type Piece, type TurnView, writtenIn } from "../../state/turn-view.ts";
import { retry, takeBack } from "../../state/turns.ts";
import { useApp } from "../../state/use-app.ts";
import { dollars, whole } from "../../text/language.ts";
import { text } from "../../text/text.ts";
import { Button } from "../../widgets/controls.tsx";
import { CopyButton } from "../../widgets/copy-button.tsx";
import { Icon } from "../../widgets/icon.tsx";
import { SentFiles } from "../attachments/sent-files.tsx";
import { ConnectHint } from "../connect/connect-hint.tsx";
import { Answered } from "../gates/answered.tsx";
import type { GateCard } from "../gates/gate-card.tsx";
import { Prose } from "../prose/prose.tsx";
import { Calls } from "./call-card.tsx";
import { ChangedFiles } from "./changed-files.tsx";
import { MessageEditor } from "./message-editor.tsx";
import { isDelegating, TaskTree } from "./task-tree.tsx";
import { Stepper, stepsOf } from "./version-stepper.tsx";

interface TurnBlockProps {
  readonly turn: TurnView;
  readonly isLast: boolean;
  /** The turn whose message this one answers, usually this one. */
  readonly root: TurnView | undefined;
  /** The turns from there to this one: an answer goes on after a gate. */
  readonly before: readonly TurnView[];
  /** True if the next turn continues the same answer. */
  readonly isContinued: boolean;
}

export function TurnBlock({ turn, isLast, root, before, isContinued }: TurnBlockProps) {
  return (
    <article class="answer" aria-busy={!isOver(turn)}>
      {(turn.asked ?? turn.replied) === undefined ? (
        <h2 class="unseen">{text.chat.turn.goesOn}</h2>
      ) : (
        <>
          <h2 class="unseen">{text.chat.turn.you}</h2>
          <Message turn={turn} />
        </>
      )}
      {groups(turn.pieces).map((pieces) => {
        const [piece] = pieces;
        if (piece?.type === "text") return <Prose key={piece.id} text={piece.text} isWhole={isOver(turn)} />;
        if (piece?.type === "said") return <Said key={piece.id} piece={piece} />;
        if (piece?.type === "reasoning")
          return <Thoughts key={piece.id} words={piece.text} isOver={isOver(turn)} millis={piece.millis} />;
        const calls = pieces.filter((one) => one.type === "call");
        if (!calls.some(isDelegating)) return <Calls key={piece?.id} of={calls} />;
        const { true: delegating = [], false: others = [] } = Object.groupBy(
          calls,
          (one) => `${isDelegating(one)}`,
        );
        return (
          <Fragment key={piece?.id}>
            {others.length > 0 && <Calls of={others} />}
            <TaskTree thread={turn.thread} calls={delegating} />
          </Fragment>
        );
      })}
      {turn.status === "running" && !turn.gate && turn.pieces.at(-1)?.type !== "text" && (
        <Working key={turn.pieces.length} since={turn.startedAt} preparing={turn.preparing} />
      )}
      {isOver(turn) && <Sources turn={turn} before={before} />}
      {turn.needsModel && <ConnectHint />}
      {turn.notice && <p class="banner">{turn.notice}</p>}
      {turn.gate && <LateGateCard key={turn.gate.id} gate={turn.gate} />}
      <Answered turn={turn} />
      {turn.error && <Failed turn={turn} error={turn.error} canRetry={isLast && turn.asked !== undefined} />}
      <Meta turn={turn} root={root} isContinued={isContinued} />
      {/* It is known a moment later, and nothing that stands there already may move. */}
      <ChangedFiles turn={turn} />
    </article>
  );
}

/** Stands where the next words of the answer will be. They say themselves that it works. */
function Working({ since, preparing }: { since: number; preparing: string | undefined }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.round((now - since) / 1000));
  return (
    <p class="working">
      {preparing === undefined ? text.chat.turn.working(seconds) : text.chat.turn.preparing(preparing)}
    </p>
  );
}

/** Failures that end when a setting is changed. */
const OF_SETTINGS: ReadonlySet<string> = new Set([
  "model_unauthorized",
  "model_unreachable",
  "model_refused",
  "no_model",
  "unknown_model",
  "unsupported_input",
  "daily_cap",
  "too_many_tool_calls",
  "turn_timeout",
]);

interface FailedProps {
  readonly turn: TurnView;
  readonly error: NonNullable<TurnView["error"]>;
  readonly canRetry: boolean;
}

function Failed({ turn, error, canRetry }: FailedProps) {
  const { user } = useApp();
  const isOfSettings = OF_SETTINGS.has(error.code) && user?.role === "operator";
  return (
    <div class="trouble" role="alert">
      <span>{error.message}</span>
      {(canRetry || isOfSettings) && (
        <span class="row">
          {canRetry && <Button label={text.basics.retry} onClick={() => retry(turn)} />}
          {isOfSettings && (
            <a class="button" href="#/settings">
              {text.chat.turn.openSettings}
            </a>
          )}
        </span>
      )}
    </div>
  );
}

/** A message that was sent while the turn ran, where it was read. */
function Said({ piece }: { piece: Extract<Piece, { type: "said" }> }) {
  return (
    <>
      <h2 class="unseen">{text.chat.turn.you}</h2>
      {piece.files && piece.files.length > 0 && <SentFiles files={piece.files} />}
      {piece.text && (
        <div class="asked" dir="auto">
          {piece.text}
        </div>
      )}
    </>
  );
}

/** Calls that follow each other belong together; everything else stands alone. */
function groups(pieces: readonly Piece[]): readonly (readonly Piece[])[] {
  const found: Piece[][] = [];
  for (const piece of pieces) {
    const last = found.at(-1);
    if (piece.type === "call" && last?.[0]?.type === "call") last.push(piece);
    else found.push([piece]);
  }
  return found;
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
          {beside && <Stepper what={text.chat.turn.yourQuestion} {...stepsOf(beside, turn.id).messages} />}
          {turn.asked !== "" && <CopyButton text={turn.asked} what={text.chat.turn.yourQuestion} />}
          <Button
            label={text.chat.turn.editShort}
            class="small"
            aria-label={text.chat.turn.edit}
            onClick={() => setEdited(true)}
          />
        </p>
      )}
    </>
  );
}

/** Titles and addresses are a stranger's: they are shown as text, and the host says where the link leads. */
function Sources({ turn, before }: Pick<TurnBlockProps, "turn" | "before">) {
  const sources = useMemo(() => {
    const written = writtenIn(turn);
    // What was read before a gate is what the answer after it rests on.
    const outcomes = [...before, turn].flatMap((one) => [...one.outcomes.values()]);
    const outputs = outcomes.flatMap((one) => (one.status === "ok" ? [one.output] : []));
    return written === "" ? [] : findSources(outputs, written);
  }, [turn.outcomes, turn.pieces, before.length]);
  if (sources.length === 0) return null;
  return (
    <section class="sources" aria-label={text.chat.turn.sources}>
      <h3>{text.chat.turn.sources}</h3>
      <ol>
        {sources.map(({ url, title, host }) => (
          <li key={url}>
            <a href={url} title={visibleLine(url)} target="_blank" rel="noopener noreferrer" dir="auto">
              {visibleLine(title)}
            </a>{" "}
            <span class="soft">{host}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Meta({ turn, root, isContinued }: Pick<TurnBlockProps, "turn" | "root" | "isContinued">) {
  const { versions } = useApp();
  const cost = costWords(turn);
  if (turn.status === "queued") {
    return (
      <p class="meta">
        <span>{text.chat.turn.inLine}</span>
        <Button label={text.chat.turn.takeBack} class="small" onClick={() => takeBack(turn.id)} />
      </p>
    );
  }
  if (!isOver(turn)) return null;
  const written = writtenIn(turn);
  const beside = versions.get(turn.id);
  // The rest of the answer follows, with all of it below its end.
  if (isContinued && written === "" && !beside) return null;
  return (
    <p class="meta">
      {turn.status === "cancelled" && <span>{text.chat.turn.stopped}</span>}
      {turn.channel !== "gateway" && <span>{text.chat.turn.by(turn.channel)}</span>}
      {beside && <Stepper what={text.chat.turn.theAnswer} {...stepsOf(beside, turn.id).answers} />}
      {written !== "" && <CopyButton text={written} what={text.chat.turn.theAnswer} />}
      {root && !isContinued && !turn.error && turn.status !== "waiting" && (
        <Button
          label={text.chat.turn.regenerate}
          class="small"
          aria-label={text.chat.turn.regenerateAnswer}
          onClick={() => retry(root)}
        />
      )}
      {turn.model && <span class="figure">{turn.model.name}</span>}
      {cost && <span class="figure">{cost}</span>}
    </p>
  );
}

/** Less would be shown as nothing. */
const MIN_SHOWN_USD = 0.00005;

function costWords({ usage }: TurnView): string | undefined {
  if (!usage || usage.total_tokens === 0) return undefined;
  const { cost } = usage;
  const tokens = text.chat.turn.tokens(whole(usage.total_tokens));
  return cost >= MIN_SHOWN_USD ? `${tokens} · ${dollars(cost)}` : tokens;
}

interface ThoughtsProps {
  readonly words: string;
  /** How long it took; known when it is over. */
  readonly millis?: number | undefined;
  readonly isOver: boolean;
}

/** The reasoning of the model, folded to a line. It is untrusted text like any other. */
function Thoughts({ words, millis, isOver }: ThoughtsProps) {
  return (
    <details class="thoughts">
      <summary>
        {thoughtWords(millis, isOver)}
        <Icon of={ChevronRight} />
      </summary>
      <div class="inside">
        <Prose text={words} isWhole={isOver} />
      </div>
    </details>
  );
}

function thoughtWords(millis: number | undefined, isOver: boolean): string {
  const { turn } = text.chat;
  if (millis === undefined) return isOver ? turn.thoughts : turn.thinking;
  const seconds = Math.round(millis / 1000);
  if (seconds < 1) return turn.thoughtBriefly;
  return turn.thoughtFor(
    seconds < 60 ? turn.seconds(seconds) : turn.minutes(Math.floor(seconds / 60), seconds % 60),
  );
}

/** Few chats wait for a person: the card is loaded when one does. */
function LateGateCard(props: Parameters<typeof GateCard>[0]) {
  const [loaded, setLoaded] = useState<{ readonly Card: typeof GateCard }>();
  useEffect(() => {
    void import("../gates/gate-card.tsx").then(({ GateCard }) => setLoaded({ Card: GateCard }));
  }, []);
  return loaded ? <loaded.Card {...props} /> : null;
}
