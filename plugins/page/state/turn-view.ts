/** A turn as the page shows it: made from the stored turn, or folded from frames as they arrive. Pure. */
import { text } from "../text/text.ts";
import type {
  Attachment,
  CallSummary,
  Decision,
  FileChange,
  Gate,
  ModelName,
  Outcome,
  ToolCall,
  Turn,
  TurnFrame,
  TurnStatus,
  Usage,
} from "./wire.ts";

/** The outcome of a call, with its images, how it reads, and what it changed in a file. */
export type Result = Outcome & Beside;

interface Beside {
  readonly attachments?: readonly Attachment[];
  readonly summary?: CallSummary;
  readonly change?: FileChange;
}

export type Piece =
  | { readonly type: "text"; readonly id: string; readonly text: string }
  /** A message of the person that the turn took while it ran. */
  | {
      readonly type: "said";
      readonly id: string;
      readonly text: string;
      readonly files?: readonly Attachment[] | undefined;
    }
  /** `millis` is known when the reasoning is over. */
  | {
      readonly type: "reasoning";
      readonly id: string;
      readonly text: string;
      readonly since?: number;
      readonly millis?: number;
    }
  | {
      readonly type: "call";
      readonly id: string;
      readonly call: ToolCall;
      /** While it runs. */
      readonly summary?: CallSummary | undefined;
      readonly outcome?: Result;
      readonly millis?: number;
      /** True while the call waits for an answer of the person. */
      readonly isWaiting?: boolean;
      /** True while it waits for its tool to be prepared. */
      readonly isPreparing?: boolean;
    };

type GateAnswer = Decision | "replied";

export interface TurnView {
  readonly id: string;
  readonly thread: string;
  readonly channel: string;
  /** The turn it continues; null at the beginning, undefined if not known yet. */
  readonly after?: string | null;
  /** The message of the person; absent if the turn only resumes another, or is not known yet. */
  readonly asked: string | undefined;
  readonly files?: readonly Attachment[];
  readonly pieces: readonly Piece[];
  /** The answer to questions of a tool's server. */
  readonly replied?: string;
  /** Outcomes of calls, also of those that waited in an earlier turn. */
  readonly outcomes: ReadonlyMap<string, Result>;
  readonly status: TurnStatus;
  readonly error?: { readonly code: string; readonly message: string };
  readonly gate?: Gate;
  /** The gate that the turn ended at, also when it has been answered. */
  readonly held?: Gate;
  readonly decided?: { readonly gate: string; readonly answer: GateAnswer };
  /** What was answered at the gate that the turn ended at. */
  readonly answered?: GateAnswer;
  readonly notice?: string;
  /** Which of the tools that come with Postern is made ready now, as "3/5". */
  readonly preparing?: string;
  readonly model?: ModelName;
  readonly usage?: Usage;
  /** True if the built-in model answered that it takes a language model. */
  readonly needsModel?: boolean;
  readonly startedAt: number;
  /** True if every frame of the turn has been folded in: then the frames know more than the store. */
  readonly isWhole?: boolean;
}

export const isOver = ({ status }: TurnView): boolean => status !== "running" && status !== "queued";

/** Returns the text of the answer. */
export const writtenIn = ({ pieces }: TurnView): string =>
  pieces.flatMap((piece) => (piece.type === "text" ? [piece.text] : [])).join("\n\n");

