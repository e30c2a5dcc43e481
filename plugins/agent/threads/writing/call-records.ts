/**
 * What calls of the agent's own tools have done for a job, recorded in the transaction of the change. If the job is run again after a crash,
 * a call that it makes again is answered with the outcome of the first, and nothing is done twice.
 */
import { hash, randomUUIDv7 } from "node:crypto";
import { Fault, type Queries, type Transaction } from "../../../../kernel/plugin.ts";
import type { CallRecord } from "../../services.ts";
import type { OwnTurn } from "../turns/items.ts";

export type CallRecords = ReturnType<typeof createCallRecords>;
export type RecordedCall = ReturnType<CallRecords["call"]>;

export interface RecordedRow extends Pick<CallRecord, "about"> {
  readonly id: string;
  readonly turn: string;
  readonly asked: string;
  readonly note: string | null;
  readonly outcome: string | null;
}

export function createCallRecords(sql: Queries, { id: turn, node }: OwnTurn, job: string) {
  const found = new Set<string>();
  const failed = new Set<string>();
  /** What the planned calls of an answer ask that have not looked for their records yet. */
  const planned: string[] = [];
  return {
    call(tool: string, params: unknown) {
      const id = randomUUIDv7();
      const asked = hash(
        "sha256",
        JSON.stringify([tool, Object.entries(params as object).sort()]),
        "base64url",
      );
      planned.push(asked);
      return {
        /**
         * What an earlier attempt has recorded of this call, or the same call of this attempt, which failed although its commit was made. Throws
         * if an earlier attempt has changed something with a call that neither this one nor another of the same answer repeats: this may be
         * that call in other words.
         */
        async find(): Promise<
          (Pick<CallRecord, "outcome" | "note"> & { readonly row: RecordedRow }) | undefined
        > {
          const all = `SELECT id, turn, asked, about, note, outcome FROM recorded_calls WHERE job = ? ORDER BY seq`;
          const isOpen = (row: RecordedRow) =>
            (row.turn !== turn || failed.has(row.id)) && !found.has(row.id);
          const rows = await sql.all<RecordedRow>(all, job);
          planned.splice(planned.indexOf(asked), 1);
          const open = rows.filter(isOpen);
          const row = open.find((one) => one.asked === asked);
          const others = open.filter((one) => one.turn !== turn);
          for (const one of planned) {
            const at = others.findIndex((other) => other.asked === one);
            if (at !== -1) others.splice(at, 1);
          }
          if (row === undefined && others.length > 0) throw notRepeated(others);
          if (row === undefined) return undefined;
          found.add(row.id);
          const { note, outcome } = row;
          return { row, note: note && JSON.parse(note), outcome: outcome ? JSON.parse(outcome) : undefined };
        },
        failed: (): void => void failed.add(id),
        /** It was not done after all. */
        forget: ({ id: earlier }: RecordedRow) => sql.run("DELETE FROM recorded_calls WHERE id = ?", earlier),
        async record(tx: Transaction, { about, note, outcome }: CallRecord): Promise<void> {
          // Whoever ends the turn, maybe on another node, waits for this transaction and finds what it has recorded, or came first.
          const lock = "UPDATE turns SET node = node WHERE id = ? AND node = ? AND status = 'running'";
          if ((await tx.run(lock, turn, node)) === 0)
            throw new Fault("turn", "thread_deleted", "The turn has ended, or its thread was deleted.");
          await tx.run(
            `INSERT INTO recorded_calls (id, job, turn, asked, about, note, outcome) VALUES (?, ?, ?, ?, ?, ?, ?)
             ON CONFLICT (id) DO UPDATE SET note = excluded.note, outcome = excluded.outcome`,
            ...[id, job, turn, asked, about],
            note === undefined ? null : JSON.stringify(note),
            outcome === undefined ? null : JSON.stringify(outcome),
          );
        },
      };
    },
    /** The job will not be run again, unless another node has taken the turn over: its attempt looks for what was done. */
    close: (tx: Transaction): Promise<number> =>
      tx.run(
        "DELETE FROM recorded_calls WHERE job = ? AND EXISTS (SELECT 1 FROM turns WHERE id = ? AND node = ?)",
        ...[job, turn, node],
      ),
  };
}

export function notRepeated(records: readonly Pick<CallRecord, "about">[]): Fault {
  const changed = [...new Set(records.map(({ about }) => about))].join(", ");
  const message = `An earlier attempt of this job was interrupted while changing ${changed}, so Postern cannot tell whether this change was already made. Check ${changed}, then submit the rest of the job again.`;
  return new Fault("turn", "not_repeated", message);
}
