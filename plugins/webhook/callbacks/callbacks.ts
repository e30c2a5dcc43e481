/**
 * Callbacks owed to the operator's URL. One is owed from the moment its job is accepted, in the same
 * transaction, so that neither a crash before the job completes nor one before the delivery forgets it.
 *
 * A node that sends one holds it by a lease: it is due again when the lease ends. A try takes less time than the lease, on
 * the sender's own clock from before it asked for it, so no two nodes send the same at once; one that dies gives back what it held.
 */
import type { Webhook } from "standardwebhooks";
import { Agent, request } from "undici";
import { CompletedJob, createConnector, toWire } from "../../../kernel/kit.ts";
import {
  type Job,
  type JobCallback,
  type Log,
  type NewJob,
  type Node,
  reason,
  type Services,
  type Sql,
  type Transaction,
} from "../../../kernel/plugin.ts";
import { type Owed, openCallbackList } from "./list.ts";
import { type CallbackTarget, explainFailure } from "./target.ts";

export interface CallbackOptions {
  readonly jobs: Services["jobs"];
  readonly sql: Sql;
  readonly node: Node;
  readonly log: Log;
  readonly target: CallbackTarget;
  /** With keys nobody else signs with. */
  sign(...message: Parameters<Webhook["sign"]>): Promise<string>;
}

export interface Callbacks {
  /** Submits the job and owes its callback, both or neither, in that transaction. `userId`: whom it names. */
  submit(tx: Transaction, job: NewJob, userId: string): Promise<Job>;
  /** Owes one for a job that is submitted in that transaction. */
  owe(tx: Transaction, job: string, userId: string): void;
  stop(): Promise<void>;
}

/** Seconds before each further try: about a day, then it is given up. */
const BACKOFF_SECS = [1, 10, 60, 300, 1800, 3600, 10_800, 21_600, 43_200] as const;
const AT_ONCE = 8;
const TIMEOUT_MILLIS = 10_000;
/** How often a node looks for what others made due, or completed and never said. */
const LOOK_MILLIS = 10_000;

