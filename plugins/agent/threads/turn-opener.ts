/** Opens a turn, and its thread where it has none, in one transaction: a turn that is refused leaves nothing behind. */
import { randomUUIDv7 } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { giveWay } from "../../../kernel/kit/concurrency.ts";
import {
  Fault,
  type Gate,
  type ModelName,
  type Sql,
  type Transaction,
  type TurnInput,
  type TurnItem,
  type TurnStatus,
} from "../../../kernel/plugin.ts";
import type { Alongside, ExternalTool, Turn } from "../services.ts";
import { countAnswer } from "./answered-questions.ts";
import { writeAttachments } from "./attachments/stored.ts";
import { writeQueued } from "./queued.ts";
import { type Beginning, beginningOf, isBlank } from "./resume.ts";
import { COUNT_TURN } from "./tables.ts";
import { MAX_INDEXED_LENGTH, type ThreadTexts } from "./texts.ts";
import {
  findThread,
  IS_LISTED,
  keepsTools,
  noThread,
  readTools,
  type ThreadRow,
  writeTools,
} from "./thread-row.ts";
import { titleOf } from "./title.ts";
import { findOrigin, followAnswers, moveToGate, moveTurn, type Origin, threadAt } from "./turns/branch.ts";
import { writeBody, writeItem } from "./turns/items.ts";
import { addTurn, countOpen, inputText, openOn, type TurnPosition } from "./turns/turn-rows.ts";

export interface OpenedTurn {
  readonly id: string;
  readonly thread: string;
  readonly seq: number;
  /** Queued where others of its thread are open. */
  readonly status: TurnStatus;
  readonly now: string;
  readonly items: TurnItem[];
  readonly beginning: Beginning;
  readonly before: ThreadRow | undefined;
  /** The caller's tools as the thread has them, where the turn says nothing of them and goes on with those. */
  readonly tools: readonly ExternalTool[] | undefined;
  /** The gate of the turn it continues from, which it answers or has nothing to do with. */
  readonly gate: Gate | undefined;
  /** Not all that came before it on its thread is its past. */
  readonly isBranched: boolean;
  /** The turn that it goes on from; undefined at the beginning of its thread. */
  readonly after: string | undefined;
}

// Others have their turn while a long history is written.
const ITEMS_AT_A_STRETCH = 250;
// Indexing is done at a stretch: a longer history is found by its newest messages.
const MAX_INDEXED_HISTORY = 100_000;

// A thread is a conversation: more than this many messages ahead of the answer is a caller gone wrong.
const MAX_WAITING = 4;

export type OpenTurn = (
  turn: Turn & { readonly id: string },
  model: ModelName,
  options: { readonly isIdGiven: boolean; readonly alongside: Alongside | undefined },
) => Promise<OpenedTurn>;

/** SQL: the thread takes a message at once. Its values are the thread and the user. */
const PLAIN = `SELECT 1 FROM threads WHERE id = ? AND "user" = ? AND ${IS_LISTED} AND gate IS NULL
  AND ${openOn("threads.id")} <= ${MAX_WAITING}`;
/** SQL, after that: the turn to go on from, its value, is one of that thread's turns and asked nothing. */
const FROM = `AND EXISTS (SELECT 1 FROM turns WHERE turns.id = ? AND thread = threads.id AND turns."user" = threads."user"
  AND turns.gate IS NULL)`;

/** Something has to be looked at before the turn can be opened, or refused. */
class NotPlain extends Error {}

function demandPlain(tx: Transaction, thread: string, { user, after }: Turn): void {
  if (typeof after !== "string") tx.demand(new NotPlain(), PLAIN, thread, user);
  else tx.demand(new NotPlain(), `${PLAIN} ${FROM}`, thread, user, after);
}

/**
 * A message on a new thread, or on one that waits for nothing, is opened without a look at what is there: the database itself
 * refuses where that is not so, and one on another machine is asked once. Anything else, and a turn whose id its caller chose, is
 * judged before the commit; its statements are issued together all the same, and what must not be is rolled back.
 */
