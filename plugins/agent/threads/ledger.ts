/** Turns as they are opened and, after a crash, closed. What was written is never lost. */

import { INTERRUPTED } from "../../../kernel/kit/turns.ts";
import type { Sql, TokenScope, Transaction, TurnItem } from "../../../kernel/plugin.ts";
import type { Node } from "../../store/services.ts";
import { scopesOf } from "../safety/scope.ts";
import type { Turn } from "../services.ts";
import { dropQueued, type QueuedRequest, readQueued } from "./queued.ts";
import { type Beginning, PLAIN } from "./resume.ts";
import { COUNT_TURN } from "./tables.ts";
import { threadTexts } from "./texts.ts";
import { findThread, readTools, removeThread } from "./thread-row.ts";
import { closeGate, createTurnOpener, type OpenTurn } from "./turn-opener.ts";
import { dropPieces, type OwnTurn, readPieces, writeItem } from "./turns/items.ts";
import { putBackMessages, unheardIn } from "./waiting.ts";
import { createTurnWriter, type TurnWriter } from "./writing/writer.ts";

export const CUT_SHORT = {
  code: INTERRUPTED,
  message: "The turn was interrupted by a restart. What it had done so far is kept.",
} as const;

export interface LedgerTurn<Writer = TurnWriter> {
  readonly turn: Turn;
  readonly beginning: Beginning;
  /** Every one of them limits the turn. */
  readonly scopes: readonly TokenScope[];
  readonly writer: Writer;
  /** Others of its thread are open: it has to wait for `writer.begin`. */
  readonly hasToWait: boolean;
}

export interface TakenOver {
  readonly id: string;
  readonly thread: string;
  readonly user: string;
}

export type Ledger = ReturnType<typeof createLedger>;

const OPEN = "status IN ('queued', 'running')";
const COUNT_INTERRUPTED = `INSERT INTO turn_figures
    (created_at, turn, seq, "user", channel, provider, model, status, input_tokens, output_tokens, usd, millis)
  SELECT created_at, id, seq, "user", channel, provider, model, 'failed', 0, 0, 0, 0 FROM turns WHERE id = ?`;
/** SQL, for a row of turns: not null if it waits in line and can still run. */
const REQUEST = `(SELECT request FROM queued_turns WHERE turn = turns.id AND turns.status = 'queued' AND stop_asked = 0)`;
const INTERRUPT = "UPDATE turns SET status = 'failed', error = ?, completed_at = ? WHERE id = ?";