export async function createCallbacks({
  jobs,
  sql,
  node,
  log,
  target,
  sign,
}: CallbackOptions): Promise<Callbacks> {
  const { privateHosts } = target;
  const agent = new Agent({ connect: createConnector({ privateHosts, timeout: TIMEOUT_MILLIS }) });
  const list = openCallbackList(sql, node);
  const giveUp = new AbortController();
  const underWay = new Map<string, Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let pumping: Promise<void> | undefined;
  let mustPumpAgain = false;
  // Whether a job's completion could not be noted.
  let isBehind = false;

  // Answered by the receiver, but not yet struck off the list: it must not be sent again.
  const delivered = new Set<string>();

  /** A store that cannot be read or written costs a pause, not the service. */
  function pump(): void {
    if (pumping !== undefined) {
      mustPumpAgain = true;
      return;
    }
    pumping = sendDue()
      .catch((error) => {
        log.error({ error }, "callback error, retrying");
        wakeIn(LOOK_MILLIS);
      })
      .finally(() => {
        pumping = undefined;
        if (!mustPumpAgain) return;
        mustPumpAgain = false;
        pump();
      });
  }

  function wakeIn(millis: number): void {
    clearTimeout(timer);
    if (!giveUp.signal.aborted) timer = setTimeout(pump, millis);
  }

  /** Sends what is due, as many at once as allowed, and wakes again for the next. */
  async function sendDue(): Promise<void> {
    if (giveUp.signal.aborted || underWay.size >= AT_ONCE) return;
    const since = performance.now();
    const { due, nextMillis } = await list.claim(AT_ONCE - underWay.size);
    for (const owed of due) {
      if (underWay.has(owed.job)) continue;
      const sending = deliver(owed, since)
        // It is due again when its lease ends.
        .catch((error) => log.error({ error, job: owed.job }, "a callback could not be stored, retrying"))
        .finally(() => {
          underWay.delete(owed.job);
          pump();
        });
      underWay.set(owed.job, sending);
    }
    if (nextMillis !== undefined) wakeIn(nextMillis);
  }

  async function deliver(
    { job: id, attempts, user_id: userId, traceparent }: Owed,
    since: number,
  ): Promise<void> {
    const job = await jobs.find(id);
    if (job === undefined) return list.forget(id);
    try {
      const left = TIMEOUT_MILLIS - Math.ceil(performance.now() - since);
      // Too late to be done before another may begin.
      if (!delivered.has(id) && left <= 0) return;
      if (!delivered.has(id)) await send({ ...job, user: userId ?? job.user }, left, traceparent);
    } catch (error) {
      // A stop is no fault of the receiver's: the try does not count and is made again after the start.
      if (giveUp.signal.aborted) return;
      const delay = BACKOFF_SECS[attempts];
      const fields = { job: id, attempts: attempts + 1 };
      if (delay === undefined) {
        await list.forget(id);
        await note(id, { status: "failed", attempts: attempts + 1, message: explainFailure(error) });
        log.error(fields, `gave up on the callback for job ${id}: ${explainFailure(error)}`);
        return;
      }
      await list.retryIn(id, delay * 1000);
      await note(id, {
        status: "retrying",
        attempts: attempts + 1,
        message: explainFailure(error),
        nextAt: new Date(Date.now() + delay * 1000).toISOString(),
      });
      log.warn(fields, `callback for job ${id} failed, retrying in ${delay} s: ${explainFailure(error)}`);
      return;
    }
    delivered.add(id);
    await list.forget(id);
    delivered.delete(id);
    await note(id, { status: "delivered", attempts: attempts + 1 });
  }

  /** For whoever looks at the job. The callback itself does not depend on it. */
  const note = (id: string, callback: JobCallback): Promise<void> =>
    jobs
      .noteCallback(id, callback)
      .catch((error) => log.warn({ error, job: id }, "job could not be updated"));

  async function send(job: Job, millis: number, traceparent: string | null): Promise<void> {
    const body = JSON.stringify({ type: "job.completed", job: toWire(CompletedJob, job) });
    const now = new Date();
    const { statusCode, body: answer } = await request(target.url, {
      method: "POST",
      dispatcher: agent,
      headers: {
        "content-type": "application/json",
        "user-agent": "postern",
        ...(traceparent !== null && { traceparent }),
        // The same for every try, so that a receiver can tell a repetition.
        "webhook-id": job.id,
        "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
        "webhook-signature": await sign(job.id, now, body),
      },
      body,
      signal: AbortSignal.any([giveUp.signal, AbortSignal.timeout(millis)]),
    });
    await answer.dump();
    if (statusCode < 200 || statusCode > 299) throw new Error(`the receiver returned ${statusCode}`);
  }

  const stopListening = jobs.onCompleted(({ id }) => {
    list
      .makeDue([id])
      .then((count) => {
        if (count > 0) pump();
      })
      .catch((error) => {
        // The job's own completion must not suffer; the next look finds the callback still owed.
        isBehind = true;
        log.error({ error, job: id }, `callback for job ${id} could not be made due: ${reason(error)}`);
      });
  });

  /** What completed without us listening: between a job's completion and a crash, or on a node without this channel. */
  async function look(): Promise<void> {
    isBehind = false;
    for (let page = await list.unfinished(""); page.length > 0; ) {
      const found = await Promise.all(page.map((job) => jobs.find(job)));
      const over = page.filter((_, at) => found[at] === undefined || found[at].status === "completed");
      if (over.length > 0) await list.makeDue(over);
      page = await list.unfinished(page.at(-1) ?? "");
    }
    pump();
  }
  const lookSafely = () =>
    void look().catch((error) => {
      isBehind = true;
      log.error({ error }, "callback error, retrying");
    });
  await list.recover();
  await look();
  const stopWatching = node.onDead(lookSafely);
  const looking = setInterval(() => {
    if (isBehind || sql.engine === "postgres") lookSafely();
  }, LOOK_MILLIS).unref();

  return {
    async submit(tx, submission, userId) {
      const job = await jobs.submit({ ...submission, isCalledBack: true }, tx);
      // A repeated submission answers a job that may be over and called back already.
      if (job.status !== "completed") list.owe(tx, job.id, userId);
      return job;
    },
    owe: (tx, job, userId) => list.owe(tx, job, userId),
    async stop() {
      stopListening();
      stopWatching();
      clearInterval(looking);
      giveUp.abort();
      clearTimeout(timer);
      await pumping;
      await Promise.allSettled(underWay.values());
      // For the other nodes, or the next start.
      await list.handBack().catch(() => {});
      await agent.destroy();
    },
  };
}