export function createTurnOpener(sql: Sql, texts: ThreadTexts, node: string): OpenTurn {
  return async (turn, model, { isIdGiven, alongside }) => {
    const now = new Date().toISOString();
    const thread = turn.thread ?? randomUUIDv7();
    const isNew = turn.thread === undefined;
    const isMessage = turn.input.type === "message" && !turn.preamble?.history?.length && !isBlank(turn);
    const { id } = turn;
    const items = itemsOf(turn);
    const bodies = items.map((item) => [item.id, JSON.stringify(item)] as const);
    await giveWay(bodies.reduce((sum, [, { length }]) => sum + length, 0));
    const input = await inputText(turn.input);
    const plain = isNew || isMessage ? beginningOf(turn, undefined) : undefined;
    if (turn.keeping?.ephemeral && !isNew) {
      const message = "A turn that leaves nothing behind needs a new thread.";
      throw new Fault("invalid", "ephemeral_on_thread", message, { param: "thread" });
    }

    const attempt = (isPlain: boolean) =>
      sql.transaction(async (tx) => {
        const found = isNew ? undefined : findThread(tx, turn.user, thread, sql.engine);
        if (isPlain) demandPlain(tx, thread, turn);
        const isJudged = !isNew && !isPlain;
        const ahead = isJudged ? countOpen(tx, thread) : undefined;
        const origin = turn.after === undefined || isPlain ? undefined : findOrigin(tx, turn, turn.thread);
        const tools = isNew || !keepsTools(turn) ? undefined : readTools(tx, turn.user, thread);
        const touched = isNew ? undefined : touchThread(tx, thread, turn, now);
        if (isNew) addThread(tx, thread, turn, now);
        for (const answer of [found, ahead, origin, tools, touched]) answer?.catch(() => {});
        const imported = turn.preamble?.history?.length
          ? await importHistory(tx, thread, turn, model, now)
          : undefined;
        // An imported turn is what it continues from.
        const { after: _, ...next } = turn;
        const row = { id, thread, input, model, now, node, isOver: false, isNew };
        const placed = addTurn(tx, { ...row, turn: imported === undefined ? turn : next });
        for (const [item, body] of bodies) void writeBody(tx, { id, node }, item, body);
        if (!isNew) writeQueued(tx, id, turn);
        writeTools(tx, thread, turn, isNew);
        const gate = (async () => (isJudged ? (await found)?.gate : undefined))();
        const besides = alongside?.(tx, { id, thread, gate });
        // If one failed first, the answers of the others do not matter.
        for (const answer of [placed, gate, besides]) answer?.catch(() => {});
        if (isIdGiven && (await placed) === undefined && (isNew || (await found) !== undefined))
          throw new Fault("invalid", "turn_exists", `The turn ${id} already exists.`, { param: "id" });
        let beginning = plain;
        let answered: Gate | undefined;
        let moved: Origin | undefined;
        if (isNew) await origin;
        if (isJudged) {
          const before = await found;
          if (before === undefined) throw noThread(thread, "thread");
          const from = await origin;
          // If the person asked has answered since, the first of the new turns continues from that.
          const at = from && (await followAnswers(tx, before, from));
          if (at && at !== from) await moveTurn(tx, { id: imported ?? id, thread }, at.seq);
          if (at !== from && imported === undefined) moved = at;
          const row = at ? threadAt(before, at, turn.input) : before;
          answered = row.gate;
          beginning = beginningOf(turn, row);
          const isElsewhere = turn.after === undefined && turn.input.type !== "message";
          if (isElsewhere && answered !== undefined && (await touched)?.branched === 1)
            moved = await moveToGate(tx, { id, thread, seq: ((await placed) as TurnPosition).seq }, answered);
          refuseBusy((await ahead) ?? 0);
          if (closes(turn, before.gate)) {
            countAnswer(tx, turn, before.gate, now);
            await closeGate(tx, thread, before.gate);
          }
        }
        writeAttachments(tx, thread, turn);
        await besides;
        return { found, placed, touched, imported, moved, tools, beginning, gate: answered };
      });

    const opened = attempt(!isNew && isMessage && !isIdGiven).catch((error: unknown) => {
      if (error instanceof NotPlain) return attempt(false);
      throw error;
    });
    const { found, placed, touched, imported, moved, tools, beginning, gate } = await opened;
    // Asked for after the commit, so that a plain message needs no answer before it.
    const { seq, status, parent } = (await placed) as TurnPosition;
    return {
      ...{ id, thread, seq, status, now, items, gate },
      beginning: beginning as Beginning,
      before: await found,
      tools: await tools,
      isBranched: (await touched)?.branched === 1,
      after: imported ?? moved?.id ?? parent ?? undefined,
    };
  };

  /** A new thread with what the turn brings, which is a turn more where it brings history. */
  function addThread(tx: Transaction, id: string, turn: Turn, now: string): void {
    const title = titleOf(turn);
    const { provider = null, name = null } = turn.answer?.model ?? {};
    const columns = {
      id,
      user: turn.user,
      title,
      titled_by: turn.keeping?.wantsTitle ? null : "message",
      channel: turn.channel,
      created_at: now,
      updated_at: now,
      turns: turnsOf(turn),
      ephemeral: turn.keeping?.ephemeral ? 1 : 0,
      provider,
      model: name,
    };
    const names = Object.keys(columns).map((column) => `"${column}"`);
    const add = `INSERT INTO threads (${names}) VALUES (${names.map(() => "?")})`;
    void tx.run(add, ...Object.values(columns));
    if (!turn.keeping?.ephemeral) texts.addTitle(tx, id, title);
  }

  /** Earlier items that the caller brought are a turn of their own, so that this one holds only what is its. */
  async function importHistory(
    tx: Transaction,
    thread: string,
    turn: Turn,
    model: ModelName,
    now: string,
  ): Promise<string> {
    const id = randomUUIDv7();
    const { preamble: _, ...bare } = turn;
    const input = JSON.stringify({ type: "message", text: "" } satisfies TurnInput);
    const isNew = turn.thread === undefined;
    void addTurn(tx, { id, thread, isNew, turn: bare, input, model, now, node, isOver: true });
    const history = turn.preamble?.history ?? [];
    let unindexed = history.reduce((sum, item) => sum + indexedLength(item), 0);
    for (const [at, given] of history.entries()) {
      const item = { ...given, id: randomUUIDv7() };
      void writeItem(tx, { id, node }, item);
      if (
        item.type === "message" &&
        item.text !== "" &&
        !turn.keeping?.ephemeral &&
        unindexed <= MAX_INDEXED_HISTORY
      )
        texts.addMessage(tx, item.id, thread, item.text);
      unindexed -= indexedLength(item);
      if (at % ITEMS_AT_A_STRETCH === ITEMS_AT_A_STRETCH - 1) await setImmediate();
    }
    tx.last(COUNT_TURN, id, node, thread);
    return id;
  }
}

