/** Reads the whole conversation before a turn from the store, whatever a model is still shown of it. */
import { LRUCache } from "lru-cache";
import type { Gate, Outside, Queries, TurnInput, TurnItem, TurnStatus } from "../../../../kernel/plugin.ts";
import { isText } from "../../models/request.ts";
import { readAttachments } from "../../threads/attachments/stored.ts";
import { isOnPath, type Path, readPath } from "../../threads/turns/branch.ts";
import { extend, NOTHING_SAID, type Trace, type TracedTurn } from "./trace.ts";

export interface Present {
  readonly thread: string;
  readonly seq: number;
  readonly isBranched: boolean;
}

export interface StoredTraces {
  read(turn: Present): Promise<Trace>;
  /** Finds a turn and what was said before it; without an id, the last turn that called a tool. */
  find(turn?: string): Promise<FoundTurn | undefined>;
  forget(thread: string): void;
}

interface FoundTurn {
  readonly turn: string;
  readonly thread: string;
  readonly user: string;
  readonly createdAt: string;
  readonly past: Trace;
  readonly present: TracedTurn;
}

interface Kept {
  readonly path: string;
  /** The number of the last turn in it. */
  readonly to: number;
  readonly trace: Trace;
}

/** In characters, over all threads. */
const MAX_CACHED = 16_000_000;

export function createStoredTraces(sql: Queries, isOwn: (tool: string) => boolean): StoredTraces {
  const kept = new LRUCache<string, Kept>({
    maxSize: MAX_CACHED,
    sizeCalculation: ({ trace }) => Math.min(sizeOf(trace), MAX_CACHED),
  });

  async function read({ thread, seq, isBranched }: Present): Promise<Trace> {
    const path = isBranched ? await readPath(sql, thread, seq) : [];
    const key = path.map(({ after, before }) => `${after}-${before}`).join();
    const known = kept.get(thread);
    const from = known?.path === key && known.to < seq ? known : { to: 0, trace: NOTHING_SAID };
    const rows = await readRows(sql, thread, { after: from.to, before: seq }, path);
    const texts = await readFiles(sql, thread, rows);
    const traced = rows.map((row) => ({ ...row, files: texts }));
    // A turn that may still get items, and all after it, is read again next time.
    const unfinished = rows.findIndex(({ status }) => OPEN.has(status));
    const finished = unfinished === -1 ? traced : traced.slice(0, unfinished);
    const trace = extend(from.trace, finished, isOwn);
    kept.set(thread, { path: key, to: finished.at(-1)?.seq ?? from.to, trace });
    return extend(trace, traced.slice(finished.length), isOwn);
  }

  return {
    read,
    async find(named) {
      const turn = named ?? (await lastCalling(sql));
      if (turn === undefined) return undefined;
      const row = await sql.get<{ thread: string; seq: number; user: string; created_at: string }>(
        'SELECT thread, seq, "user", created_at FROM turns WHERE id = ?',
        turn,
      );
      if (row === undefined) return undefined;
      const { thread, seq, user, created_at: createdAt } = row;
      const [past, rows] = await Promise.all([
        read({ thread, seq, isBranched: true }),
        readRows(sql, thread, { after: seq - 1, before: seq + 1 }, []),
      ]);
      const [present] = rows;
      if (present === undefined) return undefined;
      return {
        turn,
        thread,
        user,
        createdAt,
        past,
        present: { ...present, files: await readFiles(sql, thread, rows) },
      };
    },
    forget: (thread) => void kept.delete(thread),
  };
}

async function lastCalling(sql: Queries): Promise<string | undefined> {
  const last = `SELECT turn FROM turn_items WHERE body LIKE '{"type":"tool_call"%' ORDER BY seq DESC LIMIT 1`;
  return (await sql.get<{ turn: string }>(last))?.turn;
}

const OPEN: ReadonlySet<TurnStatus> = new Set(["queued", "running"]);

function sizeOf({ said, known, entries }: Trace): number {
  const texts = [...said, ...known, ...entries.map(({ text }) => text)];
  return texts.reduce((sum, text) => sum + text.length, 1);
}

type Row = Omit<TracedTurn, "files" | "items"> & {
  readonly seq: number;
  readonly status: TurnStatus;
  readonly items: TurnItem[];
};

/** Reads turns without items too: an answer at a gate has none. */
async function readRows(
  sql: Queries,
  thread: string,
  { after, before }: { readonly after: number; readonly before: number },
  path: Path,
): Promise<readonly Row[]> {
  const rows = await sql.all<{
    seq: number;
    status: TurnStatus;
    input: string;
    instructions: string | null;
    context: string | null;
    outside: string | null;
    gate: string | null;
    body: string | null;
  }>(
    `SELECT turns.seq, status, input, instructions, context, outside, gate, body
     FROM turns LEFT JOIN turn_items ON turn_items.turn = turns.id
     WHERE thread = ? AND turns.seq > ? AND turns.seq < ? ORDER BY turns.seq, turn_items.seq`,
    thread,
    after,
    before,
  );
  const turns: Row[] = [];
  for (const { seq, status, input, instructions, context, outside, gate, body } of rows) {
    if (!isOnPath(path, seq)) continue;
    if (turns.at(-1)?.seq !== seq)
      turns.push({
        seq,
        status,
        input: JSON.parse(input) as TurnInput,
        instructions: instructions ?? undefined,
        context: parse<Record<string, unknown>>(context),
        outside: parse<Outside>(outside),
        gate: parse<Gate>(gate),
        items: [],
      });
    if (body !== null) turns.at(-1)?.items.push(JSON.parse(body) as TurnItem);
  }
  return turns;
}

function parse<Value>(json: string | null): Value | undefined {
  return json === null ? undefined : (JSON.parse(json) as Value);
}

async function readFiles(
  sql: Queries,
  thread: string,
  rows: readonly Row[],
): Promise<ReadonlyMap<string, string>> {
  const ids = rows.flatMap(({ items }) => textFilesIn(items));
  if (ids.length === 0) return new Map();
  const bytes = await readAttachments(sql, thread, [...new Set(ids)]);
  return new Map([...bytes].map(([id, data]) => [id, textOf(data)]));
}

/** The ids of the attachments that a model reads as text. */
function textFilesIn(items: readonly TurnItem[]): readonly string[] {
  return items.flatMap((item) =>
    "attachments" in item ? (item.attachments ?? []).filter(isText).map(({ id }) => id) : [],
  );
}

const MAX_FILE_BYTES = 200_000;

export function textOf(data: Uint8Array): string {
  return Buffer.from(data.buffer, data.byteOffset, Math.min(data.byteLength, MAX_FILE_BYTES)).toString(
    "utf8",
  );
}
