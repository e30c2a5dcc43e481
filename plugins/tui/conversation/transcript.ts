/** The history of a conversation as the screen shows it, entry by entry. */
import { findSources, type Source } from "../../../kernel/kit/display.ts";
import type { Attachment, Gate, TurnEvent, TurnInput, TurnItem, TurnRecord } from "../../../kernel/plugin.ts";
import { sizeOf, spendingOf } from "../text/amounts.ts";
import { quoted } from "../text/markdown.ts";
import { ANSWERED, choicesOf, type Entry, type EntryOf } from "./entry.ts";
import type { LiveTurn } from "./live-turn.ts";

const SEND_AGAIN = "\n\n*Ctrl+P brings your message back to edit and send again.*";

type Ended = Pick<TurnRecord, "model" | "usage">;

type Draft = Entry extends infer Each ? (Each extends Entry ? Omit<Each, "id"> : never) : never;

export type Transcript = ReturnType<typeof createTranscript>;

/** Calls `changed` after every change. */
export function createTranscript(changed: () => void) {
  let entries: Entry[] = [];
  let nextId = 1;

  function add(entry: Draft): number {
    const id = nextId++;
    const added = { ...entry, id } as Entry;
    // What waits stays at the end, below all of the answer that it waits for.
    const waiting = isQueued(added) ? -1 : entries.findIndex(isQueued);
    entries.splice(waiting === -1 ? entries.length : waiting, 0, added);
    changed();
    return id;
  }

  /** Preselects the last choice, which denies. */
  function ask(gate: Gate): void {
    update(openCall(gate.call.id), "tool", (entry) => ({ ...entry, isWaiting: true }));
    add({ type: "gate", gate, shownAt: Date.now(), choice: choicesOf(gate).length - 1 });
  }

  /** The entry of a call without an outcome: a turn that answers a gate continues it. */
  function openCall(call: string): number | undefined {
    return entries.findLast(
      (entry) => entry.type === "tool" && entry.call.id === call && entry.outcome === undefined,
    )?.id;
  }

  function update<Type extends Entry["type"]>(
    id: number | undefined,
    type: Type,
    change: (entry: EntryOf<Type>) => EntryOf<Type>,
  ): void {
    // The entry is nearly always one of the last.
    const index = entries.findLastIndex((entry) => entry.id === id);
    const entry = entries[index];
    if (entry?.type !== type) return;
    entries[index] = change(entry as EntryOf<Type>);
    changed();
  }

  /** Closes a gate that was answered in another channel. */
  function closeGate(input: TurnInput): void {
    for (const entry of entries) {
      if (entry.type !== "gate" || entry.decided !== undefined || !isAnswer(input, entry.gate)) continue;
      const decision = "decision" in input ? input.decision : undefined;
      const choice = choicesOf(entry.gate).find((each) => each.decision === decision);
      update(entry.id, "gate", (known) => ({ ...known, decided: choice?.label ?? ANSWERED, open: false }));
    }
  }

  /** Shows a stored turn the way it looked while it ran. */
  function replay(items: readonly TurnItem[], ended?: Ended): void {
    const calls = new Map<string, number>();
    let answer: number | undefined;
    for (const item of items) {
      if (item.type === "message" && item.role === "user")
        add({ type: "person", text: item.text, open: false, files: describeFiles(item.attachments) });
      else if (item.type === "message" && item.text !== "") answer = add({ type: "answer", text: item.text });
      else if (item.type === "reasoning" && item.text !== "")
        add({ type: "thought", text: item.text, millis: item.millis ?? 0, open: false });
      else if (item.type === "tool_call")
        calls.set(item.call.id, add({ type: "tool", call: item.call, open: false }));
      else if (item.type === "tool_result") {
        const { outcome, attachments, summary, change } = item;
        const ended = { outcome, images: attachments?.length, summary, change };
        update(calls.get(item.call) ?? openCall(item.call), "tool", (entry) => ({ ...entry, ...ended }));
      }
    }
    if (ended) setEnded(answer, ended);
  }

  function setEnded(answer: number | undefined, ended: Ended): void {
    const sources = sourcesUnder(answer);
    update(answer, "answer", (entry) => ({ ...entry, spent: spendingOf(ended), sources }));
  }

  /** All since the person's message counts: what was read before a gate is what the answer after it rests on. */
  function sourcesUnder(answer: number | undefined): readonly Source[] {
    const end = entries.findLastIndex(({ id }) => id === answer);
    const start = entries.findLastIndex(({ type }, at) => type === "person" && at < end);
    const same = entries.slice(start + 1, end + 1);
    const outputs = same.flatMap((entry) =>
      entry.type === "tool" && entry.outcome?.status === "ok" ? [entry.outcome.output] : [],
    );
    const texts = same.flatMap((entry) => (entry.type === "answer" ? [entry.text] : []));
    return findSources(outputs, texts.join("\n"));
  }

  /** Speaking or calling a tool ends a thought. The record says later how long it was. */
  function endThought({ shown }: LiveTurn, items: readonly TurnItem[] = []): void {
    const last = entries.findLast((entry) => entry.type === "thought" && entry.millis === undefined);
    update(last?.id, "thought", (entry) => ({ ...entry, millis: Date.now() - (entry.since ?? Date.now()) }));
    for (const item of items)
      if (item.type === "reasoning")
        update(shown.get(item.id), "thought", (entry) => ({ ...entry, millis: item.millis ?? entry.millis }));
  }

  /** Calls of one answer run side by side. */
  function runningCall({ shown }: LiveTurn): string | undefined {
    const ids = new Set(shown.values());
    const running = entries.find(
      (entry): entry is EntryOf<"tool"> =>
        entry.type === "tool" && entry.outcome === undefined && !entry.isWaiting && ids.has(entry.id),
    );
    return running && whatRuns(running);
  }

  function lastAnswerOf({ shown }: LiveTurn): number | undefined {
    const ids = new Set(shown.values());
    return entries.findLast(({ id, type }) => type === "answer" && ids.has(id))?.id;
  }

  function show(event: TurnEvent, turn: LiveTurn): void {
    const { shown } = turn;
    switch (event.type) {
      case "started":
      case "usage":
        break;
      case "reasoning": {
        const { item, delta } = event;
        const id = shown.get(item);
        if (id === undefined)
          shown.set(item, add({ type: "thought", text: delta, since: Date.now(), open: false }));
        else update(id, "thought", (entry) => ({ ...entry, text: entry.text + delta }));
        turn.what = "thinking";
        break;
      }
      case "text": {
        endThought(turn);
        const id = shown.get(event.item);
        if (id === undefined) shown.set(event.item, add({ type: "answer", text: event.delta }));
        else update(id, "answer", (entry) => ({ ...entry, text: entry.text + event.delta }));
        turn.what = "writing";
        break;
      }
      case "tool_started": {
        endThought(turn);
        const { call, summary } = event;
        const open = openCall(call.id);
        update(open, "tool", (entry) => ({ ...entry, summary, isWaiting: false }));
        shown.set(event.item, open ?? add({ type: "tool", call, summary, open: false }));
        turn.what = whatRuns({ call, summary });
        break;
      }
      case "tool_finished": {
        const { call, outcome, millis, attachments, summary, change } = event;
        const ended = { outcome, millis, images: attachments?.length, summary, change };
        const id = shown.get(event.item);
        if (id === undefined) add({ type: "tool", call, ...ended, open: false });
        else update(id, "tool", (entry) => ({ ...entry, ...ended }));
        turn.what = runningCall(turn) ?? "thinking";
        break;
      }
      case "taken":
        add({ type: "person", text: event.text, open: false, files: describeFiles(event.attachments) });
        break;
      case "gate":
        ask(event.gate);
        break;
      case "notice":
        // These are what is done meanwhile, not news.
        if (event.code === "tools_getting_ready") turn.what = event.message;
        else if (event.code === "tools_ready") turn.what = runningCall(turn) ?? "thinking";
        else
          add({ type: "note", tone: event.code === "progress" ? "plain" : "warning", text: event.message });
        break;
      case "done":
        endThought(turn, event.record.items);
        setEnded(lastAnswerOf(turn), event.record);
        if (event.status === "cancelled") add({ type: "note", tone: "plain", text: cancelled(turn) });
        break;
      case "failed":
        endThought(turn, event.record.items);
        setEnded(lastAnswerOf(turn), event.record);
        add({ type: "note", tone: "bad", text: `${event.message}${turn.isOurs ? SEND_AGAIN : ""}` });
        break;
    }
  }

  return {
    get entries(): readonly Entry[] {
      return entries;
    },
    add,
    isQueued: (id: number | undefined): boolean =>
      entries.some((entry) => entry.id === id && isQueued(entry)),
    ask,
    update,
    closeGate,
    replay,
    show,
    /** Returns the entries that were there. */
    clear(): readonly Entry[] {
      const before = entries;
      entries = [];
      changed();
      return before;
    },
    remove(id: number): void {
      entries = entries.filter((entry) => entry.id !== id);
      changed();
    },
    append: (more: readonly Entry[]): void => void entries.push(...more),
  };
}

