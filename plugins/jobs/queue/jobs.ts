/** The durable queue: what was accepted is run once, fairly between users, whatever happens to the process. */

import { randomUUIDv7 } from "node:crypto";
import { createBackground, oneAtATime } from "../../../kernel/kit/concurrency.ts";
import { isCutShort } from "../../../kernel/kit/turns.ts";
import { Fault, type Job, type Transaction, type TurnRecord } from "../../../kernel/plugin.ts";
import type { Jobs, NewJob } from "../services.ts";
import type { Claimed } from "./claim.ts";
import { CANCELLED, completionOf, failure, PAIRING_DENIED, refusal, STOPPED } from "./completion.ts";
import { createEnds, findJob } from "./ends.ts";
import type { JobsParts } from "./parts.ts";
import { againOf, type JobRow, jobOf, TASK_CHANNEL, turnOf } from "./row.ts";

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

/** Jobs that run at once in one conversation, one of them as the turn that hears the others. */
const MAX_JOINED = 20;
const SWEEP_MS = 3_600_000;
const CANCELLED_AT_ONCE = 200;
// How soon the queue hears of what another process has put into it or wants out of it.
const LOOK_MS = 1000;

const WAITING = "jobs";

const NOT_REPEATABLE = new Fault(
  "invalid",
  "job_not_repeatable",
  "The job came with a request of its own, which is not kept after it ran: send the request again.",
  { param: "id" },
);

const isTask = ({ channel }: JobRow): boolean => channel === TASK_CHANNEL;

