/** Stored turns as they were spoken, for the checks of calls: every item, whatever a model is still shown of it. */
import { type Outside, type PastTurns, readsAsText } from "../../../kernel/kit.ts";
import type { Gate, Queries, TurnInput, TurnItem, TurnStatus } from "../../../kernel/plugin.ts";
import { readAttachments } from "./attachments/stored.ts";
import { isOnPath, type Path, readPath } from "./turns/branch.ts";

/** A turn whose past is wanted. */
export interface Present {
  readonly thread: string;
  readonly seq: number;
  /** Not all that came before it on its thread is its past. */
  readonly isBranched: boolean;
}

type Spoken = PastTurns["turns"][number];
type Row = Omit<Spoken, "files" | "items"> & { readonly items: TurnItem[] };

export async function readPast(
  sql: Queries,
  { thread, seq, isBranched }: Present,
  known?: { readonly branch: string; readonly to: number },
): Promise<PastTurns> {
  const path = isBranched ? await readPath(sql, thread, seq) : [];
  const branch = path.map(({ after, before }) => `${after}-${before}`).join();
  const after = known?.branch === branch && known.to < seq ? known.to : 0;
  return { branch, after, turns: await readSpoken(sql, thread, { after, before: seq }, path) };
}

export interface FoundTurn extends Spoken {
  readonly id: string;
  readonly thread: string;
  readonly user: string;
  readonly createdAt: string;
}

/** Without an id, the last turn that called a tool. */
export async function findSpoken(sql: Queries, named?: string): Promise<FoundTurn | undefined> {
  const id = named ?? (await lastCalling(sql));
  if (id === undefined) return undefined;
  const row = await sql.get<{ thread: string; seq: number; user: string; created_at: string }>(
    'SELECT thread, seq, "user", created_at FROM turns WHERE id = ?',
    id,
  );
  if (row === undefined) return undefined;
  const { thread, seq, user, created_at: createdAt } = row;
  const [turn] = await readSpoken(sql, thread, { after: seq - 1, before: seq + 1 }, []);
  return turn && { ...turn, id, thread, user, createdAt };
}

async function lastCalling(sql: Queries): Promise<string | undefined> {
  const last = `SELECT turn FROM turn_items WHERE body LIKE '{"type":"tool_call"%' ORDER BY seq DESC LIMIT 1`;
  return (await sql.get<{ turn: string }>(last))?.turn;
}

/** Also turns without items: an answer at a gate has none. */
async function readSpoken(
  sql: Queries,
  thread: string,
  { after, before }: { readonly after: number; readonly before: number },
  path: Path,
): Promise<readonly Spoken[]> {
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
  const files = await readFiles(sql, thread, turns);
  return turns.map((turn) => ({ ...turn, files }));
}

function parse<Value>(json: string | null): Value | undefined {
  return json === null ? undefined : (JSON.parse(json) as Value);
}

async function readFiles(
  sql: Queries,
  thread: string,
  turns: readonly Row[],
): Promise<ReadonlyMap<string, string>> {
  const ids = turns.flatMap(({ items }) => textFilesIn(items));
  if (ids.length === 0) return new Map();
  const bytes = await readAttachments(sql, thread, [...new Set(ids)]);
  return new Map([...bytes].map(([id, data]) => [id, fileText(data)]));
}

/** The ids of those that a model reads as text. */
function textFilesIn(items: readonly TurnItem[]): readonly string[] {
  return items.flatMap((item) =>
    "attachments" in item ? (item.attachments ?? []).filter(readsAsText).map(({ id }) => id) : [],
  );
}

const MAX_FILE_BYTES = 200_000;

export function fileText(data: Uint8Array): string {
  return Buffer.from(data.buffer, data.byteOffset, Math.min(data.byteLength, MAX_FILE_BYTES)).toString(
    "utf8",
  );
}
