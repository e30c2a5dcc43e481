/**
 * Callbacks owed to the operator's URL. One is owed from the moment its job is accepted, in the same
 * transaction, so that neither a crash before the job completes nor one before the delivery forgets it.
 *
 * A node that sends one holds it by a lease: it is due again when the lease ends. A try takes less time than the lease, on
 * the sender's own clock from before it asked for it, so no two nodes send the same at once; one that dies gives back what it held.
 */
import { Webhook } from "standardwebhooks";
import { AddressRefused, createOutbound, OutboundError } from "../../../kernel/kit/outbound.ts";
import { toWire } from "../../../kernel/kit/schema.ts";
import {
  type Job,
  type JobCallback,
  type Log,
  reason,
  type Services,
  type Sql,
  type Transaction,
} from "../../../kernel/plugin.ts";
import type { NewJob } from "../../jobs/services.ts";
import type { Store } from "../../store/services.ts";
import { callbackSecrets } from "../derived-secrets.ts";
import { CompletedJob } from "../job-wire.ts";
import type { CallbackTarget } from "../settings.ts";
import { type Owed, openCallbackQueue } from "./queue.ts";

interface CallbackOptions {
  readonly jobs: Services["jobs"];
  readonly sql: Sql;
  readonly store: Store;
  readonly log: Log;
  readonly target: CallbackTarget;
}

/** Seconds before each further try: about a day, then it is given up. */
const BACKOFF_SECS = [1, 10, 60, 300, 1800, 3600, 10_800, 21_600, 43_200] as const;
const MAX_CONCURRENT = 8;
const TIMEOUT_MS = 10_000;
/** How often a node looks for callbacks that others made due, or whose completion was missed. */
const POLL_MS = 10_000;