export function fromTurn(turn: Turn): TurnView {
  const outcomes = new Map<string, Result>();
  for (const item of turn.items) if (item.type === "tool_result") outcomes.set(item.call, resultOf(item));
  const first = turn.items.find((item) => item.type === "message" && item.role === "user");
  const pieces = turn.items.flatMap((item): readonly Piece[] => {
    if (item.type === "tool_result") return [];
    if (item.type === "reasoning") {
      const { type, id, text, millis } = item;
      return [{ type, id, text, millis }];
    }
    if (item.type === "message") {
      const { id, role, text, attachments: files } = item;
      if (role === "assistant") return [{ type: "text", id, text }];
      const isTaken = role === "user" && (item !== first || turn.input.type !== "message");
      return isTaken ? [{ type: "said", id, text, files }] : [];
    }
    const outcome = outcomes.get(item.call.id);
    return [{ type: "call", id: item.id, call: item.call, outcome }];
  });
  const { id, channel, after, status, error, gate, model, usage } = turn;
  const message = turn.input.type === "message" ? turn.input : undefined;
  return {
    ...{ id, channel, after, pieces, outcomes, status, model, usage, error },
    thread: turn.thread_id,
    asked: message?.text,
    files: message?.attachments,
    replied: repliesIn(turn),
    needsModel: turn.items.some((item) => item.type === "message" && item.needs_model === true),
    held: gate,
    decided: decisionIn(turn),
    startedAt: Date.parse(turn.created_at),
    // A stored turn keeps its gate, but there is something to decide only while it waits.
    gate: status === "waiting" ? gate : undefined,
  };
}

function resultOf({ outcome, attachments = [], summary, change }: Beside & { outcome: Outcome }): Result {
  return {
    ...outcome,
    ...(attachments.length > 0 && { attachments }),
    ...(summary && { summary }),
    ...(change && { change }),
  };
}

function decisionIn({ input }: Turn): TurnView["decided"] {
  if (input.type === "approval" || input.type === "authentication")
    return { gate: input.gate, answer: input.decision };
  return input.type === "question" ? { gate: input.gate, answer: "replied" } : undefined;
}

/** Returns the replies to the questions of a tool's server as text. */
function repliesIn({ input }: Turn): string | undefined {
  if (input.type !== "question") return undefined;
  const words = input.replies.map(({ action, content = {} }) =>
    action === "accept"
      ? Object.entries(content).map(
          ([name, value]) => `${name}: ${Array.isArray(value) ? value.join(", ") : String(value)}`,
        )
      : [text.state.declined],
  );
  return words.flat().join("\n") || text.state.done;
}

/** Shows a call that waited at a gate in the turn that made it, with what the person answered and the outcome from the turn that resumed it. */
export function joinCalls(turns: readonly TurnView[]): readonly TurnView[] {
  const outcomes = new Map(turns.flatMap((turn) => [...turn.outcomes]));
  const waiting = new Set(turns.flatMap(({ gate }) => (gate ? [gate.call.id] : [])));
  const answers = new Map(turns.flatMap(({ decided }) => (decided ? [[decided.gate, decided.answer]] : [])));
  const seen = new Set<string>();
  return turns.map((turn) => {
    const pieces = turn.pieces.flatMap((piece): readonly Piece[] => {
      if (piece.type !== "call") return [piece];
      if (seen.has(piece.call.id)) return [];
      seen.add(piece.call.id);
      const outcome = piece.outcome ?? outcomes.get(piece.call.id);
      if (outcome) return [{ ...piece, outcome }];
      return [waiting.has(piece.call.id) ? { ...piece, isWaiting: true } : piece];
    });
    return { ...turn, pieces, answered: turn.held && !turn.gate ? answers.get(turn.held.id) : undefined };
  });
}

export function begun(id: string, thread: string, asked: string | undefined): TurnView {
  const empty = { pieces: [], outcomes: new Map() };
  return { id, thread, channel: "gateway", asked, ...empty, status: "running", startedAt: Date.now() };
}

