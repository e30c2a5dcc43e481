/** The open thread: sends turns, follows turns from every channel and holds what the history pane shows. */
import { randomUUID } from "node:crypto";
import {
  type Agent,
  reason,
  type Threads,
  type Turn,
  type TurnEvent,
  type TurnInput,
  type Usage,
} from "../../kernel/plugin.ts";
import { createFilling, type Filling } from "./filling.ts";
import { inputOf } from "./gate-answer.ts";
import { beginningOf, keep, type LiveTurn, liveTurn } from "./live-turn.ts";
import { stepsOf } from "./question-form.ts";
import { type Choice, type Entry, type EntryOf, isFoldable } from "./screen/entries.ts";
import { createTranscript } from "./transcript.ts";

export interface ConversationParts {
  readonly agent: Agent;
  readonly threads: Threads;
  readonly user: string;
}

/** What the turn is doing, and since when. */
export interface Activity {
  readonly since: number;
  readonly what: string;
}

export interface Conversation extends Filling {
  readonly entries: readonly Entry[];
  readonly thread: string | undefined;
  /** Of the thread, once it is known. */
  readonly title: string | undefined;
  readonly activity: Activity | undefined;
  readonly spent: { readonly tokens: number; readonly cost: number };
  /** Answers false where it was refused: then it is not in the conversation. */
  send(text: string): Promise<boolean>;
  /** False if nothing was running. */
  cancel(): boolean;
  /** Returns the note's id, for `rewrite`. */
  note(text: string, tone?: EntryOf<"note">["tone"]): number;
  rewrite(note: number, text: string): void;
  toggle(entry: number): void;
  choose(entry: number, choice: number): void;
  decide(entry: number, choice: Choice): void;
  clear(): void;
  /** Looks up the title again, which another channel may have changed. */
  lookUpTitle(): Promise<void>;
  /** With `undefined`, the next message starts a new thread. */
  open(thread: string | undefined): Promise<void>;
  /** Calls the listener on changes, at most once per frame. Returns the unsubscribe function. */
  subscribe(listener: () => void): () => void;
  version(): number;
  close(): void;
}

// Deltas arrive faster than the screen can show them; every second frame is left free for key presses.
const FRAME_MILLIS = 33;
const TURNS_SHOWN = 50;

