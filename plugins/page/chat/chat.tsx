import ArrowDown from "lucide/dist/esm/icons/arrow-down.mjs";
import MessageCircleQuestionMark from "lucide/dist/esm/icons/message-circle-question-mark.mjs";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type AppState, getState } from "../state/app.ts";
import { reloadThread, rememberLeaf, showEarlier } from "../state/threads.ts";
import { isOver, joinCalls, type TurnView } from "../state/turn-view.ts";
import { useApp } from "../state/use-app.ts";
import { text } from "../text/text.ts";
import { PageHeader } from "../widgets/bar.tsx";
import { Button } from "../widgets/controls.tsx";
import { EmptyState, ErrorState, LoadingState } from "../widgets/states.tsx";
import { Composer } from "./composer.tsx";
import { ContextGauge } from "./context-gauge.tsx";
import { TurnBlock } from "./turns/turn-block.tsx";
import { Welcome } from "./welcome.tsx";

// A reader who is closer than this to the end follows new text.
const NEAR_PIXELS = 80;

export function Chat() {
  const { thread, threads, turns, earlier, sent, threadState } = useApp();
  const scroller = useRef<HTMLElement>(null);
  const readsAlong = useRef(true);
  // A hint for a reader who has scrolled up: there is more below, or something new.
  const [below, setBelow] = useState<"nothing" | "more" | "new">("nothing");
  const title = threads.find(({ id }) => id === thread)?.title ?? text.chat.newChat;
  const shown = useMemo(() => joinCalls(turns), [turns]);
  const running = turns.find((turn) => !isOver(turn));

  // Measured before earlier turns are added above, so that the reader keeps their place.
  const top = useRef<string | undefined>(undefined);
  const height = turns[0]?.id === top.current ? 0 : (scroller.current?.scrollHeight ?? 0);
  const seen = useRef(sent);
  const last = useRef(turns.at(-1));
  // Follows new text only while the reader is at the end.
  useLayoutEffect(() => {
    const element = scroller.current;
    const hasEarlierAbove = turns.findIndex(({ id }) => id === top.current) > 0;
    top.current = turns[0]?.id;
    if (sent !== seen.current) readsAlong.current = true;
    seen.current = sent;
    if (!element) return;
    if (hasEarlierAbove) element.scrollTop += element.scrollHeight - height;
    else if (readsAlong.current) element.scrollTop = element.scrollHeight;
    else if (turns.at(-1) !== last.current) setBelow("new");
    last.current = turns.at(-1);
  }, [turns]);
  // Pictures, diagrams and lists of files arrive later, above the end that the reader follows; a toast or a longer message leaves less room.
  const content = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const follow = new ResizeObserver(() => {
      const element = scroller.current;
      if (element && readsAlong.current) element.scrollTop = element.scrollHeight;
    });
    for (const { current } of [content, scroller]) if (current) follow.observe(current);
    return () => follow.disconnect();
  }, []);
  const leaf = turns.at(-1)?.id;
  useEffect(() => {
    if (thread !== undefined && leaf !== undefined) rememberLeaf(thread, leaf);
  }, [thread, leaf]);
  useEffect(() => {
    readsAlong.current = true;
    setBelow("nothing");
  }, [thread]);
  const onScroll = () => {
    const element = scroller.current;
    if (!element) return;
    readsAlong.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PIXELS;
    if (readsAlong.current) setBelow("nothing");
    else setBelow((known) => (known === "new" ? known : "more"));
  };
  const onLatest = () => {
    const element = scroller.current;
    if (!element) return;
    readsAlong.current = true;
    element.scrollTop = element.scrollHeight;
    // The button disappears, so move the focus to the conversation.
    element.focus({ preventScroll: true });
  };
  const onEarlier = async () => {
    await showEarlier();
    // The button disappears with the last page, so move the focus to the conversation.
    if (getState().earlier === undefined) scroller.current?.focus({ preventScroll: true });
  };

  return (
    <>
      <PageHeader title={title}>
        <ContextGauge thread={thread} leaf={leaf} isIdle={running === undefined} />
      </PageHeader>
      <section
        class="talk"
        ref={scroller}
        onScroll={onScroll}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
        aria-label={text.chat.conversation}
      >
        <div ref={content}>
          {earlier !== undefined && (
            <Button label={text.chat.showEarlier} class="earlier" onClick={onEarlier} />
          )}
          {shown.map((turn, index) => {
            const first = shown.findLastIndex(({ asked }, at) => at <= index && asked !== undefined);
            return (
              <TurnBlock
                key={turn.id}
                turn={turn}
                isLast={index === turns.length - 1}
                root={shown[first]}
                before={shown.slice(Math.max(first, 0), index)}
                isContinued={isContinuation(shown[index + 1])}
              />
            );
          })}
          {turns.length === 0 && thread === undefined && <Welcome />}
          {turns.length === 0 && <ThreadState of={threadState} />}
        </div>
      </section>
      <div class="latest">
        {below !== "nothing" && (
          <Button
            label={below === "new" ? text.chat.newAnswer : text.chat.latest}
            icon={ArrowDown}
            onClick={onLatest}
          />
        )}
      </div>
      <Composer thread={thread} running={running?.id} />
    </>
  );
}

function ThreadState({ of: state }: { of: AppState["threadState"] }) {
  switch (state) {
    case "ready":
      return null;
    case "loading":
      return <LoadingState lines={6} label={text.chat.loading} />;
    case "missing":
      return (
        <EmptyState
          title={text.chat.missing}
          icon={MessageCircleQuestionMark}
          action={
            <span class="row">
              <a class="button" href="#/">
                {text.chat.startNew}
              </a>
              <a class="button" href="#/bin">
                {text.pages.bin}
              </a>
            </span>
          }
        >
          {text.chat.missingWhy}
        </EmptyState>
      );
    case "failed":
      return (
        <ErrorState title={text.chat.failed} onRetry={reloadThread}>
          {text.chat.failedWhy}
        </ErrorState>
      );
  }
}

const isContinuation = (turn: TurnView | undefined): boolean =>
  turn !== undefined && turn.asked === undefined && turn.replied === undefined;
