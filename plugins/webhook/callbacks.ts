/**
 * Callbacks owed to the operator's URL. One is owed from the moment its job is accepted, in the same
 * transaction, so that neither a crash before the job completes nor one before the delivery forgets it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Webhook } from "standardwebhooks";
import { Agent, request } from "undici";
import { createConnector } from "../../kernel/net/connector.ts";
import {
  type Job,
  type Jobs,
  type Log,
  type NewJob,
  reason,
  type SyncSql,
  type Transaction,
} from "../../kernel/plugin.ts";
import { CompletedJob } from "../../kernel/vocabulary/job.ts";
import { toWire } from "../../kernel/vocabulary/wire/convert.ts";
import { type CallbackTarget, explainFailure } from "./callback-target.ts";

export interface CallbackOptions {
  readonly jobs: Jobs;
  readonly sql: SyncSql;
  readonly log: Log;
  readonly target: CallbackTarget;
  /** Whose key nobody else signs with. */
  readonly signer: Pick<Webhook, "sign">;
}

export interface Callbacks {
  /** Submits the job and owes its callback, both or neither, in that transaction. `userId`: whom it names. */
  submit(tx: Transaction, job: NewJob, userId: string): Promise<Job>;
  stop(): Promise<void>;
}

/** Seconds before each further try: about a day, then it is given up. */
const BACKOFF_SECS = [1, 10, 60, 300, 1800, 3600, 10_800, 21_600, 43_200] as const;
const AT_ONCE = 8;
const TIMEOUT_MILLIS = 10_000;
/** Before another try to write down what became of a callback. */
const AGAIN_MILLIS = 30_000;

interface Owed {
  readonly job: string;
  readonly attempts: number;
  readonly user_id: string | null;
}

export async function createCallbacks({
  jobs,
  sql,
  log,
  target,
  signer,
}: CallbackOptions): Promise<Callbacks> {
  const { privateHosts } = target;
  const agent = new Agent({ connect: createConnector({ privateHosts, timeout: TIMEOUT_MILLIS }) });
  const giveUp = new AbortController();
  const underWay = new Map<string, Promise<void>>();
  let timer: NodeJS.Timeout | undefined;

  const forget = (job: string) => sql.run("DELETE FROM webhook_callbacks WHERE job = ?", job);
  const makeDue = (job: string, at: number) =>
    sql.run("UPDATE webhook_callbacks SET due_at = ? WHERE job = ?", at, job);

  // Answered by the receiver, but not yet struck off the list: it must not be sent again.
  const delivered = new Set<string>();

  /** A store that cannot be read or written costs a pause, not the service. */
  function safePump(): void {
    try {
      pump();
    } catch (error) {
      log.error({ error }, "callback error, retrying");
      clearTimeout(timer);
      timer = setTimeout(safePump, AGAIN_MILLIS);
    }
  }

  /** Sends what is due, as many at once as allowed, and wakes again for the next. */
  function pump(): void {
    clearTimeout(timer);
    if (giveUp.signal.aborted) return;
    const next = sql.all<Owed & { due_at: number }>(
      "SELECT job, attempts, user_id, due_at FROM webhook_callbacks WHERE due_at IS NOT NULL ORDER BY due_at LIMIT ?",
      2 * AT_ONCE,
    );
    for (const owed of next) {
      if (underWay.has(owed.job)) continue;
      if (underWay.size >= AT_ONCE) return;
      if (owed.due_at > Date.now()) {
        timer = setTimeout(safePump, owed.due_at - Date.now());
        return;
      }
      const sending = deliver(owed)
        .catch(async (error) => {
          log.error({ error, job: owed.job }, "a callback could not be stored, retrying");
          await sleep(AGAIN_MILLIS, undefined, { signal: giveUp.signal }).catch(() => {});
        })
        .finally(() => {
          underWay.delete(owed.job);
          safePump();
        });
      underWay.set(owed.job, sending);
    }
  }

  async function deliver({ job: id, attempts, user_id: userId }: Owed): Promise<void> {
    const job = await jobs.find(id);
    if (job === undefined) return void forget(id);
    try {
      if (!delivered.has(id)) await send({ ...job, user: userId ?? job.user });
    } catch (error) {
      // A stop is no fault of the receiver's: the try does not count and is made again after the start.
      if (giveUp.signal.aborted) return;
      const delay = BACKOFF_SECS[attempts];
      const fields = { job: id, attempts: attempts + 1 };
      if (delay === undefined) {
        forget(id);
        log.error(fields, `gave up on the callback for job ${id}: ${explainFailure(error)}`);
        return;
      }
      sql.run(
        "UPDATE webhook_callbacks SET attempts = attempts + 1, due_at = ? WHERE job = ?",
        Date.now() + delay * 1000,
        id,
      );
      log.warn(fields, `callback for job ${id} failed, retrying in ${delay} s: ${explainFailure(error)}`);
      return;
    }
    delivered.add(id);
    forget(id);
    delivered.delete(id);
  }

  async function send(job: Job): Promise<void> {
    const body = JSON.stringify({ type: "job.completed", job: toWire(CompletedJob, job) });
    const now = new Date();
    const { statusCode, body: answer } = await request(target.url, {
      method: "POST",
      dispatcher: agent,
      headers: {
        "content-type": "application/json",
        "user-agent": "postern",
        // The same for every try, so that a receiver can tell a repetition.
        "webhook-id": job.id,
        "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
        "webhook-signature": signer.sign(job.id, now, body),
      },
      body,
      signal: AbortSignal.any([giveUp.signal, AbortSignal.timeout(TIMEOUT_MILLIS)]),
    });
    await answer.dump();
    if (statusCode < 200 || statusCode > 299) throw new Error(`the receiver returned ${statusCode}`);
  }

  const stopListening = jobs.onCompleted(({ id }) => {
    try {
      if (makeDue(id, Date.now()).changes > 0) pump();
    } catch (error) {
      // The job's own completion must not suffer; the next start finds the callback still owed.
      log.error(
        { error, job: id },
        `callback for job ${id} will be retried at the next start: ${reason(error)}`,
      );
    }
  });
  // What completed without us listening: between a job's completion and a crash.
  for (const { job } of sql.all<Pick<Owed, "job">>(
    "SELECT job FROM webhook_callbacks WHERE due_at IS NULL",
  )) {
    const status = (await jobs.find(job))?.status;
    if (status === undefined || status === "completed") makeDue(job, Date.now());
  }
  pump();

  return {
    async submit(tx, submission, userId) {
      const job = await jobs.submit(submission, tx);
      // A repeated submission answers a job that may be over and called back already.
      if (job.status !== "completed")
        void tx.run(
          "INSERT INTO webhook_callbacks (job, user_id) VALUES (?, ?) ON CONFLICT (job) DO NOTHING",
          job.id,
          userId,
        );
      return job;
    },
    async stop() {
      stopListening();
      clearTimeout(timer);
      giveUp.abort();
      await Promise.allSettled(underWay.values());
      await agent.destroy();
    },
  };
}