export function createJobs(parts: JobsParts): RunningJobs {
  const { table, agent, threads, store, log, concurrency } = parts;
  let running = 0;
  let lastUser = "";
  let isOpen = false;
  const undos: (() => void)[] = [];
  const background = createBackground(log, "job queue error, retrying");
  const ends = createEnds(parts, background);
  /** The turns of jobs that this node runs or is about to. One that it claimed without hearing of it is in none. */
  const claims = new Set<string>();
  /** The jobs of each conversation whose turns are open here. */
  const talks = new Map<string, Set<Claimed>>();

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

  /** Lets messages join the turns of their conversations, one after the other: they get into line in their order. */
  const join = oneAtATime(async () => {
    for (const talk of [...talks.values()]) {
      for (let [first] = talk; isOpen && first !== undefined && talk.size < MAX_JOINED; [first] = talk) {
        const turn = randomUUIDv7();
        claims.add(turn);
        const row = await table.join(first, turn).finally(() => claims.delete(turn));
        if (row === undefined) break;
        claims.add(turn);
        const opened = Promise.withResolvers<boolean>();
        background.run(() => runOne(row, opened.resolve), "a job could not be run");
        if (!(await opened.promise)) break;
      }
    }
  });

  const begin = async () => {
    await pump();
    await join();
  };

  const tellOthers = () => store.signals.send(WAITING, "");

  async function runOne(row: Claimed, tellOpened: (isOpen: boolean) => void = () => {}): Promise<void> {
    try {
      await work(row, () => tellOpened(true));
    } finally {
      tellOpened(false);
      if (!isTask(row) && row.joined === 0) running--;
      claims.delete(row.turn as string);
    }
    // After a failure the next look tries again: at once would be for ever.
    background.run(begin);
  }

  /** Its conversation can be joined until the turn has ended. */
  function open(row: Claimed): () => void {
    if (row.conversation === null || row.request === null) return () => {};
    const key = JSON.stringify([row.user, row.conversation]);
    const talk = talks.get(key) ?? new Set();
    talks.set(key, talk.add(row));
    background.run(join);
    return () => {
      talk.delete(row);
      if (talk.size === 0) talks.delete(key);
    };
  }

  const look = oneAtATime(async () => {
    await ends.retry();
    for (const { user, turn } of await table.askedToStop()) await agent.cancel(user, turn ?? "");
    await begin();
  });

  async function work(row: Claimed, tellOpened: () => void): Promise<void> {
    let record: TurnRecord;
    try {
      const { user, goesOn } = row;
      const earlier = goesOn === undefined ? undefined : await threads.find(user, goesOn);
      const run = await agent.run(turnOf(row, earlier?.id), (tx, { thread }) =>
        assertClaimed(tx, row, thread),
      );
      const close = open(row);
      tellOpened();
      record = await run.record.finally(close);
    } catch (error) {
      if (!isOpen) return;
      // As many as can wait for a turn do: it joins them later.
      const isFull = error instanceof Fault && error.code === "thread_busy" && row.joined === 1;
      if (isFull) return await table.putBack(row);
      // A store that is away, or full, is no answer to what it has accepted.
      const isAway = error instanceof Fault && error.kind === "unavailable";
      await (isAway ? ends.reconsider(row) : ends.finish(row, refusal(error)));
      if (isAway || !(error instanceof Fault)) throw error;
      return;
    }
    if (!isCutShort(record)) return await ends.finish(row, completionOf(record));
    // By a stop: the next start, or another node, decides about it. Otherwise the database was away, or this node taken for dead.
    if (isOpen) await ends.reconsider(row);
  }

  /** Between the claim and the turn the queue may have stopped, or the job was cancelled or removed with its user: then no turn is opened. */
  async function assertClaimed(tx: Transaction, row: Claimed, thread: string): Promise<void> {
    if (!isOpen || !(await table.setThread(tx, row, thread)))
      throw new Fault("turn", CANCELLED.code, CANCELLED.message);
  }

  async function settleAll(rows: readonly JobRow[]): Promise<void> {
    for (const row of rows) await ends.settle(row);
    if (rows.length > 0) background.run(begin);
  }

  const assertRoom = ({ user, message, metadata, turn }: NewJob): Promise<void> =>
    parts.storage.take(user, Buffer.byteLength(JSON.stringify([message, metadata, turn])));

  async function submit(job: NewJob, tx?: Transaction): Promise<Job> {
    if (job.user === "") throw new Fault("invalid", "no_user", "A job belongs to a user.", { param: "user" });
    if (tx === undefined) await assertRoom(job);
    const { row, isNew } = await table.insert(job, tx);
    // Not in this call: the caller should hear "queued" before anything runs, and its transaction comes to its end.
    if (isNew)
      setImmediate(() => {
        background.run(begin);
        // Here all hands are full, or another node may run its conversation.
        if (!isTask(row) && (running >= concurrency || job.turn?.work?.steers)) background.run(tellOthers);
      });
    return jobOf(row);
  }

  async function cancel(id: string): Promise<Job | undefined> {
    await ends.complete(id, STOPPED, { status: "queued" });
    const row = await table.find(id);
    if (row?.status !== "running") return row && jobOf(row);
    if (!(await agent.cancel(row.user, row.turn ?? ""))) await table.askToStop(id);
    return await findJob(table, id);
  }

  /** What is in the bin is in no list. */
  const isBinned = async ({ user, thread }: Job): Promise<boolean> =>
    thread !== undefined && (await threads.isBinned(user, thread)) === true;

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
          if (!isOwn) background.run(begin);
        }),
      );
      background.run(begin);
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
    find: (id) => findJob(table, id),
    async findListed(id) {
      const job = await findJob(table, id);
      return job && !(await isBinned(job)) ? job : undefined;
    },
    async list(query = {}) {
      const page = await table.list(query);
      const binned = await Promise.all(page.items.map(isBinned));
      return { ...page, items: page.items.filter((_, at) => !binned[at]) };
    },
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
      await Promise.all(held.map((id) => ends.complete(id, failure(PAIRING_DENIED))));
      return held.length;
    },
    wait: ends.wait,
    counts: () => table.counts(),
    onCompleted: ends.onCompleted,
  };
}