export function fold(view: TurnView, frame: TurnFrame): TurnView {
  // A frame that comes after the end (a resumed stream, a late delivery) must not open the turn again.
  if (isOver(view)) return view;
  switch (frame.type) {
    case "started":
      // This is the first frame of a turn: everything shown of it before is sent again.
      return {
        ...view,
        status: "running",
        after: frame.after,
        model: frame.model,
        pieces: [],
        isWhole: true,
      };
    case "text":
      return { ...withoutNotice(view), pieces: append(endReasoning(view.pieces), "text", frame) };
    case "tool_started":
      return {
        ...withoutNotice(view),
        pieces: [
          ...endReasoning(view.pieces),
          { type: "call", id: frame.item, call: frame.call, summary: frame.summary },
        ],
      };
    case "tool_finished": {
      const { call, millis } = frame;
      const outcome = resultOf(frame);
      const pieces = view.pieces.map((piece) =>
        piece.type === "call" && piece.call.id === call.id ? { ...piece, outcome, millis } : piece,
      );
      return { ...view, pieces, outcomes: new Map([...view.outcomes, [call.id, outcome]]) };
    }
    case "taken": {
      const { message_id: id, text, attachments: files } = frame;
      return { ...view, pieces: [...endReasoning(view.pieces), { type: "said", id, text, files }] };
    }
    case "gate":
      return { ...view, gate: frame.gate };
    case "reasoning":
      return { ...withoutNotice(view), pieces: append(view.pieces, "reasoning", frame) };
    case "titled":
      return view;
    case "notice":
      if (frame.call !== undefined)
        return withPreparing(view, frame.call, frame.code === "tools_getting_ready");
      if (frame.code === "tools_ready") return withoutNotice(view);
      if (frame.code === "tools_getting_ready")
        return { ...view, preparing: /\d{1,4}\/\d{1,4}/.exec(frame.message)?.[0] ?? "" };
      // How far a task is stands in its row.
      return frame.code === "task" ? view : { ...view, notice: frame.message };
    case "usage":
      return { ...view, usage: frame.usage };
    case "done":
    case "failed":
      return merge(view, fromTurn(frame.turn));
  }
}

/** The stored turn wins; the durations of calls, which only frames have, are kept. */
function merge(live: TurnView, stored: TurnView): TurnView {
  const took = new Map(
    live.pieces.flatMap((piece) => (piece.type === "call" ? [[piece.call.id, piece.millis]] : [])),
  );
  const pieces = stored.pieces.map((piece) => {
    const millis = piece.type === "call" ? took.get(piece.call.id) : undefined;
    return millis === undefined ? piece : { ...piece, millis };
  });
  return { ...stored, asked: stored.asked ?? live.asked, pieces };
}

/** Combines a stored turn with what frames told of it. */
export function reconcile(stored: TurnView, live: TurnView | undefined): TurnView {
  if (isOver(stored)) return live ? merge(live, stored) : stored;
  // A page may have been read before the frames that ended the turn.
  const knowsMore = live !== undefined && (live.isWhole === true || isOver(live));
  if (!knowsMore) return stored;
  return { ...live, asked: stored.asked ?? live.asked, files: stored.files ?? live.files };
}

/** Frames were missed, so the view of a running turn is no longer complete. */
export function doubt(view: TurnView): TurnView {
  return isOver(view) ? view : { ...view, isWhole: false };
}

function withoutNotice({ notice: _gone, preparing: _ready, ...view }: TurnView): TurnView {
  return view;
}

function withPreparing(view: TurnView, call: string, isPreparing: boolean): TurnView {
  const pieces = view.pieces.map((piece) =>
    piece.type === "call" && piece.call.id === call ? { ...piece, isPreparing } : piece,
  );
  return { ...view, pieces };
}

function append(
  pieces: readonly Piece[],
  type: "text" | "reasoning",
  { item, delta }: { item: string; delta: string },
): readonly Piece[] {
  const last = pieces.at(-1);
  if (last?.type === type && last.id === item)
    return [...pieces.slice(0, -1), { ...last, text: last.text + delta }];
  const next = { id: item, text: delta };
  return [...pieces, type === "text" ? { type, ...next } : { type, ...next, since: Date.now() }];
}

/** Ends the reasoning, since text or a call follows. */
function endReasoning(pieces: readonly Piece[]): readonly Piece[] {
  const last = pieces.at(-1);
  if (last?.type !== "reasoning" || last.since === undefined) return pieces;
  const { since, ...thought } = last;
  return [...pieces.slice(0, -1), { ...thought, millis: Date.now() - since }];
}
