/** Stored turns as they were spoken, for the checks of calls: every item, whatever a model is still shown of it. */
import { readsAsText } from "../../../kernel/kit/tools.ts";
import type { Gate, Queries, TurnItem } from "../../../kernel/plugin.ts";
import type { PastTurns, SpokenTurn } from "../services.ts";
import { readAttachments } from "./attachments/stored.ts";
import { type Gap, isOnPath, keyOf, newestOf, type Path, readPath } from "./turns/branch.ts";
import { type PreambleColumns, preambleOf, readInput } from "./turns/turn-rows.ts";

/** A turn whose past is wanted. */
export interface Present {
  readonly thread: string;
  readonly seq: number;
  /** Not all that came before it on its thread is its past. */
  readonly isBranched: boolean;
}

type Spoken = PastTurns["turns"][number];
type Row = Omit<Spoken, "files" | "items" | "input"> & { readonly input: string; readonly items: TurnItem[] };

export async function readPast(
  sql: Queries,
  { thread, seq, isBranched }: Present,
  known?: { readonly branch: string; readonly to: number },
): Promise<PastTurns> {
  const path = isBranched ? await readPath(sql, thread, seq) : [];
  const branch = keyOf(path);
  const after = known?.branch === branch && known.to < seq ? known.to : 0;
  return { branch, after, turns: await readSpoken(sql, thread, { after, before: seq }, path) };
}

interface FoundRow {
  readonly id: string;
  readonly thread: string;
  readonly seq: number;
  readonly user: string;
  readonly created_at: string;
}

const IS_BINNED = "thread IN (SELECT threads.id FROM threads WHERE binned_at IS NOT NULL)";
const LAST_CALLING = `SELECT turn FROM turn_items WHERE body LIKE '{"type":"tool_call"%'
  AND turn NOT IN (SELECT turns.id FROM turns WHERE ${IS_BINNED}) ORDER BY seq DESC LIMIT 1`;

/** Without an id, the last turn that called a tool. What is in the bin is not found. */
export async function findSpoken(sql: Queries, named?: string) {
  const which = named === undefined ? `(${LAST_CALLING})` : "?";
  const find = `SELECT id, thread, seq, "user", created_at FROM turns WHERE id = ${which} AND NOT ${IS_BINNED}`;
  const row = await sql.get<FoundRow>(find, ...(named === undefined ? [] : [named]));
  if (row === undefined) return undefined;
  const { id, thread, seq, user, created_at: createdAt } = row;
  const [turn] = await readSpoken(sql, thread, { after: seq - 1, before: seq + 1 }, []);
  return turn && { ...turn, id, thread, user, createdAt };
}

/** The turns that delegated another, each after what was said before it. */
export async function readAbove(
  sql: Queries,
  delegating: readonly string[] = [],
): Promise<readonly SpokenTurn[]> {
  const threads = delegating.map(async (id) => {
    const turn = await findSpoken(sql, id);
    return turn ? [...(await readPast(sql, { ...turn, isBranched: true })).turns, turn] : [];
  });
  return (await Promise.all(threads)).flat();
}

/** Older messages are no longer known to be the person's, which only makes a check ask more often. */
const MAX_PAST_BYTES = 32 * 2 ** 20;

interface ReadRow extends PreambleColumns, Pick<Row, "seq" | "status" | "input"> {
  readonly gate: string | null;
  readonly body: string | null;
}

/** Also turns without items: an answer at a gate has none. */
async function readSpoken(
  sql: Queries,
  thread: string,
  { after, before }: Gap,
  path: Path,
): Promise<readonly Spoken[]> {
  const find = `SELECT turns.seq, status, input, instructions, context, outside, gate, body
    FROM turns LEFT JOIN turn_items ON turn_items.turn = turns.id
    WHERE thread = ? AND turns.seq > ? AND turns.seq < ? AND ${newestOf(MAX_PAST_BYTES)}
    ORDER BY turns.seq, turn_items.seq`;
  const rows = await sql.all<ReadRow>(find, thread, after, before, thread, after, before);
  const turns: Row[] = [];
  for (const { seq, status, input, gate, body, ...preamble } of rows) {
    if (!isOnPath(path, seq)) continue;
    if (turns.at(-1)?.seq !== seq)
      turns.push({
        seq,
        status,
        input,
        ...preambleOf(preamble),
        gate: gate === null ? undefined : (JSON.parse(gate) as Gate),
        items: [],
      });
    if (body !== null) turns.at(-1)?.items.push(JSON.parse(body) as TurnItem);
  }
  const files = await readFiles(sql, thread, turns);
  return turns.map((turn) => ({ ...turn, input: readInput(turn.input, turn.items), files }));
}

async function readFiles(sql: Queries, thread: string, turns: readonly Row[]) {
  const attachments = turns
    .flatMap(({ items }) => items)
    .flatMap((item) => ("attachments" in item ? (item.attachments ?? []) : []));
  const ids = new Set(attachments.filter(readsAsText).map(({ id }) => id));
  const bytes = await readAttachments(sql, thread, [...ids]);
  return new Map([...bytes].map(([id, data]) => [id, fileText(data)]));
}

const MAX_FILE_BYTES = 200_000;

export function fileText(data: Uint8Array): string {
  const { buffer, byteOffset, byteLength } = data;
  return Buffer.from(buffer, byteOffset, Math.min(byteLength, MAX_FILE_BYTES)).toString("utf8");
}
