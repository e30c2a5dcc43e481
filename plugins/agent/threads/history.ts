/** Stored turns as a model reads them, kept rendered for the threads that are in use. */

import { setImmediate } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import type { Queries, ToolCall, TurnItem, TurnStatus } from "../../../kernel/plugin.ts";
import { dayOf, estimateNews, hideInNews, type News, type TellingTurn } from "./news.ts";
import { estimateTokens, type RenderedMessage } from "./tokens.ts";
import { type Gap, isOnPath, keyOf, newestOf, type Path } from "./turns/branch.ts";
import { hideLong, type Preface, renderItems, type Show } from "./turns/messages.ts";
import { type PreambleColumns, preambleOf } from "./turns/turn-rows.ts";

export interface RenderedTurn extends TellingTurn {
  readonly seq: number;
  readonly tokens: number;
  /** False where it begins with the results of calls that the turn before made. */
  readonly isWhole: boolean;
}

// Rendered history that is kept: about this many tokens over all threads.
const MAX_TOKENS = 2_000_000;

interface Kept {
  readonly maskVersion: number;
  /** Keeps one branch at a time. */
  readonly path: string;
  /** Older turns have been let go. */
  from: number;
  readonly turns: RenderedTurn[];
  open: readonly ToolCall[];
  tokens: number;
}

export interface Past {
  readonly turns: readonly RenderedTurn[];
  /** Calls that the last of them left open. */
  readonly open: readonly ToolCall[];
}

export type History = ReturnType<typeof createHistory>;

export function createHistory(sql: Queries, show: Show) {
  const { mask } = show;
  const kept = new LRUCache<string, Kept>({
    maxSize: MAX_TOKENS,
    // A thread that is larger than all of it is kept alone.
    sizeCalculation: ({ tokens }) => Math.min(Math.max(tokens, 1), MAX_TOKENS),
  });

  return {
    /** The turns of a thread between two numbers, both excluded, that are on the path. */
    async read(thread: string, from: number, before: number, path: Path = []): Promise<Past> {
      let entry = kept.get(thread);
      kept.delete(thread);
      const pathKey = keyOf(path);
      // A value that has become a secret since must not be shown from what was rendered before.
      const isPast = (entry?.turns.at(-1)?.seq ?? 0) < before;
      if (entry?.path !== pathKey || entry.maskVersion !== mask.version || entry.from > from || !isPast) {
        entry = { maskVersion: mask.version, path: pathKey, from, turns: [], open: [], tokens: 0 };
      }
      // Turns that another node has added since are read with what is new here.
      const after = Math.max(from, entry.turns.at(-1)?.seq ?? 0);
      const rows = await readRows(sql, thread, { after, before }, path);
      // One that may still get items is shown as it is now, and neither it nor what follows is kept.
      const unfinished = rows.findIndex(({ status }) => OPEN.has(status));
      const finished = unfinished === -1 ? rows : rows.slice(0, unfinished);
      const added = await render(finished, entry.open, show);
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
      const passing = await render(rows.slice(finished.length), entry.open, show);
      // A copy: whoever was given it goes on with it while a model with a smaller window has the oldest summarised.
      return { turns: [...entry.turns, ...passing.turns], open: passing.open };
    },
    forget: (thread: string) => void kept.delete(thread),
  };
}

/** Others get a word in after each long turn. */
const LONG_TOKENS = 50_000;

async function render(rows: readonly Row[], before: readonly ToolCall[], show: Show): Promise<Past> {
  let open = before;
  const turns: RenderedTurn[] = [];
  for (const { seq, items, preface, day, news } of rows) {
    const hidden = await hideLong(show.mask, items, preface);
    const rendered = renderItems(items, preface, open, { ...show, hidden });
    open = rendered.open;
    const told = news && hideInNews(show.mask, news);
    const turn = turnOf({ seq, day, news: told, messages: rendered.messages });
    turns.push(turn);
    if (turn.tokens > LONG_TOKENS) await setImmediate();
  }
  return { turns, open };
}

function turnOf(turn: Omit<RenderedTurn, "tokens" | "isWhole">): RenderedTurn {
  const { messages, news } = turn;
  const said = messages.reduce((sum, message) => sum + estimateTokens(message), 0);
  return { ...turn, tokens: said + estimateNews(news), isWhole: messages[0]?.role !== "tool" };
}

/** The results at its beginning, of calls that the turn before it made. */
export function orphansOf(turn: RenderedTurn | undefined): readonly RenderedMessage[] {
  const end = turn?.messages.findIndex(({ role }) => role !== "tool") ?? 0;
  return turn?.messages.slice(0, end === -1 ? undefined : end) ?? [];
}

/** Without them: the calls have gone into a summary, and no model takes a result without its call. */
function withoutOrphans(turn: RenderedTurn): RenderedTurn {
  return turn.isWhole ? turn : turnOf({ ...turn, messages: turn.messages.slice(orphansOf(turn).length) });
}

export function sumTokens(turns: readonly RenderedTurn[]): number {
  return turns.reduce((sum, { tokens }) => sum + tokens, 0);
}

const OPEN: ReadonlySet<TurnStatus> = new Set(["queued", "running"]);

interface Row extends Pick<RenderedTurn, "seq" | "day" | "news"> {
  readonly status: TurnStatus;
  readonly preface: Preface;
  readonly items: TurnItem[];
}

interface ReadRow extends PreambleColumns, Pick<Row, "seq" | "status"> {
  readonly body: string;
  readonly news: string | null;
  readonly created_at: string;
}

/** No model's window takes more. */
const MAX_PAST_BYTES = 16 * 2 ** 20;

/** A request that was too long for the model would be so again. */
const WAS_TOO_LONG = `coalesce(error, '') LIKE '{"code":"too_long"%' OR coalesce(error, '') LIKE '{"code":"context_length_exceeded"%'`;
const MAX_UNSHOWN_BYTES = 100_000;
const IS_SHOWN = `(octet_length(body) <= ${MAX_UNSHOWN_BYTES} OR NOT (${WAS_TOO_LONG}))`;

/** Others get a word in after so many rows. */
const MANY_ROWS = 1000;

/** Turns with their items, in one pass over one index. */
async function readRows(sql: Queries, thread: string, { after, before }: Gap, path: Path) {
  const find = `SELECT turns.seq, status, instructions, context, outside, news, turns.created_at, body FROM turns JOIN turn_items ON turn_items.turn = turns.id
    WHERE thread = ? AND turns.seq > ? AND turns.seq < ? AND ${IS_SHOWN} AND ${newestOf(MAX_PAST_BYTES, IS_SHOWN)}
    ORDER BY turns.seq, turn_items.seq`;
  const rows = await sql.all<ReadRow>(find, thread, after, before, thread, after, before);
  const turns: Row[] = [];
  for (const [at, { seq, status, body, news, created_at, ...preamble }] of rows.entries()) {
    if (at % MANY_ROWS === MANY_ROWS - 1) await setImmediate();
    if (!isOnPath(path, seq)) continue;
    let turn = turns.at(-1);
    if (turn?.seq !== seq) {
      const told = { day: dayOf(created_at), news: news === null ? undefined : (JSON.parse(news) as News) };
      turn = { seq, status, preface: preambleOf(preamble), items: [], ...told };
      turns.push(turn);
    }
    turn.items.push(JSON.parse(body) as TurnItem);
  }
  return turns;
}
