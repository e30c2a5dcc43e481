/** Stored turns as a model reads them, kept rendered for the threads that are in use. */
import { LRUCache } from "lru-cache";
import type {
  Mask,
  Outside,
  Queries,
  ToolCall,
  ToolOutcome,
  TurnItem,
  TurnStatus,
} from "../../../kernel/plugin.ts";
import { estimateTokens } from "../context/tokens.ts";
import { renderContext } from "../context/user-context.ts";
import type { RenderedMessage } from "../models/model.ts";
import { redact } from "../safety/redact.ts";
import { escapeTags, wrapOutput } from "../safety/wrap.ts";
import { type Gap, isOnPath, type Path } from "./turns/branch.ts";

export interface RenderedTurn {
  readonly seq: number;
  readonly messages: readonly RenderedMessage[];
  readonly tokens: number;
  /** False where it begins with the results of calls that the turn before made. */
  readonly isWhole: boolean;
}

/** What came with the user's message and stays with it. */
export interface Preface {
  readonly instructions: string | undefined;
  readonly context: Readonly<Record<string, unknown>> | undefined;
  readonly outside?: Outside | undefined;
}

/** Calls of the caller's functions, whose names may be those of tools of ours. */
const callers = new WeakSet<ToolCall>();

const NO_RESULT = "There is no result: the turn ended before the call did.";
// Rendered history that is kept: about this many tokens over all threads.
const MOST_TOKENS = 2_000_000;

export interface Show {
  readonly mask: Mask;
  /** Own tools whose output is meant to be followed. */
  readonly trusted: ReadonlySet<string>;
  /** Results already rendered: a turn is rendered anew for each answer of the model. */
  readonly outputs?: WeakMap<TurnItem, string>;
}

export interface Rendered {
  readonly messages: RenderedMessage[];
  /** Calls that still wait for their results. */
  readonly open: readonly ToolCall[];
}

export function renderItems(
  items: readonly TurnItem[],
  preface: Preface,
  open: readonly ToolCall[],
  show: Show,
): Rendered {
  const messages: RenderedMessage[] = [];
  let waiting = [...open];
  const results = new Map<ToolCall, RenderedMessage>();
  // The calls of the last message, while it can still take one.
  let answer: ToolCall[] | undefined;
  // What was thought before the next answer.
  let thoughts = "";

  // Calls that ran side by side end in any order; their results are told in the order of the calls.
  const flush = (): void => {
    for (const call of waiting) {
      const result = results.get(call);
      if (result !== undefined) messages.push(result);
    }
    waiting = waiting.filter((call) => !results.has(call));
    results.clear();
  };
  const close = (): void => {
    flush();
    messages.push(...withoutResult(waiting));
    waiting = [];
  };

  const answerWith = (text: string, calls: ToolCall[]): void => {
    const reasoning = redact(show.mask, thoughts);
    thoughts = "";
    messages.push({ role: "assistant", text, calls, ...(reasoning !== "" && { reasoning }) });
  };

  for (const item of items) {
    if (item.type === "reasoning") thoughts = item.text;
    else if (item.type === "tool_result") {
      const call = waiting.find((other) => other.id === item.call && !results.has(other));
      if (call === undefined) continue;
      results.set(call, {
        role: "tool",
        call,
        output: outputOf(item, call, item.outcome, show),
        failed: item.outcome.status !== "ok",
        ...(item.attachments?.length && { attachments: item.attachments }),
      });
      answer = undefined;
    } else if (item.type === "tool_call") {
      if (answer === undefined) {
        close();
        answer = [];
        answerWith("", answer);
      }
      answer.push(item.call);
      waiting.push(item.call);
      if (item.external) callers.add(item.call);
    } else {
      close();
      answer = item.role === "assistant" ? [] : undefined;
      if (answer === undefined) messages.push(renderUser(item, preface, show));
      else answerWith(redact(show.mask, item.text), answer);
    }
  }
  flush();
  return { messages, open: waiting };
}

/** Results that never came, so that what follows them is well-formed. */
export function withoutResult(calls: readonly ToolCall[]): RenderedMessage[] {
  return calls.map((call) => ({ role: "tool", call, output: NO_RESULT, failed: true }));
}

