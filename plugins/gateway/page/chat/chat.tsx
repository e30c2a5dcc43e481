import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { visibleLine } from "../../../../kernel/text/visible.ts";
import { getState } from "../state/app.ts";
import { chooseModel, loadModels, rememberLeaf, showEarlier } from "../state/threads.ts";
import { isOver, joinCalls, type TurnView } from "../state/turn-view.ts";
import { send } from "../state/turns.ts";
import { useApp } from "../state/use-app.ts";
import type { ModelName } from "../state/wire.ts";
import { Bar } from "../widgets/bar.tsx";
import { Composer } from "./composer.tsx";
import { TurnBlock } from "./turns/turn-block.tsx";

// A reader who is closer than this to the end follows new text.
const NEAR_PIXELS = 80;

export function Chat() {
  const { thread, threads, turns, earlier, sent } = useApp();
  const scroller = useRef<HTMLElement>(null);
  const readsAlong = useRef(true);
  // A hint for a reader who has scrolled up: there is more below, or something new.
  const [below, setBelow] = useState<"nothing" | "more" | "new">("nothing");
  const title = threads.find(({ id }) => id === thread)?.title ?? "New chat";
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
      <Bar title={title}>
        <ModelPicker />
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
            <TurnBlock
              key={turn.id}
              turn={turn}
              isLast={index === turns.length - 1}
              root={shown.findLast(({ asked }, at) => at <= index && asked !== undefined)}
              isContinued={isContinuation(shown[index + 1])}
            />
          ))}
          {turns.length === 0 && thread === undefined && <Welcome />}
        </div>
      </section>
      <div class="latest">
        {below !== "nothing" && (
          <button type="button" onClick={onLatest}>
            ↓ {below === "new" ? "New answer" : "Latest"}
          </button>
        )}
      </div>
      <Composer thread={thread} running={running?.id} />
    </>
  );
}

const EXAMPLES = ["What can you do?", "Convert 26.2 miles to km", "Remember that my bike is red"];

function Welcome() {
  const { status, user } = useApp();
  return (
    <div class="welcome">
      <h2>What can I help with?</h2>
      {status?.model.provider === "builtin" && (
        <p>
          You are talking to the built-in model: it works offline, calls tools and remembers, but it is not a
          language model.{" "}
          {user?.role === "operator" ? (
            <>
              To use one, choose it in <a href="#/settings">Settings</a>.
            </>
          ) : (
            "Ask your operator to choose one."
          )}
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

const isContinuation = (turn: TurnView | undefined): boolean =>
  turn !== undefined && turn.asked === undefined && turn.replied === undefined;

const keyOf = ({ provider, name }: ModelName): string => JSON.stringify([provider, name]);

/** The choice of the thread's model. The names come from model servers and are shown as plain text. */
function ModelPicker() {
  const { models, chosen, status } = useApp();
  useEffect(() => {
    if (models === undefined) void loadModels();
  }, []);
  if (status === undefined) return null;
  const choose = (key: string) => {
    const [provider, name] = key === "" ? [] : (JSON.parse(key) as [string, string]);
    void chooseModel(provider === undefined || name === undefined ? null : { provider, name });
  };
  const options = models ?? [];
  const isListed = chosen === null || options.some((option) => keyOf(option) === keyOf(chosen));
  const providers = [...new Set(options.map(({ provider }) => provider))];
  return (
    <select
      class="model"
      aria-label="Model of this thread"
      value={chosen === null ? "" : keyOf(chosen)}
      onFocus={() => void loadModels()}
      onChange={(event) => choose(event.currentTarget.value)}
    >
      <option value="">{visibleLine(status.model.name)} (default)</option>
      {!isListed && <option value={keyOf(chosen)}>{visibleLine(chosen.name)}</option>}
      {providers.map((provider) => (
        <optgroup key={provider} label={provider}>
          {options
            .filter((option) => option.provider === provider)
            .map((option) => (
              <option key={keyOf(option)} value={keyOf(option)}>
                {visibleLine(option.name)}
              </option>
            ))}
        </optgroup>
      ))}
    </select>
  );
}
