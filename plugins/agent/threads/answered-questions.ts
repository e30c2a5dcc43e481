/** How a person answers questions, for their own eyes: a yes that nobody looked at protects nobody. */
import type { AnsweredQuestions } from "../../../kernel/kit/turns.ts";
import type { Gate, Queries, Transaction } from "../../../kernel/plugin.ts";
import type { FiguresQuery, FiguresSpan } from "../../store/services.ts";
import type { Threads, Turn } from "../services.ts";

/** Of each user, the newest. */
const MAX_KEPT = 500;

/** From so many answers on, with so large a share of yes, half of them this fast: not read. */
const HASTY = { count: 10, share: 0.95, millis: 1500 };

/** Counts the answer that closes a gate. Answers of a token with a scope are a program's. */
export function countAnswer(
  tx: Transaction,
  { user, input, scope }: Turn,
  gate: Gate | undefined,
  now: string,
): void {
  if (input.type !== "approval" || gate === undefined || scope !== undefined) return;
  const since = Math.max(0, Date.parse(now) - Date.parse(gate.openedAt));
  const millis = Math.min(since, input.lookedMs ?? since);
  const add = `INSERT INTO answered_questions (gate, "user", answered_at, yes, millis) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO NOTHING`;
  void tx.run(add, gate.id, user, now, input.decision === "deny" ? 0 : 1, millis);
  const prune = `DELETE FROM answered_questions WHERE "user" = ? AND answered_at < (SELECT answered_at FROM answered_questions
    WHERE "user" = ? ORDER BY answered_at DESC LIMIT 1 OFFSET ${MAX_KEPT - 1})`;
  void tx.run(prune, user, user);
}

export async function readAnswers(
  queries: Queries,
  user: string,
  { since, until }: FiguresSpan,
): Promise<AnsweredQuestions> {
  const find = `SELECT yes, millis FROM answered_questions WHERE "user" = ? AND answered_at >= ? AND answered_at < ?
    ORDER BY millis`;
  const rows = await queries.all<{ yes: number; millis: number }>(find, user, since, until);
  const count = rows.length;
  const yes = rows.filter((row) => row.yes === 1).length;
  const p50 = rows[Math.ceil(count / 2) - 1]?.millis;
  const isHasty =
    count >= HASTY.count && yes >= count * HASTY.share && p50 !== undefined && p50 <= HASTY.millis;
  return { count, yes, p50, isHasty };
}

/** What goes with the usage that somebody looks at: their own answers, and nothing beside figures of others. */
export async function ownAnswers(
  { answered }: Pick<Threads, "answered">,
  user: string,
  { spans, by, user: named = user }: FiguresQuery,
): Promise<AnsweredQuestions | undefined> {
  const [first, last] = [spans[0], spans.at(-1)];
  if (named !== user || by === "user" || first === undefined || last === undefined) return undefined;
  return await answered(user, { since: first.since, until: last.until });
}