const whatRuns = ({ call, summary }: Pick<EntryOf<"tool">, "call" | "summary">): string =>
  summary?.text ?? `running ${call.name}`;

const isQueued = (entry: Entry): boolean => entry.type === "person" && entry.isQueued === true;

const MAX_NAMED_LENGTH = 60;

/** Names the message if several turns were cancelled at once. */
function cancelled({ asked, isOneOfSeveral }: LiveTurn): string {
  if (asked === undefined || !isOneOfSeveral) return "*Cancelled.*";
  const line = asked.replaceAll(/\s+/g, " ");
  const isLong = line.length > MAX_NAMED_LENGTH;
  return `*Cancelled:* ${quoted(isLong ? `${line.slice(0, MAX_NAMED_LENGTH)}…` : line)}`;
}

function isAnswer(input: TurnInput, gate: Gate): boolean {
  if (input.type === "message") return false;
  if (input.type === "tool_outputs") return input.outputs.some(({ call }) => call === gate.call.id);
  return input.type === "tool_output" ? input.call === gate.call.id : input.gate === gate.id;
}

/** The files of a message as they are listed below it. */
export function describeFiles(attachments: readonly Attachment[] = []): readonly string[] {
  return attachments.map(({ name, kind, size }) => `${name ?? kind}, ${sizeOf(size)}`);
}
