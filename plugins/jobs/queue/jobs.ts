/** The durable queue: what was accepted is run once, fairly between users, whatever happens to the process. */

import { randomUUIDv7 } from "node:crypto";
import { createBackground, oneAtATime } from "../../../kernel/kit/concurrency.ts";
import { INTERRUPTED } from "../../../kernel/kit/turns.ts";
import {
  Fault,
  type Job,
  type Log,
  type Services,
  type Transaction,
  type TurnRecord,
} from "../../../kernel/plugin.ts";
import type { Store, UserStorage } from "../../store/services.ts";
import type { Jobs, NewJob } from "../services.ts";
import {
  CANCELLED,
  type Completion,
  completionOf,
  failure,
  isCutShort,
  PAIRING_DENIED,
  refusal,
} from "./completion.ts";
import { againOf, type JobRow, jobOf, TASK_CHANNEL, turnOf } from "./row.ts";
import type { Claimed, From, JobTable } from "./table.ts";

export interface JobsParts {
  readonly table: JobTable;
  readonly agent: Pick<Services["agent"], "run" | "cancel">;
  readonly store: Pick<Store, "repeat" | "signals">;
  readonly storage: Pick<UserStorage, "take">;
  readonly threads: Pick<Services["threads"], "find" | "turn" | "hadSideEffects">;
  readonly log: Log;
  readonly concurrency: number;
  readonly retentionDays: number;
}

export interface RunningJobs extends Jobs {
  /** Completes the jobs of an identity that wait for its pairing, and returns how many there were. */
  refuseHeld(identity: string): Promise<number>;
  cancelAll(user: string): Promise<void>;
  /** Takes up what nodes that are gone left running, then starts the queue. Their turns have to be closed before. */
  start(): Promise<void>;
  takeOver(): Promise<void>;
  stop(): void;
  /** Leaves those that were interrupted to other nodes, or to the next start. */
  handBack(): Promise<void>;
  /** Resolves when nothing of a stopped queue is under way. Their turns have to end first. */
  idle(): Promise<void>;
}

const SWEEP_MS = 3_600_000;
const CANCELLED_AT_ONCE = 200;
// How soon the queue hears of what another process has put into it or wants out of it.
const LOOK_MS = 1000;

const WAITING = "jobs";
const completedTopic = (id: string) => `job ${id}`;

const NOT_RUN_AGAIN = {
  code: INTERRUPTED,
  message: "The job was interrupted after it had called a tool with side effects, so it was not run again.",
};

const NOT_REPEATABLE = new Fault(
  "invalid",
  "job_not_repeatable",
  "The job came with a request of its own, which is not kept after it ran: send the request again.",
  { param: "id" },
);

const isTask = ({ channel }: JobRow): boolean => channel === TASK_CHANNEL;

