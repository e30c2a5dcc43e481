/** Turns as they are opened and, after a crash, closed. What was written is never lost. */
import { type Alongside, INTERRUPTED, type Node } from "../../../kernel/kit.ts";
import type {
  ExternalTool,
  Gate,
  ModelName,
  Sql,
  TokenScope,
  Transaction,
  Turn,
  TurnItem,
} from "../../../kernel/plugin.ts";
import { scopesOf } from "../safety/scope.ts";
import { closeGate, createOpening } from "./opening.ts";
import type { Beginning } from "./resume.ts";
import { threadTexts } from "./texts.ts";
import { findThread, lockThread, readTools, removeThread, type ThreadRow } from "./thread-row.ts";
import { type OwnTurn, writeItem } from "./turns/items.ts";
import { dropPieces, readPieces } from "./turns/pieces.ts";
import { createTurnWriter, type TurnWriter } from "./writing/writer.ts";

export const CUT_SHORT = {
  code: INTERRUPTED,
  message: "The turn was interrupted by a restart. What it had done so far is kept.",
} as const;

export interface LedgerTurn {
  /** With the tools that it may call. */
  readonly turn: Turn;
  readonly beginning: Beginning;
  /** Every one of them limits the turn. */
  readonly scopes: readonly TokenScope[];
  readonly writer: TurnWriter;
  /** Others of its thread are open: it has to wait for `writer.begin`. */
  readonly hasToWait: boolean;
}

export interface TakenOver {
  readonly id: string;
  readonly thread: string;
  readonly user: string;
}

export interface Ledger {
  thread(user: string, id: string): Promise<ThreadRow | undefined>;
  /** The caller's tools, as the thread has them. */
  tools(user: string, thread: string): Promise<readonly ExternalTool[]>;
  /** Opens the turn, and its thread where it has none; a resumed gate is closed in the same step. On disk when it resolves. */
  open(
    turn: Turn & { readonly id: string },
    model: ModelName,
    options: { readonly isIdGiven: boolean; readonly alongside: Alongside | undefined },
  ): Promise<LedgerTurn>;
  /** Gives up on the caller's function that this turn left its thread waiting for. True where there was one. */
  release(user: string, turn: string): Promise<boolean>;
  /**
   * Closes what nodes that are gone left open, and what this one opened without hearing of it. Answers what it has
   * closed.
   */
  takeOver(isOurs: (turn: string) => boolean): Promise<readonly TakenOver[]>;
  /** Asks the nodes of these open turns to stop them, and answers which nodes those are. */
  askToStop(turns: {
    readonly user?: string;
    readonly id?: string;
    readonly thread?: string;
  }): Promise<readonly OwnTurn[]>;
  /** Turns of this node that another wants stopped. */
  askedToStop(): Promise<readonly string[]>;
}

const OPEN = "status IN ('queued', 'running')";

export function createLedger(sql: Sql, node: Pick<Node, "id" | "living">): Ledger {
  const texts = threadTexts(sql);
  const openTurn = createOpening(sql, texts, node.id);
  // This node's own are for it to say.
  const orphaned = `${OPEN} AND (node IS NULL OR node = '${node.id}' OR node NOT IN ${node.living})`;

  async function interrupt(tx: Transaction, turn: string, thread: string): Promise<void> {
    const said = await readPieces(tx, turn);
    for (const item of said) await writeItem(tx, { id: turn, node: node.id }, item);
    const [items] = await Promise.all([
      tx.all<{ body: string }>("SELECT body FROM turn_items WHERE turn = ? ORDER BY seq", turn),
      dropPieces(tx, turn),
      texts.removeTurn(tx, turn),
      tx.run(
        // What it had used up is not known.
        `UPDATE turns SET status = 'failed', error = ?, completed_at = ?, input_tokens = 0, output_tokens = 0, usd = 0, millis = 0
         WHERE id = ?`,
        JSON.stringify(CUT_SHORT),
        new Date().toISOString(),
        turn,
      ),
    ]);
    for (const { body } of items) {
      const item = JSON.parse(body) as TurnItem;
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

  return {
    thread: (user, id) => findThread(sql, user, id),
    tools: (user, thread) => readTools(sql, user, thread),

    async open(turn, model, options) {
      const opened = await openTurn(turn, model, options);
      const { status, beginning } = opened;
      const tools = turn.tools ?? opened.tools ?? [];
      return {
        turn: {
          ...turn,
          tools,
          ...(turn.input.type !== "message" && opened.gate?.callersToolsWin && { callersToolsWin: true }),
        },
        beginning,
        scopes: scopesOf(turn, opened.gate),
        writer: createTurnWriter({ sql, texts, node: node.id }, { turn, model, ...opened }),
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

    async takeOver(isOurs) {
      const open = await sql.all<{ id: string }>(`SELECT id FROM turns WHERE ${orphaned} ORDER BY seq`);
      const taken: TakenOver[] = [];
      for (const { id } of open) {
        if (isOurs(id)) continue;
        const row = await sql.transaction(async (tx) => {
          // When two nodes find it, the one that marks it closes it.
          const found = await tx.get<Omit<TakenOver, "id">>(
            `UPDATE turns SET node = ? WHERE id = ? AND ${orphaned} RETURNING thread, "user"`,
            node.id,
            id,
          );
          if (found !== undefined && !(await forget(tx, found.thread))) await interrupt(tx, id, found.thread);
          return found;
        });
        if (row !== undefined) taken.push({ id, ...row });
      }
      return taken;
    },

    askToStop({ user, id, thread }) {
      const given = Object.entries({ '"user"': user, id, thread }).filter(([, value]) => value !== undefined);
      return sql.all<OwnTurn>(
        `UPDATE turns SET stop_asked = 1 WHERE ${OPEN} ${given.map(([name]) => `AND ${name} = ?`).join(" ")} RETURNING id, node`,
        ...given.map(([, value]) => value as string),
      );
    },

    async askedToStop() {
      const rows = await sql.all<{ id: string }>(
        `SELECT id FROM turns WHERE ${OPEN} AND node = ? AND stop_asked = 1`,
        node.id,
      );
      return rows.map(({ id }) => id);
    },
  };
}
