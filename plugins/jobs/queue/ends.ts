/** How jobs end: it is stored once, and told to those who wait for it, on this node and others. */
import type { createBackground } from "../../../kernel/kit/concurrency.ts";
import { INTERRUPTED, isCutShort } from "../../../kernel/kit/turns.ts";
import type { Job, TurnRecord } from "../../../kernel/plugin.ts";
import type { Claimed } from "./claim.ts";
import { type Completion, completionOf, failure, STOPPED } from "./completion.ts";
import type { JobsParts } from "./parts.ts";
import { type JobRow, jobOf } from "./row.ts";
import type { From, JobTable } from "./table.ts";

const completedTopic = (id: string) => `job ${id}`;

function notRunAgain({ items }: TurnRecord): Completion {
  const called = new Set(items.flatMap((item) => (item.type === "tool_call" ? [item.call.name] : [])));
  const message = `The job was interrupted after it had called a tool with side effects, so it was not run again. It had called: ${[...called].join(", ")}. Check what it changed.`;
  return failure({ code: INTERRUPTED, message });
}

export function createEnds(
  { table, threads, store, log }: JobsParts,
  background: ReturnType<typeof createBackground>,
) {
  const listeners = new Set<(job: Job) => void>();
  const waiters = new Map<string, Set<(job: Job) => void>>();
  /** Writes that failed and are tried again by a later look. */
  const owed = new Map<string, () => Promise<unknown>>();

  async function complete(id: string, completion: Completion, from: From = {}): Promise<void> {
    const row = await table.complete(id, completion, from);
    if (row === undefined) return;
    const job = jobOf(row);
    // A turn that ends by itself has deleted them.
    if (completion.error)
      background.run(() => threads.forgetRecords(id), "what a job has recorded could not be deleted");
    const told = [...(waiters.get(id) ?? []), ...listeners];
    waiters.delete(id);
    background.run(
      () => store.signals.send(completedTopic(id), ""),
      "other nodes could not be told of a job",
    );
    for (const tell of told) {
      try {
        tell(job);
      } catch (error) {
        log.error({ error }, "a listener to jobs failed");
      }
    }
  }

  async function owe(id: string, write: () => Promise<unknown>): Promise<void> {
    owed.set(id, write);
    await write();
    owed.delete(id);
  }

  /** Runs again what was not begun in earnest; tells how the rest ended. */
  async function settle(row: JobRow): Promise<void> {
    const turn = row.turn === null ? undefined : await threads.turn(row.user, row.turn);
    const from = row.turn === null ? {} : { turn: row.turn };
    if (turn === undefined && row.thread !== null && (await threads.isBinned(row.user, row.thread)))
      await complete(row.id, STOPPED, from);
    else if (turn === undefined) await table.putBack(row);
    // Its node has died since turns were looked at, or could not store its end yet: a later look decides.
    else if (turn.status === "queued" || turn.status === "running") return;
    else if (!isCutShort(turn)) await complete(row.id, completionOf(turn), from);
    else if (await threads.hadSideEffects(turn.id)) await complete(row.id, notRunAgain(turn), from);
    // Its message may be in a turn that another began: it is said again.
    else await table.putBack(row, (tx) => threads.unsay(tx, turn.id, row.turn as string));
  }

  return {
    complete,
    settle,
    finish: ({ id, turn }: JobRow, completion: Completion): Promise<void> =>
      owe(id, () => complete(id, completion, turn === null ? {} : { turn })),
    /** Asks the store how a turn ended that did not end by itself. */
    reconsider: ({ id, turn }: Claimed): Promise<void> =>
      owe(id, async () => {
        const row = await table.find(id);
        if (row?.status === "running" && row.turn === turn) await settle(row);
      }),
    async retry(): Promise<void> {
      for (const [id, write] of owed) {
        await write();
        owed.delete(id);
      }
    },
    async wait(id: string, millis: number): Promise<Job | undefined> {
      const { promise, resolve } = Promise.withResolvers<void>();
      const tell = () => resolve();
      // In line before the first look, so that nothing completes unseen in between.
      const mine = waiters.get(id) ?? new Set();
      waiters.set(id, mine.add(tell));
      const listening = store.signals.listen(completedTopic(id), tell);
      const timer = setTimeout(resolve, millis);
      try {
        await Promise.race([listening.ready().catch(() => {}), promise]);
        const job = await findJob(table, id);
        if (job === undefined || job.status === "completed") return job;
        await promise;
        return await findJob(table, id);
      } finally {
        clearTimeout(timer);
        listening();
        mine.delete(tell);
        if (mine.size === 0 && waiters.get(id) === mine) waiters.delete(id);
      }
    },
    onCompleted(listener: (job: Job) => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

export async function findJob(table: JobTable, id: string): Promise<Job | undefined> {
  const row = await table.find(id);
  return row && jobOf(row);
}
