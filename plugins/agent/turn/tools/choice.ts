/**
 * Which of many tools a model is offered: those that fit what was said, those that the thread used, and those it searched
 * for. It follows from the thread alone, turn after turn from its beginning, so that the same thread gets the same tools in the
 * same order and what is new comes at the end: providers cache what a request begins with.
 */

import { TOOL_SEARCH } from "../../../../kernel/kit/tools.ts";
import { ownWords } from "../../../../kernel/kit/untrusted.ts";
import type { ToolCall, TurnItem } from "../../../../kernel/plugin.ts";
import type { RenderedMessage } from "../../threads/tokens.ts";
import { readSearch, searchTools } from "./search-tool.ts";
import { type Query, stemsOf, type ToolIndex } from "./tool-index.ts";

/** The parts of a thread that tell which tools it needs. */
export interface Said {
  /** From the turns before those below. */
  readonly summary: string | undefined;
  readonly past: readonly (readonly RenderedMessage[])[];
  readonly items: readonly TurnItem[];
  readonly required: readonly string[];
}

// New tools for one message.
const MAX_FITTING = 12;
// Only the beginning and the end of a long message count, where most people say what they want.
const MAX_HALF_LENGTH = 1000;
const MAX_STEMS = 60;
/** A message with fewer words may be an answer to what the model said last. */
const FEW_STEMS = 5;
const MAX_ANSWER_END_LENGTH = 600;
const WEIGHT_OF_ANSWER = 0.4;

type Event =
  | { readonly type: "asked"; readonly stems: readonly string[] }
  | { readonly type: "answered"; readonly text: string }
  | { readonly type: "called"; readonly name: string; readonly params: string }
  | { readonly type: "required"; readonly names: readonly string[] };

interface LastUse {
  readonly at: number;
  /** Used, searched for or required: it outstays those that only fitted. */
  readonly isKept: boolean;
}

/** The names to offer beside the agent's own, in order, at most so many. */
export function chooseTools(
  index: ToolIndex,
  { summary = "", past, items, required }: Said,
  most: number,
): readonly string[] {
  const key = JSON.stringify([most, required, summary]);
  let { from, offering } = resume(index, past, key);
  if (offering === undefined) {
    offering = createOffering(index, most);
    for (const name of required) offering.want(name, true);
    // Tools that were used before may be named in the summary.
    for (const name of summary.match(/[\w-]{1,64}/g) ?? []) offering.want(name, true);
  }
  for (; from < past.length; from++) offering.follow(eventsOf(past[from] as readonly RenderedMessage[]));
  const [first, last] = [past[0], past.at(-1)];
  if (first && last) reached.set(last, { index, key, first, turns: past.length, offering: offering.copy() });
  offering.follow(items.flatMap(eventsOfItem));
  // Nobody pushes these out.
  offering.follow([{ type: "required", names: required }]);
  return offering.names();
}

/** Remembers the offering up to a turn that is over, so that a long thread is not gone through again for each new one. */
const reached = new WeakMap<
  readonly RenderedMessage[],
  {
    readonly index: ToolIndex;
    readonly key: string;
    readonly first: readonly RenderedMessage[];
    readonly turns: number;
    readonly offering: Offering;
  }
>();

function resume(
  index: ToolIndex,
  past: Said["past"],
  key: string,
): { readonly from: number; readonly offering: Offering | undefined } {
  for (let from = past.length; from > 0; from--) {
    const known = reached.get(past[from - 1] as readonly RenderedMessage[]);
    if (known?.index === index && known.key === key && known.first === past[0] && known.turns === from)
      return { from, offering: known.offering.copy() };
  }
  return { from: 0, offering: undefined };
}

interface Offering {
  want(name: string, isKept: boolean): void;
  follow(events: readonly Event[]): void;
  names(): readonly string[];
  copy(): Offering;
}