const indexedLength = (item: TurnItem): number =>
  item.type === "message" ? Math.min(item.text.length, MAX_INDEXED_LENGTH) : 0;

function itemsOf({ input, preamble }: Turn): TurnItem[] {
  if (input.type !== "message") return [];
  const { type, text, attachments } = input;
  if (text === "" && !attachments?.length) return [];
  const origins = preamble?.origins;
  const known = origins?.length ? { origins: [...origins] } : {};
  return [{ type, id: randomUUIDv7(), role: "user", text, attachments, ...known }];
}

const turnsOf = ({ preamble }: Turn): number => (preamble?.history?.length ? 2 : 1);

const BRANCHES = `CASE WHEN EXISTS (
  SELECT 1 FROM turns AS later WHERE later.thread = threads.id AND later.seq > (
    SELECT seq FROM turns AS origin WHERE origin.id = CAST(? AS TEXT))) THEN 1 ELSE branched END`;

function touchThread(tx: Transaction, thread: string, turn: Turn, now: string) {
  const { after } = turn;
  const branched = after === undefined ? "branched" : after === null ? "1" : BRANCHES;
  const touch = `UPDATE threads SET turns = turns + ${turnsOf(turn)}, updated_at = ?, branched = ${branched}
    WHERE id = ? AND "user" = ? RETURNING branched`;
  return tx.get<{ branched: number }>(
    touch,
    now,
    ...(typeof after === "string" ? [after] : []),
    thread,
    turn.user,
  );
}

/** A new branch does without the answer that another waits for, unless a person has to give it. */
function closes({ after, input }: Turn, gate: Gate | undefined): boolean {
  if (after === undefined) return input.type !== "message";
  return gate?.type === "external_tool" || gate?.type === input.type;
}

function refuseBusy(open: number): void {
  if (open <= MAX_WAITING) return;
  const message = `The thread is busy: ${open - 1} messages are waiting.`;
  throw new Fault("limited", "thread_busy", message, { retryAfterSecs: 5 });
}

export async function closeGate(tx: Transaction, thread: string, gate: Gate | undefined): Promise<void> {
  if (gate === undefined) return;
  await Promise.all([
    tx.run("UPDATE threads SET gate = NULL, pending = NULL, required = NULL WHERE id = ?", thread),
    tx.run("UPDATE turns SET status = 'completed' WHERE id = ? AND status = 'waiting'", gate.turn),
  ]);
}
