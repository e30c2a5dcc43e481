/** The turns of the open thread, as they are stored and as they run on any channel: both are shown in one transcript. */
import type { TurnEvent, TurnInput, TurnRecord } from "../../../kernel/plugin.ts";
import type { StartedTurn, Terminal } from "../services.ts";
import { createLiveTurn, itemsBeforeEvents, type LiveTurn, recordEvent } from "./live-turn.ts";
import type { OpenThread } from "./open-thread.ts";
import { createTaskLines } from "./task-lines.ts";
import { describeFiles, type Transcript } from "./transcript.ts";

const TURNS_SHOWN = 50;

type Message = Extract<TurnInput, { type: "message" }>;

/** It is over without having begun. */
const isTakenBack = (event: TurnEvent, { events }: LiveTurn): boolean =>
  event.type === "done" && event.status === "cancelled" && events.length === 0;

interface Parts {
  readonly terminal: Terminal;
  readonly thread: OpenThread;
  readonly transcript: Transcript;
  changed(): void;
  report(error: unknown): void;
}

export function createFollowedTurns({ terminal, thread, transcript, changed, report }: Parts) {
  const { threads } = terminal;
  const live = new Map<string, LiveTurn>();
  /** Counts how often a thread was opened: what was read for an earlier one is not shown. */
  let opened = 0;
  /** The last turn that is shown. */
  let newest: string | undefined;
  /** While a thread is being read: its turns that events have arrived for. */
  let opening: Map<string, LiveTurn> | undefined;
  const taskLines = createTaskLines(transcript, async () =>
    thread.id === undefined ? [] : terminal.tasks.list(thread.id),
  );

  const runningHere = () => [...live.values()].filter((turn) => turn.thread === thread.id);

  const endWait = ({ entry }: LiveTurn) =>
    transcript.update(entry, "person", (person) => ({ ...person, isQueued: false }));

  function hear(event: TurnEvent, { id, thread: where }: StartedTurn): void {
    const isHere = where === thread.id;
    // It comes after the end of its turn, which must not begin again.
    if (event.type === "titled") {
      if (isHere) thread.lookUpTitle().catch(() => {});
      return;
    }
    const waiting = live.get(event.type === "taken" ? event.message : id);
    if (waiting && (event.type === "taken" || isTakenBack(event, waiting))) {
      live.delete(waiting.id);
      if (waiting.entry !== undefined) transcript.remove(waiting.entry);
      changed();
      if (waiting.id === id) return;
    }
    const turn = live.get(id) ?? join(id, where);
    recordEvent(turn, event);
    if (event.type === "started") {
      endWait(turn);
      if (isHere && opening === undefined) noticeStart(turn, event.after);
    }
    const isOver = event.type === "done" || event.type === "failed";
    if (isOver) live.delete(id);
    if (!isHere) return;
    if (opening !== undefined) opening.set(id, turn);
    else if (!turn.isJoining) show(event, turn);
    if (isOver) {
      endWait(turn);
      thread.lookUpTitle().catch(() => {});
      thread.lookUpContext().catch(() => {});
    }
    changed();
  }

  /** Reads the thread again if another channel made another version of what is shown. */
  function noticeStart({ id, isOurs }: LiveTurn, after: string | undefined): void {
    const isElsewhere = !isOurs && newest !== undefined && after !== newest;
    newest = id;
    if (isElsewhere) open(thread.id).catch(report);
  }

  /** Starts showing a turn that another channel started. */
  function join(id: string, where: string): LiveTurn {
    const turn = createLiveTurn(id, where);
    live.set(id, turn);
    if (where === thread.id && opening === undefined) void showJoined(turn);
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
      transcript.closeGate(record.input);
      transcript.replay(itemsBeforeEvents(turn, record.items));
    }
    for (const event of turn.events) show(event, turn);
    changed();
  }

  function show(event: TurnEvent, turn: LiveTurn): void {
    if (event.type === "notice" && event.code === "task") {
      taskLines.notice(turn.id, event.message);
      return;
    }
    if (event.type === "done" || event.type === "failed") thread.count(event.record.usage);
    transcript.show(event, turn);
  }

  /** With `undefined`, the next message starts a new thread. */
  async function open(next: string | undefined): Promise<void> {
    forget();
    opened++;
    thread.open(next);
    newest = undefined;
    opening = undefined;
    for (const turn of live.values()) turn.isJoining = false;
    if (next === undefined) return;
    opening = new Map(runningHere().map((turn) => [turn.id, turn]));
    thread.lookUpContext().catch(() => {});
    await read(next, opening);
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
    thread.describe(summary);
    const meanwhile = transcript.clear();
    taskLines.clear();
    for (const turn of turns.toSorted((a, b) => a.createdAt.localeCompare(b.createdAt))) {
      if (turn.status === "queued" && turn.input.type === "message") {
        showWaiting(turn, turn.input);
        heard.delete(turn.id);
        continue;
      }
      newest = turn.id;
      const running = heard.get(turn.id);
      if (running) {
        heard.delete(turn.id);
        transcript.replay(itemsBeforeEvents(running, turn.items));
        for (const event of running.events) show(event, running);
        continue;
      }
      transcript.replay(turn.items, turn);
      thread.count(turn.usage);
      if (turn.error) transcript.add({ type: "note", tone: "bad", text: turn.error.message });
    }
    const gate = summary?.gate;
    if (gate && !transcript.entries.some((entry) => entry.type === "gate" && entry.gate.id === gate.id))
      transcript.ask(gate);
    transcript.append(meanwhile);
    for (const turn of heard.values()) {
      if (!turn.isOurs) void showJoined(turn);
      else for (const event of turn.events) show(event, turn);
    }
    changed();
  }

  function showWaiting({ id, thread: where }: TurnRecord, { text, attachments }: Message): void {
    const files = describeFiles(attachments);
    const entry = transcript.add({ type: "person", text, open: false, files, isQueued: true });
    live.set(id, createLiveTurn(id, where, { asked: text, entry }));
  }

  function forget(): void {
    transcript.clear();
    taskLines.clear();
    for (const { shown } of live.values()) shown.clear();
    changed();
  }

  return {
    isKnown: (id: string): boolean => live.has(id),
    /** A turn of ours was sent; its events follow. */
    begin({ id, thread: where }: StartedTurn, sent: Partial<Pick<LiveTurn, "asked" | "entry">>): void {
      live.set(id, createLiveTurn(id, where, sent));
      changed();
    },
    hear,
    /** The newest message of ours that was not read yet. */
    waiting: () =>
      runningHere().findLast(({ asked, entry }) => asked !== undefined && transcript.isQueued(entry)),
    /** Events were missed: what runs is told anew, and the rest is read. */
    readAgain(): void {
      live.clear();
      if (thread.id !== undefined) open(thread.id).catch(report);
      changed();
    },
    /** Those of the open thread. */
    runningHere,
    open,
    forget,
  };
}
