/** The stored turns that a comparison replays: a message, and the answers at gates that its turn went on with. */
import { answerText, NO_USAGE } from "../../../kernel/kit/turns.ts";
import type { Services, Sql, TurnItem, TurnRecord } from "../../../kernel/plugin.ts";
import type { ComparedSide, ComparisonQuery, Preamble, Threads } from "../services.ts";
import { IS_LISTED } from "../threads/thread-row.ts";
import { type PreambleColumns, preambleOf } from "../threads/turns/turn-rows.ts";

export interface StoredTurn {
  readonly id: string;
  readonly thread: string;
  readonly title: string;
  readonly seq: number;
  readonly preamble: Preamble;
  /** The turn of the message, then those that answered its gates. */
  readonly records: readonly [TurnRecord, ...TurnRecord[]];
}

interface Row extends PreambleColumns, Pick<StoredTurn, "id" | "thread" | "title" | "seq"> {}

const USUAL_LAST = 50;
const MAX_TURNS = 1000;
const MAX_ANSWERS = 20;

/** Oldest first. What a caller brought as history has no usage: no model was asked. */
export async function findStored(
  sql: Sql,
  threads: Pick<Threads, "turns">,
  { user, threads: named, last = named ? MAX_TURNS : USUAL_LAST }: Omit<ComparisonQuery, "model">,
): Promise<readonly StoredTurn[]> {
  const among = named ? `AND threads.id IN (${named.map(() => "?").join()})` : "";
  const find = `SELECT turns.id, turns.thread, turns.seq, title, instructions, context, outside
    FROM turns JOIN threads ON threads.id = turns.thread
    WHERE threads."user" = ? AND ${IS_LISTED} AND status IN ('completed', 'waiting') AND usage IS NOT NULL
      AND input LIKE '%"type":"message"%' ${among} ORDER BY turns.seq DESC LIMIT ?`;
  const rows = await sql.all<Row>(find, user, ...(named ?? []), Math.min(last, MAX_TURNS));
  const stored: StoredTurn[] = [];
  for (const { id, thread, title, seq, ...preamble } of rows.toReversed()) {
    const { items } = await threads.turns(user, thread, { after: String(seq - 1), limit: MAX_ANSWERS });
    const [first, ...later] = items;
    if (first?.id !== id) continue;
    const records: [TurnRecord, ...TurnRecord[]] = [first];
    for (const record of later)
      if (record.input.type !== "message" && record.after === records.at(-1)?.id) records.push(record);
    stored.push({ id, thread, title, seq, preamble: preambleOf(preamble), records });
  }
  return stored;
}

export const itemsOf = ({ records }: StoredTurn): readonly TurnItem[] =>
  records.flatMap(({ items }) => items);

export const callsIn = (items: readonly TurnItem[]): ComparedSide["calls"] =>
  items.flatMap((item) =>
    item.type === "tool_call" ? [{ name: item.call.name, params: item.call.params }] : [],
  );

/** What came of the turn when it ran. */
export function storedSide(
  { addUsage }: Pick<Services["models"], "addUsage">,
  stored: StoredTurn,
): ComparedSide {
  const { records } = stored;
  const items = itemsOf(stored);
  return {
    model: records[0].model,
    answer: answerText({ items }),
    calls: callsIn(items),
    usage: records.reduce((sum, { usage }) => addUsage(sum, usage), NO_USAGE),
    millis: records.reduce((sum, { createdAt, completedAt }) => sum + between(createdAt, completedAt), 0),
    questions: records.reduce((sum, record) => sum + questionsOf(record), 0),
  };
}

const between = (from: string, to = from): number => Math.max(0, Date.parse(to) - Date.parse(from));

const questionsOf = ({ gate }: TurnRecord): number =>
  gate?.type === "approval" ? 1 + (gate.others?.length ?? 0) : 0;
