/** The page's state and what can be done to it. Components render it and call these functions, nothing more. */
import { whyHeld } from "../../../kernel/vocabulary/tools/approval.ts";
import { EMPTY, type Timeline, withEarlier, withNewest } from "./chat/timeline.ts";
import { begun, doubt, fold, isOver, type TurnView } from "./chat/turn-view.ts";
import {
  type Accepted,
  type Answer,
  ask,
  countChanges,
  type Gate,
  Refused,
  type Status,
  type ThreadRow,
  type TurnFrame,
  type TurnPage,
  type User,
} from "./wire.ts";

/** A link's token, and what has to be answered before it is used. */
export interface SignInQuestion {
  readonly token: string;
  /** Who is signed in, and who the link is for. */
  readonly words: string;
  readonly isSignedIn: boolean;
}

export interface AppState extends Timeline {
  readonly user: User | undefined;
  readonly signedOut: boolean;
  readonly signInQuestion: SignInQuestion | undefined;
  readonly connected: boolean;
  readonly status: Status | undefined;
  readonly threads: readonly ThreadRow[];
  readonly query: string;
  readonly thread: string | undefined;
  /** Said by the page itself: what went wrong with the last request, until dismissed. */
  readonly trouble: string | undefined;
  /** How often something was sent from here: the reader is taken to it. */
  readonly sent: number;
  /** Read out by screen readers. */
  readonly announcement: string;
  /** On a narrow screen the sidebar is behind a button. */
  readonly isMenuOpen: boolean;
}

const BLANK: AppState = {
  user: undefined,
  signedOut: false,
  signInQuestion: undefined,
  connected: false,
  status: undefined,
  threads: [],
  query: "",
  thread: undefined,
  ...EMPTY,
  trouble: undefined,
  sent: 0,
  announcement: "",
  isMenuOpen: false,
};

let state = BLANK;
const listeners = new Set<() => void>();

export const getState = (): AppState => state;

export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function update(change: Partial<AppState>): void {
  state = { ...state, ...change };
  for (const listener of listeners) listener();
}

/** Runs a request; what is refused stays on the screen until it is dismissed, or something else is done. */
export async function attempt<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
  const before = countChanges();
  try {
    const result = await work();
    if (countChanges() > before) update({ trouble: undefined });
    return result;
  } catch (error) {
    if (error instanceof Refused && error.status === 401) update({ signedOut: true, user: undefined });
    else update({ trouble: error instanceof Error ? error.message : String(error) });
    return undefined;
  }
}

/** As it was before anybody signed in. */
export function reset(): void {
  update({ ...BLANK, signedOut: true });
}

// —— reading ——————————————————————————————————————————————————————————————

export async function loadStatus(): Promise<void> {
  const status = await attempt(() => ask<Status>("GET", "/api/status"));
  if (status) update({ status });
}

export async function loadThreads(query = state.query): Promise<void> {
  update({ query });
  const search = new URLSearchParams({ limit: "50", ...(query ? { q: query } : {}) });
  const page = await attempt(() => ask<{ threads: readonly ThreadRow[] }>("GET", `/api/threads?${search}`));
  if (page && state.query === query) update({ threads: page.threads });
}

export async function openThread(thread: string | undefined): Promise<void> {
  if (thread !== state.thread) update({ thread, ...EMPTY });
  if (thread !== undefined) await reloadThread();
}

async function reloadThread(): Promise<void> {
  const { thread } = state;
  if (thread === undefined) return;
  const page = await readTurns(thread);
  if (page && state.thread === thread) update(withNewest(state, page));
}

export async function showEarlier(): Promise<void> {
  const { thread, earlier } = state;
  if (thread === undefined || earlier === undefined) return;
  const page = await readTurns(thread, earlier);
  // Pressed twice, or turned to another thread meanwhile.
  if (!page || state.thread !== thread || state.earlier !== earlier) return;
  update({
    ...withEarlier(state, page),
    announcement: `${page.turns.length} earlier turns loaded above.`,
  });
}

function readTurns(thread: string, before?: string): Promise<TurnPage | undefined> {
  const search = new URLSearchParams({ limit: "200", ...(before && { before }) });
  return attempt(() => ask<TurnPage>("GET", `/api/threads/${thread}?${search}`));
}

// —— doing ————————————————————————————————————————————————————————————————

/** Frames of other threads, kept while a first message is on its way: one of them may turn out to be its thread. */
let unclaimed: TurnFrame[] | undefined;

