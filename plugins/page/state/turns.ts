/** Sends, stops and retries turns, answers gates, and applies the frames of the socket. */

import { reasonsOf } from "../text/reasons.ts";
import { text } from "../text/text.ts";
import { getState, request, update } from "./app.ts";
import { noticeFrame } from "./notifications.ts";
import { leafOf, loadThreads, nameThread, reloadThread } from "./threads.ts";
import { withSent } from "./timeline.ts";
import { begun, doubt, fold, isOver, type TurnView } from "./turn-view.ts";
import type { Accepted, Answer, Attachment, Gate, TurnFrame } from "./wire.ts";

/** Frames of unknown turns, kept while a message is being sent, since they may belong to its turn. */
let unclaimed: TurnFrame[] | undefined;

/** Returns the thread if the message was accepted, so that the composer may forget it. `to` is null for a new thread. */
export async function send(
  message: string,
  files: readonly Attachment[] = [],
  to: string | null = getState().thread ?? null,
): Promise<string | undefined> {
  update({ trouble: undefined });
  const wasConnected = getState().connected;
  const body = {
    message,
    attachments: files.length > 0 ? files.map(({ id }) => id) : undefined,
    thread_id: to ?? undefined,
    // The model is to see the path that is shown.
    after: to === null ? undefined : leafOf(to),
    model: (to === null && getState().thread === undefined && getState().chosen) || undefined,
  };
  if (getState().thread === undefined) unclaimed = [];
  const taken = await request<Accepted>("POST", "/api/chat/send", body);
  const missed = unclaimed ?? [];
  unclaimed = undefined;
  if (taken) follow(taken, message, files);
  for (const frame of missed) receive(frame);
  // Frames from before the connection was open are missing, so read the store.
  if (taken && !wasConnected) void reloadThread();
  return taken?.thread_id;
}

/** Sends the same message again, for another version of its answer. */
export async function retry({ id, asked, files }: TurnView): Promise<void> {
  await branch(`/api/turns/${id}/retry`, undefined, (taken) => follow(taken, asked, files, id));
}

/** Sends a changed message in place of this one. Returns true if it was accepted. */
export async function resend(
  { id, thread, after = null }: TurnView,
  message: string,
  files: readonly Attachment[],
): Promise<boolean> {
  const attachments = files.length > 0 ? files.map((file) => file.id) : undefined;
  const body = { message, thread_id: thread, after, attachments };
  return await branch("/api/chat/send", body, (taken) => follow(taken, message, files, id));
}

async function branch(path: string, body: unknown, show: (taken: Accepted) => void): Promise<boolean> {
  update({ trouble: undefined });
  unclaimed ??= [];
  const taken = await request<Accepted>("POST", path, body);
  const missed = unclaimed ?? [];
  unclaimed = undefined;
  if (taken) show(taken);
  for (const frame of missed) receive(frame);
  return taken !== undefined;
}

/** Shows the turn that was just accepted; its first frames may have arrived before the response. */
function follow(
  { thread_id: thread, message_id: id }: Accepted,
  asked: string | undefined,
  files: readonly Attachment[] = [],
  inPlaceOf?: string,
): void {
  if (getState().thread === undefined) {
    update({ thread });
    history.replaceState(null, "", `#/chat/${thread}`);
  }
  if (getState().thread !== thread) return;
  const early = elsewhere.delete(id) || getState().turns.some((turn) => turn.id === id);
  const turns = withSent(getState(), inLine(begun(id, thread, asked)), inPlaceOf);
  update({
    turns: turns.map((turn) => (turn.id === id && asked !== undefined ? { ...turn, asked, files } : turn)),
    sent: getState().sent + 1,
  });
  void loadThreads();
  // The number of versions has changed.
  if (early || inPlaceOf !== undefined) void reloadThread();
}

/** A turn is queued while another one is not over. */
function inLine(turn: TurnView): TurnView {
  return getState().turns.every(isOver) ? turn : { ...turn, status: "queued" };
}

/** Takes back a message that was not read yet. */
export async function takeBack(turn: string): Promise<void> {
  await request("DELETE", `/api/turns/${turn}`);
}