function renderUser(
  item: Extract<TurnItem, { type: "message" }>,
  preface: Preface,
  { mask }: Show,
): RenderedMessage {
  if (item.role === "system")
    return { role: "user", text: renderBlock("instructions", redact(mask, item.text)) };
  const blocks = [
    ...(preface.instructions ? [renderBlock("instructions", redact(mask, preface.instructions))] : []),
    ...(preface.context ? [renderBlock("user-context", redact(mask, renderContext(preface.context)))] : []),
    ...(preface.outside?.data === undefined ? [] : [renderOutside(preface.outside, mask)]),
    renderWords(item.text, preface.outside?.spans ?? [], (text) => escapeTags(redact(mask, text))),
  ];
  const { attachments } = item;
  return { role: "user", text: blocks.join("\n\n"), ...(attachments?.length && { attachments }) };
}

function renderOutside({ data, origin }: Outside, mask: Mask): string {
  return wrapOutput(redact(mask, JSON.stringify(data)), origin);
}

/** The message, with what people outside wrote in it marked as theirs. */
function renderWords(
  text: string,
  spans: NonNullable<Outside["spans"]>,
  show: (text: string) => string,
): string {
  let end = 0;
  const pieces = spans.map(({ from, to }) => {
    const piece = `${show(text.slice(end, from))}<outside>${show(text.slice(from, to))}</outside>`;
    end = to;
    return piece;
  });
  return `${pieces.join("")}${show(text.slice(end))}`;
}

export function renderBlock(tag: string, text: string): string {
  return `<${tag}>\n${escapeTags(text)}\n</${tag}>`;
}

function outputOf(item: TurnItem, call: ToolCall, outcome: ToolOutcome, show: Show): string {
  const known = show.outputs?.get(item);
  if (known !== undefined) return known;
  const text = redact(show.mask, outcome.status === "ok" ? outcome.output : outcome.message);
  const isTrusted = show.trusted.has(call.name) && !callers.has(call);
  const output = isTrusted ? text : wrapOutput(text, call.name);
  show.outputs?.set(item, output);
  return output;
}

interface Kept {
  readonly maskSize: number;
  /** Of one branch at a time. */
  readonly path: string;
  /** What is older has been let go. */
  from: number;
  readonly turns: RenderedTurn[];
  open: readonly ToolCall[];
  tokens: number;
}

export interface Past {
  /** Oldest first. */
  readonly turns: readonly RenderedTurn[];
  /** Calls that the last of them left open. */
  readonly open: readonly ToolCall[];
}

export interface History {
  /** The turns of a thread between two numbers, both excluded, that are on the path. */
  read(thread: string, from: number, before: number, path?: Path): Promise<Past>;
  forget(thread: string): void;
}

export function createHistory(sql: Queries, show: Pick<Show, "mask" | "trusted">): History {
  const { mask } = show;
  const kept = new LRUCache<string, Kept>({
    maxSize: MOST_TOKENS,
    // A thread that is larger than all of it is kept alone.
    sizeCalculation: ({ tokens }) => Math.min(Math.max(tokens, 1), MOST_TOKENS),
  });

  return {
    async read(thread, from, before, path = []) {
      let entry = kept.get(thread);
      kept.delete(thread);
      const pathKey = path.map(({ after, before }) => `${after}-${before}`).join();
      // A value that has become a secret since must not be shown from what was rendered before.
      const isPast = (entry?.turns.at(-1)?.seq ?? 0) < before;
      if (entry?.path !== pathKey || entry.maskSize !== mask.size || entry.from > from || !isPast) {
        entry = { maskSize: mask.size, path: pathKey, from, turns: [], open: [], tokens: 0 };
      }
      // What another node has added since is read with what is new here.
      const after = Math.max(from, entry.turns.at(-1)?.seq ?? 0);
      const rows = await readRows(sql, thread, { after, before }, path);
      // One that may still get items is shown as it is now, and neither it nor what follows is kept.
      const unfinished = rows.findIndex(({ status }) => OPEN.has(status));
      const finished = unfinished === -1 ? rows : rows.slice(0, unfinished);
      const added = render(finished, entry.open, show);
      entry.turns.push(...added.turns);
      entry.open = added.open;
      entry.tokens += sumTokens(added.turns);
      const first = entry.turns.findIndex(({ seq }) => seq > from);
      const gone = entry.turns.splice(0, first === -1 ? entry.turns.length : first);
      entry.tokens -= sumTokens(gone);
      entry.from = from;
      const [eldest] = entry.turns;
      if (eldest !== undefined && gone.length > 0) {
        entry.turns[0] = withoutOrphans(eldest);
        entry.tokens += entry.turns[0].tokens - eldest.tokens;
      }
      // A thread's first turn has nothing to keep, and most threads have no second.
      if (entry.turns.length > 0) kept.set(thread, entry);
      const passing = render(rows.slice(finished.length), entry.open, show);
      // A copy: whoever was given it goes on with it while a model with a smaller window has the oldest summarised.
      return { turns: [...entry.turns, ...passing.turns], open: passing.open };
    },
    forget: (thread) => void kept.delete(thread),
  };
}

