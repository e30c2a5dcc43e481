/** The open thread: sends turns, follows turns from every channel and holds what the history pane shows. */
import { isDeepStrictEqual } from "node:util";
import {
  type ModelName,
  reason,
  type Services,
  type TurnEvent,
  type TurnRecord,
  type Upload,
  type Usage,
} from "../../kernel/plugin.ts";
import { type Changes, createChanges } from "./changes.ts";
import { beginningOf, keep, type LiveTurn, liveTurn } from "./live-turn.ts";
import { type Confirming, createConfirming } from "./questions/confirming.ts";
import { createDeciding, type Deciding } from "./questions/deciding.ts";
import { createFilling, type Filling } from "./questions/filling.ts";
import type { Entry, EntryOf } from "./screen/entry.ts";
import { createSending } from "./sending.ts";
import { createTranscript, filesIn } from "./transcript.ts";

export interface ConversationParts {
  readonly agent: Services["agent"];
  readonly threads: Services["threads"];
  readonly attachments: Services["attachments"];
  readonly user: string;
}

/** What the turn is doing, and since when. */
export interface Activity {
  readonly since: number;
  readonly what: string;
}

export interface Conversation extends Filling, Changes, Deciding, Pick<Confirming, "confirm"> {
  readonly entries: readonly Entry[];
  readonly thread: string | undefined;
  /** Of the thread, once it is known. */
  readonly title: string | undefined;
  /** Chosen for the thread, or for the one that the next message starts. */
  readonly model: ModelName | undefined;
  /** With `undefined`, the configured one answers. */
  setModel(model: ModelName | undefined): Promise<void>;
  readonly activity: Activity | undefined;
  readonly spent: { readonly tokens: number; readonly cost: number };
  /** Answers false where it was refused: then it is not in the conversation. */
  send(text: string, files?: readonly Upload[]): Promise<boolean>;
  /** Sends the message of a turn again, as another version of it. */
  sendAgain(turn: TurnRecord): Promise<void>;
  /** False if nothing was running. */
  cancel(): boolean;
  /** Returns the note's id, for `rewrite`. */
  note(text: string, tone?: EntryOf<"note">["tone"]): number;
  /** With an address that is never broken into lines. */
  rewrite(note: number, text: string, link?: string): void;
  clear(): void;
  /** Looks up the title again, which another channel may have changed. */
  lookUpTitle(): Promise<void>;
  /** With `undefined`, the next message starts a new thread. */
  open(thread: string | undefined): Promise<void>;
  close(): void;
}

const TURNS_SHOWN = 50;

export function createConversation(parts: ConversationParts): Conversation {
  const { agent, threads, attachments, user } = parts;
  const changes = createChanges();
  const { changed } = changes;
  const live = new Map<string, LiveTurn>();
  let thread: string | undefined;
  let title: string | undefined;
  let model: ModelName | undefined;
  let spent = { tokens: 0, cost: 0 };
  /** How often a thread was opened: what was read for an earlier one is not shown. */
  let opened = 0;
  /** The last turn of what is shown. */
  let newest: string | undefined;
  /** While a thread is being read: its turns of which something was heard. */
  let opening: Map<string, LiveTurn> | undefined;

  const transcript = createTranscript(changed);
  const { add, ask, update, replay, closeGate } = transcript;

  const { start, hear } = createSending({
    agent,
    attachments,
    user,
    thread: () => thread,
    model: () => model,
    refused: (error) => add({ type: "note", tone: "bad", text: reason(error) }),
    heard(id, where, sent) {
      if (sent.where === thread && thread !== where) {
        thread = where;
        // A store that does not answer now is asked again.
        lookUpTitle().catch(() => {});
      }
      live.set(id, liveTurn(id, where, true, sent.asked));
      changed();
    },
  });

  async function lookUpTitle(): Promise<void> {
    const asked = thread;
    const found = asked === undefined ? undefined : await threads.find(user, asked);
    if (asked !== thread || found === undefined) return;
    const isSame = found.title === title && isDeepStrictEqual(found.model, model);
    ({ title, model } = found);
    if (!isSame) changed();
  }

  const confirming = createConfirming(transcript);
  const filling = createFilling(transcript, (input) => void start(input));

  const unwatch = agent.watch(user, (event, { id, thread: where }) => {
    hear(id, where);
    const turn = live.get(id) ?? join(id, where);
    keep(turn, event);
    if (event.type === "started" && where === thread && opening === undefined) {
      const isElsewhere = !turn.isOurs && newest !== undefined && event.after !== newest;
      newest = id;
      // Another version of what is shown, made on another channel.
      if (isElsewhere) open(thread).catch((error) => add({ type: "note", tone: "bad", text: reason(error) }));
    }
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
      threads.turns(user, next, { limit: TURNS_SHOWN, through: "newest" }),
      threads.find(user, next),
    ]).finally(() => {
      if (opened === shownFor) opening = undefined;
    });
    if (opened !== shownFor) return;
    title = summary?.title;
    model = summary?.model;
    const meanwhile = transcript.clear();
    for (const turn of items.toSorted((a, b) => a.createdAt.localeCompare(b.createdAt))) {
      newest = turn.id;
      const running = heard.get(turn.id);
      if (running) {
        heard.delete(turn.id);
        replay(beginningOf(running, turn.items));
        for (const event of running.events) show(event, running);
        continue;
      }
      replay(turn.items, turn);
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

  async function open(next: string | undefined): Promise<void> {
    forget();
    opened++;
    thread = next;
    title = undefined;
    model = undefined;
    newest = undefined;
    spent = { tokens: 0, cost: 0 };
    for (const turn of live.values()) turn.isJoining = false;
    opening = next === undefined ? undefined : new Map(liveHere().map((turn) => [turn.id, turn]));
    if (next !== undefined && opening !== undefined) await read(next, opening);
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
    get model() {
      return model;
    },
    async setModel(wanted) {
      if (thread !== undefined) await threads.setModel(user, thread, wanted);
      model = wanted;
      changed();
    },
    get activity() {
      return liveHere()[0];
    },
    get spent() {
      return spent;
    },
    async send(text, files = []) {
      const entry = add({ type: "person", text, open: false, ...filesIn(files) });
      const isTaken = await start({ type: "message", text }, { files: files.map(({ id }) => id) });
      if (!isTaken) transcript.remove(entry);
      return isTaken;
    },
    async sendAgain({ input, outside, after = null }) {
      if (input.type !== "message") return;
      const files = input.attachments?.map(({ id }) => id) ?? [];
      const { attachments: _, ...message } = input;
      if (await start(message, { files, after, ...(outside && { outside }) })) await open(thread);
    },
    cancel() {
      const running = liveHere();
      for (const turn of running) turn.isOneOfSeveral = running.length > 1;
      for (const { id } of running)
        agent.cancel(user, id).catch((error) => add({ type: "note", tone: "bad", text: reason(error) }));
      return running.length > 0;
    },
    note: (text, tone = "plain") => add({ type: "note", tone, text }),
    rewrite: (id, text, link) =>
      update(id, "note", (entry) => ({ ...entry, text, ...(link !== undefined && { link }) })),
    ...createDeciding(transcript, confirming, (input) => void start(input)),
    confirm: confirming.confirm,
    get filling() {
      return filling.filling;
    },
    fill: filling.fill,
    stopFilling: filling.stopFilling,
    clear: forget,
    lookUpTitle,
    open,
    ...changes,
    close: unwatch,
  };
}