export function createLedger(sql: Sql, node: Pick<Node, "id" | "living">) {
  const texts = threadTexts(sql);
  const openTurn = createTurnOpener(sql, texts, node.id);
  // This node's own are for it to say.
  const orphaned = `${OPEN} AND (node IS NULL OR node = '${node.id}' OR node NOT IN ${node.living})`;

  async function interrupt(tx: Transaction, turn: string, thread: string): Promise<void> {
    const said = await readPieces(tx, turn);
    for (const item of said) await writeItem(tx, { id: turn, node: node.id }, item);
    const read = "SELECT body FROM turn_items WHERE turn = ? ORDER BY seq";
    const rows = await tx.all<{ body: string }>(read, turn);
    const items = rows.map(({ body }) => JSON.parse(body) as TurnItem);
    const unheard = unheardIn(items);
    putBackMessages(tx, { id: turn, node: node.id, thread }, unheard);
    await Promise.all([
      dropPieces(tx, turn),
      dropQueued(tx, turn),
      texts.removeTurn(tx, turn),
      tx.run(INTERRUPT, JSON.stringify(CUT_SHORT), new Date().toISOString(), turn),
    ]);
    // What it had used up is not known.
    await tx.run(COUNT_INTERRUPTED, turn);
    tx.last(COUNT_TURN, turn, node.id, thread);
    for (const item of items.slice(0, items.length - unheard.length)) {
      if (item.type === "message" && item.text !== "") texts.addMessage(tx, item.id, thread, item.text);
    }
  }

  /** False for a thread that is to be kept. */
  async function forget(tx: Transaction, thread: string): Promise<boolean> {
    if ((await tx.get("SELECT 1 FROM threads WHERE id = ? AND ephemeral = 1", thread)) === undefined)
      return false;
    await texts.removeThreads(tx, [thread]);
    await removeThread(tx, thread);
    return true;
  }

  /** Nothing is left of a message that was not read. False where it does not wait any more. */
  async function dropWaiting(tx: Transaction, turn: string, thread: string): Promise<boolean> {
    if ((await tx.run("DELETE FROM turns WHERE id = ? AND status = 'queued'", turn)) === 0) return false;
    await tx.run("UPDATE threads SET turns = turns - 1 WHERE id = ?", thread);
    return true;
  }

  return {
    thread: (user: string, id: string) => findThread(sql, user, id),
    tools: (user: string, thread: string) => readTools(sql, user, thread),

    /** Opens the turn, and its thread where it has none; a resumed gate is closed in the same step. On disk when it resolves. */
    async open(...[turn, model, options]: Parameters<OpenTurn>): Promise<LedgerTurn> {
      const opened = await openTurn(turn, model, options);
      const isWinning = turn.input.type !== "message" && opened.gate?.callersToolsWin;
      return {
        turn: {
          ...turn,
          answer: {
            ...turn.answer,
            tools: turn.answer?.tools ?? opened.tools ?? [],
            callersToolsWin: isWinning || turn.answer?.callersToolsWin,
          },
          work: {
            ...turn.work,
            task: turn.input.type === "message" ? turn.work?.task : opened.gate?.task,
          },
        },
        beginning: opened.beginning,
        scopes: scopesOf(turn, opened.gate),
        writer: createTurnWriter({ sql, texts, node }, { turn, model, ...opened }),
        hasToWait: opened.status === "queued",
      };
    },

    /** The turn that has taken a message, by the id that this was accepted with. */
    async takerOf(message: string): Promise<string | undefined> {
      const row = await sql.get<{ turn: string }>("SELECT turn FROM turn_items WHERE id = ?", message);
      return row?.turn;
    },

    /** Returns the thread of a message that waited; undefined where it does not, or is not this user's. */
    takeBack: (user: string, turn: string) =>
      sql.transaction(async (tx) => {
        const find = `SELECT thread FROM turns WHERE id = ? AND "user" = ? AND status = 'queued'`;
        const found = await tx.get<{ thread: string }>(find, turn, user);
        if (found === undefined) return undefined;
        await findThread(tx, user, found.thread, sql.engine);
        return (await dropWaiting(tx, turn, found.thread)) ? found.thread : undefined;
      }),

    /** Gives up on the caller's function that this turn left its thread waiting for. True where there was one. */
    release: (user: string, turn: string) =>
      sql.transaction(async (tx) => {
        const find = `SELECT threads.id AS thread FROM threads JOIN turns ON turns.thread = threads.id
          WHERE turns.id = ? AND turns."user" = ? AND threads.gate IS NOT NULL`;
        const found = await tx.get<{ thread: string }>(find, turn, user);
        const row = found && (await findThread(tx, user, found.thread, sql.engine));
        const gate = row?.gate;
        // Gates for people stay: they are denied, not cancelled.
        if (row === undefined || gate?.type !== "external_tool" || gate.turn !== turn) return false;
        await closeGate(tx, row.id, gate);
        return true;
      }),

    /**
     * Closes what nodes that are gone left open, and what this one opened without hearing of it. Returns what it has closed. Turns that
     * were waiting and may still run are this node's from then on: see `waiting`.
     */
    async takeOver(isOurs: (turn: string) => boolean): Promise<readonly TakenOver[]> {
      const open = await sql.all<{ id: string }>(`SELECT id FROM turns WHERE ${orphaned} ORDER BY seq`);
      const taken: TakenOver[] = [];
      for (const { id } of open) {
        if (isOurs(id)) continue;
        const row = await sql.transaction(async (tx) => {
          // When two nodes find it, the one that marks it closes it.
          const mark = `UPDATE turns SET node = ? WHERE id = ? AND ${orphaned} RETURNING thread, "user", ${REQUEST} AS request`;
          const found = await tx.get<Omit<TakenOver, "id"> & { request: string | null }>(mark, node.id, id);
          if (found === undefined) return undefined;
          if (found.request !== null) {
            // A job runs again by itself, as another turn.
            const { work } = JSON.parse(found.request) as QueuedRequest;
            if (work?.job !== undefined) await dropWaiting(tx, id, found.thread);
            return undefined;
          }
          if (!(await forget(tx, found.thread))) await interrupt(tx, id, found.thread);
          return { thread: found.thread, user: found.user };
        });
        if (row !== undefined) taken.push({ id, ...row });
      }
      return taken;
    },

    /** The turns of this node that wait in line and came before it started, oldest first. */
    async waiting(isOurs: (turn: string) => boolean): Promise<readonly LedgerTurn[]> {
      const queued = await readQueued(sql, node.id, isOurs);
      const opened = queued.map(async ({ turn, model, createdAt, ...place }) => {
        const { id, thread, user } = turn;
        const start = { ...place, id, thread, now: createdAt, beginning: PLAIN, status: "queued" as const };
        const before = await findThread(sql, user, thread);
        const writer = createTurnWriter(
          { sql, texts, node },
          { ...start, turn, model, before, tools: turn.answer?.tools, gate: undefined },
        );
        return { turn, beginning: PLAIN, scopes: scopesOf(turn), writer, hasToWait: true };
      });
      return await Promise.all(opened);
    },

    /** Asks the nodes of these open turns to stop them, and returns which nodes those are. */
    askToStop({ user, id, thread }: { user?: string; id?: string; thread?: string }) {
      const given = Object.entries({ '"user"': user, id, thread }).filter(([, value]) => value !== undefined);
      const which = given.map(([name]) => `AND ${name} = ?`).join(" ");
      const ask = `UPDATE turns SET stop_asked = 1 WHERE ${OPEN} ${which} RETURNING id, node`;
      return sql.all<OwnTurn>(ask, ...given.map(([, value]) => value as string));
    },

    async busyThreads(user: string): Promise<readonly string[]> {
      const find = `SELECT DISTINCT thread FROM turns WHERE "user" = ? AND ${OPEN}`;
      return (await sql.all<{ thread: string }>(find, user)).map(({ thread }) => thread);
    },

    /** Turns of this node that another wants stopped. */
    async askedToStop(): Promise<readonly string[]> {
      const find = `SELECT id FROM turns WHERE ${OPEN} AND node = ? AND stop_asked = 1`;
      const rows = await sql.all<{ id: string }>(find, node.id);
      return rows.map(({ id }) => id);
    },
  };
}