export async function createCallbacks({ jobs, sql, store, log, target }: CallbackOptions) {
  const outbound = createOutbound({ privateHosts: target.privateHosts });
  const queue = openCallbackQueue(sql, store.node);
  const giveUp = new AbortController();
  const underWay = new Map<string, Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  let pumping: Promise<void> | undefined;
  let mustPumpAgain = false;
  // True if a job's completion could not be noted.
  let isBehind = false;

  // Accepted by the receiver, but still in the queue: they must not be sent again.
  const delivered = new Set<string>();

  /** If the store fails, it tries again after a pause. */
  function pump(): void {
    mustPumpAgain = pumping !== undefined;
    if (mustPumpAgain) return;
    pumping = sendDue()
      .catch((error) => {
        log.error({ error }, "callback error, retrying");
        wakeIn(POLL_MS);
      })
      .finally(() => {
        pumping = undefined;
        if (mustPumpAgain) pump();
      });
  }

  function wakeIn(millis: number): void {
    clearTimeout(timer);
    if (!giveUp.signal.aborted) timer = setTimeout(pump, millis);
  }

  /** Sends what is due, as many at once as allowed, and sets the timer for the next. */
  async function sendDue(): Promise<void> {
    if (giveUp.signal.aborted || underWay.size >= MAX_CONCURRENT) return;
    const since = performance.now();
    const { due, nextMillis } = await queue.claim(MAX_CONCURRENT - underWay.size);
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
    if (job === undefined) return void (await queue.forget(id));
    try {
      if (!delivered.has(id)) {
        const left = TIMEOUT_MS - Math.ceil(performance.now() - since);
        // Too late to end before another node may begin.
        if (left <= 0) return;
        await send({ ...job, user: userId }, left, traceparent);
      }
    } catch (error) {
      // A try that a stop ends does not count, and is made again after the start.
      if (giveUp.signal.aborted) return;
      const delay = BACKOFF_SECS[attempts];
      const message = explainFailure(error);
      const tried = { attempts: attempts + 1, message };
      const fields = { job: id, attempts: attempts + 1 };
      if (delay === undefined) {
        await queue.forget(id);
        await note(id, { status: "failed", ...tried });
        return log.error(fields, `gave up on the callback for job ${id}: ${message}`);
      }
      await queue.retryIn(id, delay * 1000);
      const nextAt = new Date(Date.now() + delay * 1000).toISOString();
      await note(id, { status: "retrying", ...tried, nextAt });
      return log.warn(fields, `callback for job ${id} failed, retrying in ${delay} s: ${message}`);
    }
    delivered.add(id);
    await queue.forget(id);
    delivered.delete(id);
    await note(id, { status: "delivered", attempts: attempts + 1 });
  }

  /** Shows the callback's state with the job. The callback itself does not depend on it. */
  const note = (id: string, callback: JobCallback): Promise<void> =>
    jobs
      .noteCallback(id, callback)
      .catch((error) => log.warn({ error, job: id }, "job could not be updated"));

  async function send(job: Job, millis: number, traceparent: string | null): Promise<void> {
    const body = JSON.stringify({ type: "job.completed", job: toWire(CompletedJob, job) });
    const now = new Date();
    // Signed with each key, so that a receiver can switch to the new one at any time. A command may change them meanwhile.
    const signatures = (await callbackSecrets(store)).map((key) => new Webhook(key).sign(job.id, now, body));
    const init = {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "user-agent": "postern",
        ...(traceparent !== null && { traceparent }),
        // The same for every try, so that a receiver recognises a repetition.
        "webhook-id": job.id,
        "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
        "webhook-signature": signatures.join(" "),
      },
      body,
      signal: giveUp.signal,
    };
    const bounds = { timeoutMs: millis, returnsRedirects: true };
    const { status, ok, body: reply } = await outbound.fetch(new URL(target.url), init, bounds);
    // The status decides; a long body is not worth reading.
    await reply?.cancel();
    if (!ok) throw new Error(`the receiver returned ${status}`);
  }

  const stopListening = jobs.onCompleted(async ({ id }) => {
    try {
      if ((await queue.makeDue([id])) > 0) pump();
    } catch (error) {
      // The job's own completion must not suffer; the next poll finds the callback still owed.
      isBehind = true;
      log.error({ error, job: id }, `callback for job ${id} could not be made due: ${reason(error)}`);
    }
  });

  /** Finds jobs that completed without us listening: before a crash, or on a node without this channel. */
  async function findMissed(): Promise<void> {
    isBehind = false;
    for (let page = await queue.unfinished(""); page.length > 0; ) {
      const found = await Promise.all(page.map((job) => jobs.find(job)));
      const over = page.filter((_, at) => found[at] === undefined || found[at].status === "completed");
      if (over.length > 0) await queue.makeDue(over);
      page = await queue.unfinished(page.at(-1) ?? "");
    }
    pump();
  }
  const findMissedSafely = () =>
    void findMissed().catch((error) => {
      isBehind = true;
      log.error({ error }, "callback error, retrying");
    });
  await queue.recover();
  await findMissed();
  const stopWatching = store.node.onDead(findMissedSafely);
  const polling = setInterval(() => {
    if (isBehind || sql.engine === "postgres") findMissedSafely();
  }, POLL_MS).unref();

  return {
    /** Submits the job and owes its callback, both or neither, in that transaction. `userId` is the user that it names. */
    async submit(tx: Transaction, submission: NewJob, userId: string): Promise<Job> {
      const job = await jobs.submit({ ...submission, isCalledBack: true }, tx);
      // A repeated submission returns a job that may be over and called back already.
      if (job.status !== "completed") queue.owe(tx, job.id, userId);
      return job;
    },
    /** Owes a callback for a job that is submitted in that transaction. */
    owe: queue.owe,
    async stop(): Promise<void> {
      stopListening();
      stopWatching();
      clearInterval(polling);
      giveUp.abort();
      clearTimeout(timer);
      await pumping;
      await Promise.allSettled(underWay.values());
      await queue.release().catch(() => {});
      await outbound.close();
    },
  };
}

/** Says why a callback failed, with the setting that would allow a refused address. */
export function explainFailure(error: unknown): string {
  // A check of the settings looks the address up itself; a delivery is refused on its way out.
  const isRefused =
    error instanceof AddressRefused || (error instanceof OutboundError && error.kind === "address");
  if (!isRefused) return reason(error);
  return `HTTP_CALLBACK_URL is refused: ${error.message}. List its host:port in HTTP_CALLBACK_PRIVATE_HOSTS to allow it`;
}