function createOffering(
  index: ToolIndex,
  most: number,
  before = { places: new Map<string, LastUse>(), now: 0, answer: "" },
): Offering {
  const { places } = before;
  let { now, answer } = before;

  function want(name: string, isKept: boolean): void {
    const place = places.get(name);
    if (place) {
      places.set(name, { at: now, isKept: isKept || place.isKept });
      return;
    }
    if (!index.tools.has(name)) return;
    if (places.size >= most) {
      const gone = leastWanted(index, places, { now, most, isKept });
      if (gone === undefined) return;
      places.delete(gone);
    }
    places.set(name, { at: now, isKept });
  }

  return {
    want,
    follow(events) {
      for (const event of events) {
        now += 1;
        if (event.type === "answered") answer = event.text;
        else if (event.type === "asked") for (const name of fitting(index, event, answer)) want(name, false);
        else if (event.type === "required") for (const name of event.names) want(name, true);
        else if (event.name !== TOOL_SEARCH) want(event.name, true);
        else for (const name of searchTools(index, readSearch(event.params))) want(name, true);
      }
    },
    names: () => [...places.keys()],
    copy: () => createOffering(index, most, { places: new Map(places), now, answer }),
  };
}

/** Who gives way: one that only fitted, the longest unwanted first; of a server that holds more than half of the places, if one does. */
function leastWanted(
  { tools }: ToolIndex,
  places: ReadonlyMap<string, LastUse>,
  { now, most, isKept }: { readonly now: number; readonly most: number; readonly isKept: boolean },
): string | undefined {
  const older = [...places].filter(([, { at }]) => at < now);
  const loose = older.filter(([, place]) => !place.isKept);
  const crowd = Map.groupBy(loose, ([name]) => tools.get(name)?.server?.name);
  const crowded = [...crowd].find(([server, held]) => server !== undefined && held.length > most / 2)?.[1];
  const candidates = crowded ?? (loose.length > 0 || !isKept ? loose : older);
  const [first, ...others] = candidates;
  return others.reduce((least, one) => (one[1].at < (least?.[1].at ?? 0) ? one : least), first)?.[0];
}

/** Each message is searched once. */
const found = new WeakMap<
  Event,
  { readonly index: ToolIndex; readonly answer: string; readonly names: readonly string[] }
>();

function fitting(
  index: ToolIndex,
  event: Extract<Event, { type: "asked" }>,
  answer: string,
): readonly string[] {
  const { stems } = event;
  const before = stems.length < FEW_STEMS ? answer.slice(-MAX_ANSWER_END_LENGTH) : "";
  const known = found.get(event);
  if (known?.index === index && known.answer === before) return known.names;
  const query: Query = new Map([
    ...stemsOf(before).map((stem) => [stem, WEIGHT_OF_ANSWER] as const),
    ...stems.map((stem) => [stem, 1] as const),
  ]);
  const names = index.find(query, MAX_FITTING);
  found.set(event, { index, answer: before, names });
  return names;
}

/** Finished turns are kept rendered, and each item is the same object for as long as the turn runs: they are read once. */
function readOnce<Key extends object>(read: (key: Key) => readonly Event[]) {
  const events = new WeakMap<Key, readonly Event[]>();
  return (key: Key): readonly Event[] => {
    const known = events.get(key) ?? read(key);
    events.set(key, known);
    return known;
  };
}

const eventsOf = readOnce((messages: readonly RenderedMessage[]) =>
  messages.flatMap((message): readonly Event[] => {
    // Text that looks like our tags was escaped in it.
    if (message.role === "user") return asked(ownWords(message.text).replaceAll("&lt;", "<"));
    if (message.role === "tool") return [];
    return [...answered(message.text), ...message.calls.map(called)];
  }),
);

const eventsOfItem = readOnce((item: TurnItem) => {
  if (item.type === "tool_call") return [called(item.call)];
  if (item.type !== "message" || item.role === "system") return [];
  return item.role === "user" ? asked(item.text) : answered(item.text);
});

const called = ({ name, params }: ToolCall): Event => ({ type: "called", name, params });

const answered = (text: string): readonly Event[] => (text === "" ? [] : [{ type: "answered", text }]);

function asked(text: string): readonly Event[] {
  const whole = text.length <= 2 * MAX_HALF_LENGTH;
  const stems = new Set(
    stemsOf(whole ? text : `${text.slice(0, MAX_HALF_LENGTH)} ${text.slice(-MAX_HALF_LENGTH)}`),
  );
  const all = [...stems];
  const half = MAX_STEMS / 2;
  const told = all.length <= MAX_STEMS ? all : [...all.slice(0, half), ...all.slice(-half)];
  return told.length === 0 ? [] : [{ type: "asked", stems: told }];
}