export async function cancel(turn: string): Promise<void> {
  await request("POST", `/api/turns/${turn}/cancel`);
}

export async function answerGate(gate: Gate, answer: Answer): Promise<void> {
  const taken = await request<Accepted>("POST", `/api/approvals/${gate.id}`, answer);
  if (!taken) return;
  update({ turns: getState().turns.map((turn) => (turn.gate?.id === gate.id ? withoutGate(turn) : turn)) });
  follow(taken, undefined);
  const decided = { gate: gate.id, answer: answer.decision ?? ("replied" as const) };
  update({
    turns: getState().turns.map((turn) => (turn.id === taken.message_id ? { ...turn, decided } : turn)),
  });
}

function withoutGate({ gate: _answered, ...turn }: TurnView): TurnView {
  return turn;
}

export function receive(frame: TurnFrame): void {
  noticeFrame(frame);
  if (frame.type === "done" || frame.type === "failed") void loadThreads();
  if (frame.type === "titled") return void nameThread(frame.thread_id, frame.title);
  if (frame.thread_id !== getState().thread) {
    unclaimed?.push(frame);
    return;
  }
  const settled = settledBy(frame);
  if (settled !== undefined) update({ turns: getState().turns.filter(({ id }) => id !== settled) });
  if (settled === frame.turn_id) return;
  const isKnown = getState().turns.some(({ id }) => id === frame.turn_id);
  if (!isKnown && !continuesPath(frame)) {
    if (unclaimed) return void unclaimed.push(frame);
    // Most likely it is of another branch: it becomes another version, and the shown path stays.
    if (!elsewhere.has(frame.turn_id)) void reloadThread();
    elsewhere.add(frame.turn_id);
    return;
  }
  const turns = isKnown
    ? getState().turns
    : [...getState().turns, begun(frame.turn_id, frame.thread_id, undefined)];
  update({
    turns: turns.map((turn) => (turn.id === frame.turn_id ? fold(turn, frame) : turn)),
    ...announce(frame),
  });
  // Another channel started it, so its message is in the store; or somebody was quicker, and this is a branch.
  if (!isKnown || (frame.type === "started" && isMisplaced(frame.turn_id))) void reloadThread();
}

/** Returns the message that waits no longer: a turn has taken it, or it was taken back. */
function settledBy(frame: TurnFrame): string | undefined {
  if (frame.type === "taken") return frame.message_id;
  const isWaiting = getState().turns.some(({ id, status }) => id === frame.turn_id && status === "queued");
  return frame.type === "done" && frame.status === "cancelled" && isWaiting ? frame.turn_id : undefined;
}

/** Turns of this thread that are not shown. */
const elsewhere = new Set<string>();

function isMisplaced(turn: string): boolean {
  const { turns } = getState();
  const at = turns.findIndex(({ id }) => id === turn);
  return at > 0 && turns[at]?.after !== turns[at - 1]?.id;
}

function continuesPath(frame: TurnFrame): boolean {
  return frame.type === "started" && frame.after === (getState().turns.at(-1)?.id ?? null);
}

/** A turn that started before the connection was open may have sent frames that nobody received. */
export function connected(): void {
  update({ connected: true });
  if (!getState().turns.every(isOver)) resync();
}

/** Events were missed while the connection was down, so read the store. */
export function resync(): void {
  update({ turns: getState().turns.map(doubt) });
  void reloadThread();
  void loadThreads();
}

/** Screen readers announce only the start and the end, not every delta. */
function announce(frame: TurnFrame): { announcement?: string } {
  switch (frame.type) {
    case "started":
      return { announcement: text.state.answering };
    case "gate":
      return { announcement: announceGate(frame.gate) };
    case "done":
      return { announcement: frame.status === "cancelled" ? text.state.stopped : text.state.complete };
    case "failed":
      return { announcement: text.state.failed(frame.message) };
    default:
      return {};
  }
}

function announceGate(gate: Gate): string {
  if (gate.type === "question") return text.state.hasQuestion(gate.server);
  const why = gate.type === "approval" ? reasonsOf(gate.doubts) : "";
  return text.state.waiting(why);
}
