/** Turns as they are opened and, after a crash, closed. What was written is never lost. */
import type { Alongside, Gate, ModelName, Sql, Transaction, Turn, TurnItem } from "../../../kernel/plugin.ts";
import type { Beginning } from "../turn/resume.ts";
import { createTurnWriter, type TurnWriter } from "../turn/writer.ts";
import { writeItem } from "./items.ts";
import { closeGate, createOpening } from "./opening.ts";
import { dropPieces, readPieces } from "./pieces.ts";
import { threadTexts } from "./texts.ts";
import { findThread, lockThread, type ThreadRow } from "./thread-row.ts";

export const INTERRUPTED = {
  code: "interrupted",
  message: "The turn was interrupted by a restart. What it had done so far is kept.",
} as const;

export interface LedgerTurn {
  /** With the tools that it may call. */
  readonly turn: Turn;
  readonly beginning: Beginning;
  readonly writer: TurnWriter;
  /** Others of its thread are open: it has to wait for `writer.begin`. */
  readonly hasToWait: boolean;
}

export interface Ledger {
  thread(user: string, id: string): Promise<ThreadRow | undefined>;
  /** Opens the turn, and its thread where it has none; a resumed gate is closed in the same step. On disk when it resolves. */
  open(
    turn: Turn & { readonly id: string },
    model: ModelName,
    options: { readonly isIdGiven: boolean; readonly alongside: Alongside | undefined },
  ): Promise<LedgerTurn>;
  /** Gives up on the caller's function that this turn left its thread waiting for. True where there was one. */
  release(user: string, turn: string): Promise<boolean>;
  /** Closes what a crash left open. */
  recover(): Promise<number>;
}

export function createLedger(sql: Sql): Ledger {
  const texts = threadTexts(sql);
  const openTurn = createOpening(sql, texts);

  async function interrupt(tx: Transaction, turn: string, thread: string): Promise<void> {
    const said = await readPieces(tx, turn);
    if (said) await writeItem(tx, turn, said);
    const [items] = await Promise.all([
      tx.all<{ body: string }>("SELECT body FROM turn_items WHERE turn = ? ORDER BY seq", turn),
      dropPieces(tx, turn),
      texts.removeTurn(tx, turn),
      tx.run(
        "UPDATE turns SET status = 'failed', error = ?, completed_at = ? WHERE id = ?",
        JSON.stringify(INTERRUPTED),
        new Date().toISOString(),
        turn,
      ),
    ]);
    for (const { body } of items) {
      const item = JSON.parse(body) as TurnItem;
      if (item.type === "message" && item.text !== "") texts.addMessage(tx, item.id, thread, item.text);
    }
  }

  return {
    thread: (user, id) => findThread(sql, user, id),

    async open(turn, model, options) {
      const opened = await openTurn(turn, model, options);
      const { before, status, beginning } = opened;
      const tools = turn.tools ?? (turn.input.type === "message" ? [] : (before?.tools ?? []));
      return {
        turn: { ...turn, tools },
        beginning,
        writer: createTurnWriter({ sql, texts }, { turn, model, ...opened }),
        hasToWait: status === "queued",
      };
    },

    release: (user, turn) =>
      sql.transaction(async (tx) => {
        const found = await tx.get<{ thread: string }>(
          `SELECT threads.id AS thread FROM threads JOIN turns ON turns.thread = threads.id
           WHERE turns.id = ? AND turns."user" = ? AND threads.gate IS NOT NULL`,
          turn,
          user,
        );
        const row = found && (await lockThread(tx, sql.engine, user, found.thread));
        const gate: Gate | undefined = row?.gate;
        // Gates for people stay: they are denied, not cancelled.
        if (row === undefined || gate?.type !== "external_tool" || gate.turn !== turn) return false;
        await closeGate(tx, row.id, gate);
        return true;
      }),

    recover: () =>
      sql.transaction(async (tx) => {
        const open = await tx.all<{ id: string; thread: string }>(
          "SELECT id, thread FROM turns WHERE status IN ('queued', 'running')",
        );
        for (const { id, thread } of open) await interrupt(tx, id, thread);
        return open.length;
      }),
  };
}