/** Answers true where the message was taken, so that the composer may forget it. */
export async function send(message: string): Promise<boolean> {
  update({ trouble: undefined });
  const wasConnected = state.connected;
  const body = { message, ...(state.thread && { thread_id: state.thread }) };
  if (state.thread === undefined) unclaimed = [];
  const taken = await attempt(() => ask<Accepted>("POST", "/api/chat/send", body));
  const missed = unclaimed ?? [];
  unclaimed = undefined;
  if (taken) follow(taken, message);
  for (const frame of missed) receive(frame);
  // What was told of it before the connection was there is in the store.
  if (taken && !wasConnected) void reloadThread();
  return taken !== undefined;
}

export async function retry({ id, asked }: TurnView): Promise<void> {
  const taken = await attempt(() => ask<Accepted>("POST", `/api/turns/${id}/retry`));
  if (taken) follow(taken, asked);
}

/** Shows the turn that was just accepted; its first frames may have come before the answer did. */
function follow({ thread_id: thread, message_id: id }: Accepted, asked: string | undefined): void {
  if (state.thread === undefined) {
    update({ thread });
    history.replaceState(null, "", `#/chat/${thread}`);
  }
  if (state.thread !== thread) return;
  const early = state.turns.some((turn) => turn.id === id);
  const turns = early ? state.turns : [...state.turns, inLine(begun(id, thread, asked))];
  update({
    turns: turns.map((turn) => (turn.id === id && asked ? { ...turn, asked } : turn)),
    sent: state.sent + 1,
  });
  void loadThreads();
  if (early) void reloadThread();
}

/** Behind another that is not over it has to wait. */
function inLine(turn: TurnView): TurnView {
  return state.turns.every(isOver) ? turn : { ...turn, status: "queued" };
}

export async function cancel(turn: string): Promise<void> {
  await attempt(() => ask("POST", `/api/turns/${turn}/cancel`));
}

export async function answerGate(gate: Gate, answer: Answer): Promise<void> {
  const taken = await attempt(() => ask<Accepted>("POST", `/api/approvals/${gate.id}`, answer));
  if (!taken) return;
  update({ turns: state.turns.map((turn) => (turn.gate?.id === gate.id ? withoutGate(turn) : turn)) });
  follow(taken, undefined);
}

function withoutGate({ gate: _answered, ...turn }: TurnView): TurnView {
  return turn;
}

export async function rename(thread: string, title: string): Promise<void> {
  await attempt(() => ask("PATCH", `/api/threads/${thread}`, { title }));
  await loadThreads();
}

export async function remove(thread: string): Promise<void> {
  await attempt(() => ask("DELETE", `/api/threads/${thread}`));
  if (state.thread === thread) location.hash = "#/";
  await loadThreads();
}

// —— events ———————————————————————————————————————————————————————————————

export function receive(frame: TurnFrame): void {
  if (frame.type === "done" || frame.type === "failed") void loadThreads();
  if (frame.thread_id !== state.thread) {
    unclaimed?.push(frame);
    return;
  }
  const isKnown = state.turns.some(({ id }) => id === frame.turn_id);
  const turns = isKnown ? state.turns : [...state.turns, begun(frame.turn_id, frame.thread_id, undefined)];
  update({
    turns: turns.map((turn) => (turn.id === frame.turn_id ? fold(turn, frame) : turn)),
    ...announce(frame),
  });
  // A turn that another channel began: its question is in the store.
  if (!isKnown) void reloadThread();
}

/** The connection is there. A turn that began before it was may have told of itself to nobody. */
export function connected(): void {
  update({ connected: true });
  if (!state.turns.every(isOver)) resync();
}

/** Events were missed while the connection was down: what is stored tells what happened. */
export function resync(): void {
  update({ turns: state.turns.map(doubt) });
  void reloadThread();
  void loadThreads();
}

/** Only the start and the end are read out: every delta would drown the listener. */
function announce(frame: TurnFrame): { announcement?: string } {
  switch (frame.type) {
    case "started":
      return { announcement: "Postern is answering." };
    case "gate":
      return {
        announcement: announceGate(frame.gate),
      };
    case "done":
      return { announcement: frame.status === "cancelled" ? "Stopped." : "The answer is complete." };
    case "failed":
      return { announcement: `The answer failed: ${frame.message}` };
    default:
      return {};
  }
}

function announceGate(gate: Gate): string {
  if (gate.type === "question") return `${gate.server} has a question for you.`;
  const why = gate.type === "approval" ? whyHeld(gate) : "";
  return `Postern is waiting for your decision${why === "" ? "." : `: ${why}`}`;
}
