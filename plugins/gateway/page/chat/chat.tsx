import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { getState, send, showEarlier } from "../app.ts";
import { Bar } from "../frame/bar.tsx";
import { useApp } from "../use-app.ts";
import type { ModelName } from "../wire.ts";
import { Composer } from "./composer.tsx";
import { TurnBlock } from "./turn-block.tsx";
import { isOver, joinCalls } from "./turn-view.ts";

// Closer than this to the end counts as reading along.
const NEAR_PIXELS = 80;

export function Chat() {
  const { thread, threads, turns, earlier, status, sent } = useApp();
  const scroller = useRef<HTMLElement>(null);
  const readsAlong = useRef(true);
  const title = threads.find(({ id }) => id === thread)?.title ?? "New chat";
  const shown = useMemo(() => joinCalls(turns), [turns]);
  // The others wait behind it.
  const running = turns.find((turn) => !isOver(turn));

  // Measured before earlier turns come in above, so that afterwards the reader is where they were.
  const top = useRef<string | undefined>(undefined);
  const height = turns[0]?.id === top.current ? 0 : (scroller.current?.scrollHeight ?? 0);
  const seen = useRef(sent);
  // Follows the text only while the reader is at the end; whoever scrolled up is left in peace.
  useLayoutEffect(() => {
    const element = scroller.current;
    const hasEarlierAbove = turns.findIndex(({ id }) => id === top.current) > 0;
    top.current = turns[0]?.id;
    if (sent !== seen.current) readsAlong.current = true;
    seen.current = sent;
    if (!element) return;
    if (hasEarlierAbove) element.scrollTop += element.scrollHeight - height;
    else if (readsAlong.current) element.scrollTop = element.scrollHeight;
  }, [turns]);
  useEffect(() => {
    readsAlong.current = true;
  }, [thread]);
  const onScroll = () => {
    const element = scroller.current;
    if (!element) return;
    readsAlong.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PIXELS;
  };
  const onEarlier = async () => {
    await showEarlier();
    // The button goes with the last of them; the keyboard stays in the conversation.
    if (getState().earlier === undefined) scroller.current?.focus({ preventScroll: true });
  };

  return (
    <>
      <Bar title={title}>
        <span class="model">{status && modelWords(status.model)}</span>
      </Bar>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <section class="talk" ref={scroller} onScroll={onScroll} tabIndex={0} aria-label="Conversation">
        <div>
          {earlier !== undefined && (
            <button type="button" class="earlier" onClick={() => void onEarlier()}>
              Show earlier
            </button>
          )}
          {shown.map((turn, index) => (
            <TurnBlock key={turn.id} turn={turn} isLast={index === turns.length - 1} />
          ))}
          {turns.length === 0 && thread === undefined && <Welcome />}
        </div>
      </section>
      <Composer thread={thread} running={running?.id} />
    </>
  );
}

const EXAMPLES = ["What can you do?", "Convert 26.2 miles to km", "Remember that my bike is red"];

function Welcome() {
  const { status } = useApp();
  return (
    <div class="welcome">
      <h2>What can I help with?</h2>
      {status?.model.provider === "builtin" && (
        <p>
          You are talking to the built-in model: it works offline, calls tools and remembers, but it is not a
          language model. To use one, set <code>ANTHROPIC_API_KEY</code>, <code>OPENAI_API_KEY</code> or{" "}
          <code>MODEL_BASE_URL</code> and restart Postern.
        </p>
      )}
      <div class="examples">
        {EXAMPLES.map((example) => (
          <button type="button" key={example} onClick={() => void send(example)}>
            {example}
          </button>
        ))}
      </div>
    </div>
  );
}

function modelWords({ provider, name }: ModelName): string {
  return provider === name ? name : `${provider} · ${name}`;
}