export function createJobs(parts: JobsParts): RunningJobs {
  const { table, agent, threads, store, log, concurrency } = parts;
  const listeners = new Set<(job: Job) => void>();
  const waiters = new Map<string, Set<(job: Job) => void>>();
  let running = 0;
  let lastUser = "";
  let isOpen = false;
  const undos: (() => void)[] = [];
  const background = createBackground(log, "job queue error, retrying");
  /** The turns of jobs that this node runs or is about to. One that it claimed without hearing of it is in none. */
  const claims = new Set<string>();

  async function complete(id: string, completion: Completion, from: From = {}): Promise<boolean> {
    const row = await table.complete(id, completion, from);
    if (row === undefined) return false;
    const job = jobOf(row);
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
    return true;
  }

  /** One at a time: what comes meanwhile makes it look once more. */
  const pump = oneAtATime(async () => {
    while (isOpen) {
      const turn = randomUUIDv7();
      claims.add(turn);
      // One that waits for a task has a hand of its own until then: tasks that waited for a free one could wait for ever.
      const only = running < concurrency ? undefined : TASK_CHANNEL;
      const row = await table.claim(lastUser, turn, only).catch((error: unknown) => {
        claims.delete(turn);
        throw error;
      });
      if (row === undefined) {
        claims.delete(turn);
        return;
      }
      // Stopped while it was being claimed.
      if (!isOpen) return void (await table.putBack(row));
      lastUser = row.user;
      if (!isTask(row)) running++;
      background.run(() => runOne(row), "a job could not be run");
    }
  });

  /** Here all hands are full; another node may have one free. */
  const tellOthers = () => store.signals.send(WAITING, "");

  async function runOne(row: Claimed): Promise<void> {
    try {
      await work(row);
    } finally {
      if (!isTask(row)) running--;
      claims.delete(row.turn as string);
    }
    // After a failure the next look tries again: at once would be for ever.
    background.run(pump);
  }

  /** A write that fails now is tried again by a later look. */
  const owed = new Map<string, () => Promise<unknown>>();
  async function owe(id: string, write: () => Promise<unknown>): Promise<void> {
    owed.set(id, write);
    await write();
    owed.delete(id);
  }

  const finish = ({ id, turn }: JobRow, completion: Completion): Promise<void> =>
    owe(id, () => complete(id, completion, turn === null ? {} : { turn }));

  /** Asks the store how a turn ended that did not end by itself. */
  const reconsider = ({ id, turn }: Claimed): Promise<void> =>
    owe(id, async () => {
      const row = await table.find(id);
      if (row?.status === "running" && row.turn === turn) await settle(row);
    });

  const look = oneAtATime(async () => {
    for (const [id, write] of owed) {
      await write();
      owed.delete(id);
    }
    for (const { user, turn } of await table.askedToStop()) await agent.cancel(user, turn ?? "");
    await pump();
  });

  async function work(row: Claimed): Promise<void> {
    let record: TurnRecord;
    try {
      const { user, goesOn } = row;
      const earlier = goesOn === undefined ? undefined : await threads.find(user, goesOn);
      const run = await agent.run(turnOf(row, earlier?.id), (tx, { thread }) =>
        assertClaimed(tx, row, thread),
      );
      record = await run.record;
    } catch (error) {
      if (!isOpen) return;
      // A store that is away, or full, is no answer to what it has accepted.
      const isAway = error instanceof Fault && error.kind === "unavailable";
      await (isAway ? reconsider(row) : finish(row, refusal(error)));
      if (isAway || !(error instanceof Fault)) throw error;
      return;
    }
    if (!isCutShort(record)) return await finish(row, completionOf(record));
    // By a stop: the next start, or another node, decides about it. Otherwise the database was away, or this node taken for dead.
    if (isOpen) await reconsider(row);
  }

  /** Between the claim and the turn the queue may have stopped, or the job was cancelled or removed with its user: then no turn is opened. */
  async function assertClaimed(tx: Transaction, row: Claimed, thread: string): Promise<void> {
    if (!isOpen || !(await table.setThread(tx, row, thread)))
      throw new Fault("turn", CANCELLED.code, CANCELLED.message);
  }

  /** Runs again what was not begun in earnest; tells how the rest ended. */
  async function settle(row: JobRow): Promise<void> {
    const turn = row.turn === null ? undefined : await threads.turn(row.user, row.turn);
    const from = row.turn === null ? {} : { turn: row.turn };
    if (turn === undefined) await table.putBack(row);
    // Its node has died since turns were looked at, or could not store its end yet: a later look decides.
    else if (turn.status === "queued" || turn.status === "running") return;
    else if (!isCutShort(turn)) await complete(row.id, completionOf(turn), from);
    else if (await threads.hadSideEffects(turn.id)) await complete(row.id, failure(NOT_RUN_AGAIN), from);
    else await table.putBack(row);
  }

  async function settleAll(rows: readonly JobRow[]): Promise<void> {
    for (const row of rows) await settle(row);
    if (rows.length > 0) background.run(pump);
  }

  const assertRoom = ({ user, message, metadata, turn }: NewJob): Promise<void> =>
    parts.storage.take(user, Buffer.byteLength(JSON.stringify([message, metadata, turn])));

  async function submit(job: NewJob, tx?: Transaction): Promise<Job> {
    if (job.user === "") throw new Fault("invalid", "no_user", "A job belongs to a user.", { param: "user" });
    if (tx === undefined) await assertRoom(job);
    const { row, isNew } = await table.insert(job, tx);
    // Not in this call: the caller should hear "queued" before anything runs, and its transaction comes to its end.
    if (isNew) setImmediate(() => background.run(running < concurrency || isTask(row) ? pump : tellOthers));
    return jobOf(row);
  }

  async function cancel(id: string): Promise<Job | undefined> {
    await complete(id, failure(CANCELLED), { status: "queued" });
    const row = await table.find(id);
    if (row?.status !== "running") return row && jobOf(row);
    if (!(await agent.cancel(row.user, row.turn ?? ""))) await table.askToStop(id);
    return find(id);
  }

  async function find(id: string): Promise<Job | undefined> {
    const row = await table.find(id);
    return row && jobOf(row);
  }

  return {
    async start() {
      isOpen = true;
      await settleAll(await table.orphaned());
      const timer = setInterval(() => background.run(look), LOOK_MS).unref();
      const stopping = new AbortController();
      undos.push(
        () => clearInterval(timer),
        () => stopping.abort(),
        store.repeat("sweep jobs", SWEEP_MS, async () =>
          background.run(
            () => table.sweep(parts.retentionDays, stopping.signal),
            "old jobs could not be deleted, retrying later",
          ),
        ),
        store.signals.listen(WAITING, (_, isOwn) => {
          if (!isOwn) background.run(pump);
        }),
      );
      background.run(pump);
    },
    async takeOver() {
      const lost = (await table.own()).filter(({ turn }) => turn === null || !claims.has(turn));
      await settleAll([...lost, ...(await table.orphaned())]);
    },
    handBack: async () => settleAll(await table.own()),
    stop() {
      isOpen = false;
      for (const undo of undos) undo();
    },
    idle: background.idle,
    submit,
    assertRoom,
    async retry(id) {
      const row = await table.findWhole(id);
      if (row?.request === "") throw NOT_REPEATABLE;
      return row && submit(againOf(row));
    },
    noteCallback: (id, callback) => table.noteCallback(id, callback),
    find,
    list: (query = {}) => table.list(query),
    cancel,
    async cancelAll(user) {
      for (const status of ["queued", "running"] as const) {
        let before: string | undefined;
        do {
          const page = await table.list({ user, status, limit: CANCELLED_AT_ONCE, before });
          await Promise.all(page.items.map(({ id }) => cancel(id)));
          before = page.next;
        } while (before !== undefined);
      }
    },
    remove: (id) => table.remove(id),
    async refuseHeld(identity) {
      const held = await table.held(identity);
      await Promise.all(held.map((id) => complete(id, failure(PAIRING_DENIED))));
      return held.length;
    },
    async wait(id, millis) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const tell = () => resolve();
      // In line before the first look, so that nothing completes unseen in between.
      const mine = waiters.get(id) ?? new Set();
      waiters.set(id, mine.add(tell));
      const listening = store.signals.listen(completedTopic(id), tell);
      const timer = setTimeout(resolve, millis);
      try {
        await Promise.race([listening.ready, promise]);
        const job = await find(id);
        if (job === undefined || job.status === "completed") return job;
        await promise;
        return await find(id);
      } finally {
        clearTimeout(timer);
        listening();
        mine.delete(tell);
        if (mine.size === 0 && waiters.get(id) === mine) waiters.delete(id);
      }
    },
    counts: () => table.counts(),
    onCompleted(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