export function createConversation({ agent, threads, user }: ConversationParts): Conversation {
  const listeners = new Set<() => void>();
  const live = new Map<string, LiveTurn>();
  let version = 0;
  let thread: string | undefined;
  let title: string | undefined;
  let spent = { tokens: 0, cost: 0 };
  let isDue = false;
  /** How often a thread was opened: what was read for an earlier one is not shown. */
  let opened = 0;
  /** While a thread is being read: its turns of which something was heard. */
  let opening: Map<string, LiveTurn> | undefined;

  function changed(): void {
    version++;
    if (isDue) return;
    isDue = true;
    setTimeout(() => {
      isDue = false;
      for (const listener of listeners) listener();
    }, FRAME_MILLIS);
  }

  const transcript = createTranscript(changed);
  const { add, ask, update, replay, closeGate } = transcript;

  /** Turns sent from here that nothing has been heard of yet, each with the thread that was open then. */
  const sending = new Map<
    string,
    { readonly where: string | undefined; readonly asked: string | undefined }
  >();
  let lastSent: Promise<unknown> = Promise.resolve();

  /** One after the other: the second message to a new thread has to know which thread that is. */
  function start(input: TurnInput): Promise<boolean> {
    const begun = lastSent.then(() => begin(input));
    lastSent = begun;
    return begun;
  }

  async function begin(input: TurnInput): Promise<boolean> {
    const id = randomUUID();
    const turn: Turn = { user, channel: "tui", id, input, ...(thread !== undefined && { thread }) };
    sending.set(id, { where: thread, asked: input.type === "message" ? input.text : undefined });
    try {
      hear(id, (await agent.run(turn)).thread);
      return true;
    } catch (error) {
      sending.delete(id);
      add({ type: "note", tone: "bad", text: reason(error) });
      return false;
    }
  }

  /** The first that is heard of a turn sent from here: that it runs, or an event of it. */
  function hear(id: string, where: string): void {
    const sent = sending.get(id);
    if (sent === undefined) return;
    if (sent.where === thread && thread !== where) {
      thread = where;
      // A store that does not answer now is asked again.
      lookUpTitle().catch(() => {});
    }
    sending.delete(id);
    live.set(id, liveTurn(id, where, true, sent.asked));
    changed();
  }

  async function lookUpTitle(): Promise<void> {
    const asked = thread;
    const found = asked === undefined ? undefined : (await threads.find(user, asked))?.title;
    if (asked !== thread || found === title) return;
    title = found;
    changed();
  }

  const filling = createFilling(transcript, (input) => void start(input));

  const unwatch = agent.watch(user, (event, { id, thread: where }) => {
    hear(id, where);
    const turn = live.get(id) ?? join(id, where);
    keep(turn, event);
    if (event.type === "done" || event.type === "failed") live.delete(id);
    if (where !== thread) return;
    if (opening !== undefined) opening.set(id, turn);
    else if (!turn.isJoining) show(event, turn);
    changed();
  });

  /** Starts showing a turn that another channel started. */
  function join(id: string, where: string): LiveTurn {
    const turn = liveTurn(id, where, false);
    live.set(id, turn);
    if (where === thread && opening === undefined) void showJoined(turn);
    return turn;
  }

  async function showJoined(turn: LiveTurn): Promise<void> {
    const shownFor = opened;
    turn.isJoining = true;
    // Without it the turn is shown from its first event on.
    const record = await threads.turn(user, turn.id).catch(() => undefined);
    if (opened !== shownFor) return;
    turn.isJoining = false;
    if (record) {
      closeGate(record.input);
      replay(beginningOf(turn, record.items));
    }
    for (const event of turn.events) show(event, turn);
    changed();
  }

  /** Shows a thread as it is stored, with the turns of which something was heard since it was asked for. */
  async function read(next: string, heard: Map<string, LiveTurn>): Promise<void> {
    const shownFor = opened;
    const [{ items }, summary] = await Promise.all([
      threads.turns(user, next, { limit: TURNS_SHOWN }),
      threads.find(user, next),
    ]).finally(() => {
      if (opened === shownFor) opening = undefined;
    });
    if (opened !== shownFor) return;
    title = summary?.title;
    const meanwhile = transcript.clear();
    for (const turn of items.toSorted((a, b) => a.createdAt.localeCompare(b.createdAt))) {
      const running = heard.get(turn.id);
      if (running) {
        heard.delete(turn.id);
        replay(beginningOf(running, turn.items));
        for (const event of running.events) show(event, running);
        continue;
      }
      replay(turn.items);
      count(turn.usage);
      if (turn.error) add({ type: "note", tone: "bad", text: turn.error.message });
    }
    const gate = summary?.gate;
    if (gate && !transcript.entries.some((entry) => entry.type === "gate" && entry.gate.id === gate.id))
      ask(gate);
    transcript.append(meanwhile);
    for (const turn of heard.values()) {
      if (!turn.isOurs) void showJoined(turn);
      else for (const event of turn.events) show(event, turn);
    }
    changed();
  }

  function show(event: TurnEvent, turn: LiveTurn): void {
    if (event.type === "done" || event.type === "failed") count(event.record.usage);
    transcript.show(event, turn);
  }

  function count({ inputTokens, outputTokens, totalCost }: Usage): void {
    spent = { tokens: spent.tokens + inputTokens + outputTokens, cost: spent.cost + Number(totalCost) };
    changed();
  }

  function liveHere(): readonly LiveTurn[] {
    return [...live.values()].filter((turn) => turn.thread === thread);
  }

  function forget(): void {
    transcript.clear();
    for (const { shown } of live.values()) shown.clear();
    changed();
  }

  return {
    get entries() {
      return transcript.entries;
    },
    get thread() {
      return thread;
    },
    get title() {
      return title;
    },
    get activity() {
      return liveHere()[0];
    },
    get spent() {
      return spent;
    },
    async send(text) {
      const entry = add({ type: "person", text, open: false });
      const isTaken = await start({ type: "message", text });
      if (!isTaken) transcript.remove(entry);
      return isTaken;
    },
    cancel() {
      const running = liveHere();
      for (const turn of running) turn.isOneOfSeveral = running.length > 1;
      for (const { id } of running)
        agent.cancel(user, id).catch((error) => add({ type: "note", tone: "bad", text: reason(error) }));
      return running.length > 0;
    },
    note: (text, tone = "plain") => add({ type: "note", tone, text }),
    rewrite: (id, text) => update(id, "note", (entry) => ({ ...entry, text })),
    toggle(id) {
      const entry = transcript.entries.find((each) => each.id === id);
      if (entry && isFoldable(entry))
        update(id, entry.type, (known) => ({ ...known, open: !entry.open }) as never);
    },
    choose: (id, choice) => update(id, "gate", (entry) => ({ ...entry, choice })),
    decide(id, { label, decision }) {
      const entry = transcript.entries.find((each) => each.id === id);
      if (entry?.type !== "gate" || entry.decided !== undefined) return;
      const { gate } = entry;
      if (gate.type === "question" && decision === "accept" && stepsOf(gate).length > 0)
        return update(id, "gate", (known) => ({ ...known, form: { values: [] } }));
      update(id, "gate", (known) => ({ ...known, decided: label }));
      void start(inputOf(gate, decision));
    },
    get filling() {
      return filling.filling;
    },
    fill: filling.fill,
    stopFilling: filling.stopFilling,
    clear: forget,
    lookUpTitle,
    async open(next) {
      forget();
      opened++;
      thread = next;
      title = undefined;
      spent = { tokens: 0, cost: 0 };
      for (const turn of live.values()) turn.isJoining = false;
      opening = next === undefined ? undefined : new Map(liveHere().map((turn) => [turn.id, turn]));
      if (next !== undefined && opening !== undefined) await read(next, opening);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    version: () => version,
    close: unwatch,
  };
}