function render(
  rows: readonly Row[],
  before: readonly ToolCall[],
  show: Pick<Show, "mask" | "trusted">,
): Past {
  let open = before;
  const turns = rows.map(({ seq, items, preface }): RenderedTurn => {
    const rendered = renderItems(items, preface, open, show);
    open = rendered.open;
    return turnOf(seq, rendered.messages);
  });
  return { turns, open };
}

function turnOf(seq: number, messages: readonly RenderedMessage[]): RenderedTurn {
  const tokens = messages.reduce((sum, message) => sum + estimateTokens(message, { isPast: true }), 0);
  return { seq, messages, tokens, isWhole: messages[0]?.role !== "tool" };
}

/** The results at its beginning, of calls that the turn before it made. */
export function orphansOf(turn: RenderedTurn | undefined): readonly RenderedMessage[] {
  const end = turn?.messages.findIndex(({ role }) => role !== "tool") ?? 0;
  return turn?.messages.slice(0, end === -1 ? undefined : end) ?? [];
}

/** Without them: the calls have gone into a summary, and no model takes a result without its call. */
function withoutOrphans(turn: RenderedTurn): RenderedTurn {
  return turn.isWhole ? turn : turnOf(turn.seq, turn.messages.slice(orphansOf(turn).length));
}

function sumTokens(turns: readonly RenderedTurn[]): number {
  return turns.reduce((sum, { tokens }) => sum + tokens, 0);
}

const OPEN: ReadonlySet<TurnStatus> = new Set(["queued", "running"]);

interface Row {
  readonly seq: number;
  readonly status: TurnStatus;
  readonly preface: Preface;
  readonly items: TurnItem[];
}

/** Turns with their items, in one pass over one index. */
async function readRows(
  sql: Queries,
  thread: string,
  { after, before }: Gap,
  path: Path,
): Promise<readonly Row[]> {
  const rows = await sql.all<{
    seq: number;
    status: TurnStatus;
    instructions: string | null;
    context: string | null;
    outside: string | null;
    body: string;
  }>(
    `SELECT turns.seq, status, instructions, context, outside, body FROM turns JOIN turn_items ON turn_items.turn = turns.id
     WHERE thread = ? AND turns.seq > ? AND turns.seq < ? ORDER BY turns.seq, turn_items.seq`,
    thread,
    after,
    before,
  );
  const turns: Row[] = [];
  for (const { seq, status, instructions, context, outside, body } of rows) {
    if (!isOnPath(path, seq)) continue;
    let turn = turns.at(-1);
    if (turn?.seq !== seq) {
      const preface: Preface = {
        instructions: instructions ?? undefined,
        context: context === null ? undefined : (JSON.parse(context) as Record<string, unknown>),
        outside: outside === null ? undefined : (JSON.parse(outside) as Outside),
      };
      turn = { seq, status, preface, items: [] };
      turns.push(turn);
    }
    turn.items.push(JSON.parse(body) as TurnItem);
  }
  return turns;
}
