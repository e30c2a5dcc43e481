/** The open thread: sends turns, follows turns from every channel and holds what the history pane shows. */

import { isDeepStrictEqual } from "node:util";
import { oneAtATime } from "../../../kernel/kit/concurrency.ts";
import {
  type ModelName,
  reason,
  type TurnEvent,
  type TurnRecord,
  type Usage,
} from "../../../kernel/plugin.ts";
import type { Upload } from "../../agent/services.ts";
import type { StartedTurn, Terminal } from "../services.ts";
import { createAnswers } from "./answers.ts";
import { createChangeSignal } from "./change-signal.ts";
import type { EntryOf } from "./entry.ts";
import { createLiveTurn, itemsBeforeEvents, type LiveTurn, recordEvent } from "./live-turn.ts";
import { tasksLine } from "./tasks-line.ts";
import { createTranscript, describeFiles } from "./transcript.ts";

export type Conversation = ReturnType<typeof createConversation>;

const TURNS_SHOWN = 50;
// Deltas arrive faster than anybody reads them; most of the time is left free for key presses.
const FRAME_MS = 50;

export function createConversation(terminal: Terminal) {
  const { threads } = terminal;
  const changes = createChangeSignal(FRAME_MS);
  const { changed } = changes;
  const live = new Map<string, LiveTurn>();
  /** While a turn is being sent: what was heard of turns that are not known, which may be that one. */
  let heldBack: (() => void)[] | undefined;
  let lastSend: Promise<unknown> = Promise.resolve();
  let thread: string | undefined;
  let title: string | undefined;
  let model: ModelName | undefined;
  let spent = { tokens: 0, cost: 0 };
  let fill: number | undefined;
  /** Counts how often a thread was opened: what was read for an earlier one is not shown. */
  let opened = 0;
  /** The last turn that is shown. */
  let newest: string | undefined;
  /** While a thread is being read: its turns that events have arrived for. */
  let opening: Map<string, LiveTurn> | undefined;
  /** The line below a turn that says how its tasks stand, by turn. */
  const taskLines = new Map<string, number>();

  const transcript = createTranscript(changed);
  const { add, ask, update, replay, closeGate } = transcript;
  const report = (error: unknown) => void add({ type: "note", tone: "bad", text: reason(error) });

  /** Returns false if the turn was refused. */
  function start(
    begin: (where: string | undefined) => Promise<StartedTurn>,
    sent: Partial<Pick<LiveTurn, "asked" | "entry">> = {},
  ): Promise<boolean> {
    // One after the other: the second message to a new thread has to know which thread that is.
    const isTaken = lastSend.then(async () => {
      // Read now: another thread may be open when the turn has begun.
      const where = thread;
      heldBack = [];
      try {
        noticeSent(await begin(where), where, sent);
        return true;
      } catch (error) {
        report(error);
        return false;
      } finally {
        const waiting = heldBack;
        heldBack = undefined;
        for (const hearIt of waiting) hearIt();
      }
    });
    lastSend = isTaken;
    return isTaken;
  }

  /** `where` is the thread that was open when it was sent. */
  function noticeSent(
    turn: StartedTurn,
    where: string | undefined,
    sent: Partial<Pick<LiveTurn, "asked" | "entry">>,
  ): void {
    if (where === thread && thread !== turn.thread) {
      ({ thread } = turn);
      // If the store fails now, the title is looked up again within a second.
      lookUpTitle().catch(() => {});
    }
    live.set(turn.id, createLiveTurn(turn.id, turn.thread, sent));
    changed();
  }

  /** Looks up the title again, which another channel may have changed. */
  async function lookUpTitle(): Promise<void> {
    const asked = thread;
    const found = asked === undefined ? undefined : await threads.find(asked);
    if (asked !== thread || found === undefined) return;
    const isSame = found.title === title && isDeepStrictEqual(found.model, model);
    ({ title, model } = found);
    if (!isSame) changed();
  }

  /** Looks up how full the window of the model is. */
  async function lookUpContext(): Promise<void> {
    const asked = thread;
    const found = asked && (await threads.contextOf(asked));
    if (!found || asked !== thread) return;
    fill = found.total / found.window;
    changed();
  }

  const lookUpTasks = oneAtATime(async () => {
    const listed = thread === undefined ? [] : await terminal.tasks.list(thread);
    for (const [turn, line] of taskLines)
      update(line, "note", (entry) => ({ ...entry, text: tasksLine(listed, turn) ?? entry.text }));
  });

  const unwatch = terminal.watch((event, turn) => {
    if (heldBack === undefined || live.has(turn.id)) hear(event, turn);
    else heldBack.push(() => hear(event, turn));
  }, readAgain);

  function hear(event: TurnEvent, { id, thread: where }: StartedTurn): void {
    // It comes after the end of its turn, which must not begin again.
    if (event.type === "titled") {
      if (where === thread) lookUpTitle().catch(() => {});
      return;
    }
    const turn = live.get(id) ?? join(id, where);
    recordEvent(turn, event);
    if (event.type === "started") update(turn.entry, "person", (entry) => ({ ...entry, isQueued: false }));
    if (event.type === "started" && where === thread && opening === undefined) {
      const isElsewhere = !turn.isOurs && newest !== undefined && event.after !== newest;
      newest = id;
      // Another channel made another version of what is shown.
      if (isElsewhere) open(thread).catch(report);
    }
    const isOver = event.type === "done" || event.type === "failed";
    if (isOver) live.delete(id);
    if (where !== thread) return;
    if (opening !== undefined) opening.set(id, turn);
    else if (!turn.isJoining) show(event, turn);
    if (isOver) {
      update(turn.entry, "person", (entry) => ({ ...entry, isQueued: false }));
      lookUpTitle().catch(() => {});
      lookUpContext().catch(() => {});
    }
    changed();
  }

  /** Events were missed: what runs is told anew, and the rest is read. */
  function readAgain(): void {
    live.clear();
    if (thread !== undefined) open(thread).catch(report);
    changed();
  }

  /** Starts showing a turn that another channel started. */
  function join(id: string, where: string): LiveTurn {
    const turn = createLiveTurn(id, where);
    live.set(id, turn);
    if (where === thread && opening === undefined) void showJoined(turn);
    return turn;
  }

  async function showJoined(turn: LiveTurn): Promise<void> {
    const shownFor = opened;
    turn.isJoining = true;
    // Without the record the turn is shown from its first event on.
    const record = await threads.turn(turn.id).catch(() => undefined);
    if (opened !== shownFor) return;
    turn.isJoining = false;
    if (record) {
      closeGate(record.input);
      replay(itemsBeforeEvents(turn, record.items));
    }
    for (const event of turn.events) show(event, turn);
    changed();
  }

  /** Shows a thread as it is stored, with the events that arrive while it is read. */
  async function read(next: string, heard: Map<string, LiveTurn>): Promise<void> {
    const shownFor = opened;
    const [turns, summary] = await Promise.all([
      threads.turns(next, TURNS_SHOWN),
      threads.find(next),
    ]).finally(() => {
      if (opened === shownFor) opening = undefined;
    });
    if (opened !== shownFor) return;
    title = summary?.title;
    model = summary?.model;
    const meanwhile = transcript.clear();
    taskLines.clear();
    for (const turn of turns.toSorted((a, b) => a.createdAt.localeCompare(b.createdAt))) {
      newest = turn.id;
      const running = heard.get(turn.id);
      if (running) {
        heard.delete(turn.id);
        replay(itemsBeforeEvents(running, turn.items));
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
    if (event.type === "notice" && event.code === "task") {
      if (!taskLines.has(turn.id))
        taskLines.set(turn.id, add({ type: "note", tone: "plain", text: event.message }));
      lookUpTasks().catch(() => {});
      return;
    }
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

  /** With `undefined`, the next message starts a new thread. */
  async function open(next: string | undefined): Promise<void> {
    forget();
    opened++;
    thread = next;
    title = undefined;
    model = undefined;
    newest = undefined;
    spent = { tokens: 0, cost: 0 };
    fill = undefined;
    opening = undefined;
    for (const turn of live.values()) turn.isJoining = false;
    if (next === undefined) return;
    opening = new Map(liveHere().map((turn) => [turn.id, turn]));
    lookUpContext().catch(() => {});
    await read(next, opening);
  }

  function forget(): void {
    transcript.clear();
    taskLines.clear();
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
    /** The model chosen for the thread, or for the one that the next message starts. */
    get model() {
      return model;
    },
    /** `undefined` goes back to the configured model. */
    async setModel(wanted: ModelName | undefined): Promise<void> {
      if (thread !== undefined) await threads.setModel(thread, wanted);
      model = wanted;
      lookUpContext().catch(() => {});
      changed();
    },
    get activity(): Pick<LiveTurn, "since" | "what"> | undefined {
      return liveHere()[0];
    },
    get spent() {
      return spent;
    },
    /** The part of the model's window that the thread takes; undefined where it is not known. */
    get fill() {
      return fill;
    },
    /** Returns false if the message was refused: then it is not in the conversation. */
    async send(text: string, files: readonly Upload[] = []): Promise<boolean> {
      const isQueued = liveHere().length > 0;
      const entry = add({ type: "person", text, open: false, files: describeFiles(files), isQueued });
      const attachments = files.map(({ id }) => id);
      const isTaken = await start(
        (where) =>
          terminal.send({ text, attachments, thread: where, model: where === undefined ? model : undefined }),
        { asked: text, entry },
      );
      if (!isTaken) transcript.remove(entry);
      return isTaken;
    },
    /** Sends the message of a turn again, as another version of it. */
    async sendAgain({ id, input }: TurnRecord): Promise<void> {
      const asked = input.type === "message" ? input.text : undefined;
      if (await start(() => terminal.retry(id), { asked })) await open(thread);
    },
    /** Returns false if nothing was running. */
    cancel(): boolean {
      const running = liveHere();
      for (const turn of running) turn.isOneOfSeveral = running.length > 1;
      for (const { id } of running) terminal.cancel(id).catch(report);
      return running.length > 0;
    },
    /** Shows a command as it was typed. */
    echo: (text: string) => void add({ type: "command", text }),
    /** Returns the note's id, for `rewrite`. */
    note: (text: string, tone: EntryOf<"note">["tone"] = "plain") => add({ type: "note", tone, text }),
    rewrite: (id: number, text: string, link?: string) =>
      update(id, "note", (entry) => ({ ...entry, text, link })),
    ...createAnswers(transcript, (answer) => void start((where) => terminal.answer(answer, where))),
    clear: forget,
    lookUpTitle,
    open,
    ...changes,
    close: unwatch,
  };
}
