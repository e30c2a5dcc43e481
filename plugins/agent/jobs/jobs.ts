/** The durable queue: what was accepted is run once, fairly between users, whatever happens to the process. */
import { randomUUIDv7 } from "node:crypto";
import {
  type Agent,
  type Failure,
  Fault,
  type Job,
  type Jobs,
  type Log,
  type Outside,
  type TurnRecord,
} from "../../../kernel/plugin.ts";
import { isWebhookIdentity } from "../../../kernel/vocabulary/user.ts";
import { INTERRUPTED } from "../threads/ledger.ts";
import { type Completion, type JobRow, type JobTable, jobOf } from "./table.ts";

export interface JobsParts {
  readonly table: JobTable;
  readonly agent: Pick<Agent, "run" | "cancel">;
  /** A stored turn, whoever's it is. */
  turn(user: string, id: string): TurnRecord | undefined;
  readonly log: Log;
  readonly concurrency: number;
  readonly retentionDays: number;
}

export interface RunningJobs extends Jobs {
  /** Completes it without running it. */
  refuse(id: string, error: Failure): void;

  /** Takes up what a crash left running, then starts the queue. */
  start(): void;
  /** Starts no more jobs; those that run are taken up again at the next start. */
  stop(): void;
}

const SWEEP_MILLIS = 3_600_000;
// How soon the queue hears of what another process has put into it or wants out of it.
const LOOK_MILLIS = 1000;

export function createJobs(parts: JobsParts): RunningJobs {
  const { table, agent, log, concurrency } = parts;
  const listeners = new Set<(job: Job) => void>();
  const waiters = new Map<string, Set<(job: Job) => void>>();
  let running = 0;
  let lastUser = "";
  let isOpen = false;
  const timers: NodeJS.Timeout[] = [];
  const sweep = () => table.sweep(parts.retentionDays);

  function complete(id: string, completion: Completion): void {
    const row = table.complete(id, completion);
    if (row === undefined) return;
    const job = jobOf(row);
    const told = [...(waiters.get(id) ?? []), ...listeners];
    waiters.delete(id);
    for (const tell of told) {
      try {
        tell(job);
      } catch (error) {
        log.error({ error }, "a listener to jobs failed");
      }
    }
  }

  function pump(): void {
    while (isOpen && running < concurrency) {
      const row = table.nextAfter(lastUser);
      if (row === undefined) return;
      lastUser = row.user;
      running++;
      void work(row)
        .then(
          () => true,
          (error) => {
            log.error({ error, job: row.id }, "a job could not be run");
            return false;
          },
        )
        .then((went) => {
          running--;
          // After a failure the next look tries again: at once would be for ever.
          if (went) safely(pump)();
        });
    }
  }

  /** For what runs by itself: a full disk must cost a try, not the process. */
  const safely = (act: () => void) => (): void => {
    try {
      act();
    } catch (error) {
      log.error({ error }, "job queue error, retrying");
    }
  };

  /** A completion that cannot be written now is written by a later look. */
  const owed = new Map<string, Completion>();
  function finish(id: string, completion: Completion): void {
    owed.set(id, completion);
    complete(id, completion);
    owed.delete(id);
  }

  function look(): void {
    for (const [id, completion] of owed) finish(id, completion);
    for (const { user, turn } of table.askedToStop()) agent.cancel(user, turn ?? "");
    pump();
  }

  async function work(row: JobRow): Promise<void> {
    const turn = randomUUIDv7();
    table.begin(row.id, turn);
    const thread = table.threadOf(row);
    let record: TurnRecord;
    try {
      const run = agent.run({
        id: turn,
        user: row.user,
        channel: row.channel,
        input: { type: "message", text: row.message },
        ...(thread !== undefined && { thread }),
        ...((row.metadata !== null || row.spans !== null) && { outside: outsideOf(row) }),
      });
      table.setThread(row, run.thread);
      record = await run.record;
    } catch (error) {
      if (!isOpen) return;
      finish(row.id, refusal(error));
      if (!(error instanceof Fault)) throw error;
      return;
    }
    // A stop interrupts turns: the next start decides about their jobs.
    if (!isOpen && record.error?.code === INTERRUPTED.code) return;
    finish(row.id, completionOf(record));
  }

  function recover(): void {
    for (const row of table.running()) {
      const turn = row.turn === null ? undefined : parts.turn(row.user, row.turn);
      if (turn === undefined) table.putBack(row.id);
      else if (turn.error?.code !== INTERRUPTED.code) complete(row.id, completionOf(turn));
      else if (table.hadWritten(turn.id)) {
        complete(
          row.id,
          failure({
            code: INTERRUPTED.code,
            message:
              "The job was interrupted by a restart after it had called a tool with side effects, so it was not run again.",
          }),
        );
      } else table.putBack(row.id);
    }
  }

  return {
    start() {
      isOpen = true;
      recover();
      sweep();
      timers.push(
        setInterval(safely(sweep), SWEEP_MILLIS).unref(),
        setInterval(safely(look), LOOK_MILLIS).unref(),
      );
      pump();
    },
    stop() {
      isOpen = false;
      for (const timer of timers) clearInterval(timer);
    },
    submit(job) {
      if (job.user === "")
        throw new Fault("invalid", "no_user", "A job belongs to a user.", { param: "user" });
      const { row, isNew } = table.insert(job);
      // Not in this call: the caller should hear "queued" before anything runs.
      if (isNew) setImmediate(safely(pump));
      return jobOf(row);
    },
    find(id) {
      const row = table.find(id);
      return row && jobOf(row);
    },
    list: (query = {}) => table.list(query),
    cancel(id) {
      const row = table.find(id);
      if (row === undefined) return undefined;
      if (row.status === "queued") complete(id, failure(CANCELLED));
      else if (row.status === "running" && !agent.cancel(row.user, row.turn ?? "")) table.askToStop(id);
      const after = table.find(id);
      return after && jobOf(after);
    },
    refuse: (id, error) => complete(id, failure(error)),
    async wait(id, millis) {
      const row = table.find(id);
      if (row === undefined || row.status === "completed") return row && jobOf(row);
      const { promise, resolve } = Promise.withResolvers<void>();
      const tell = () => resolve();
      const mine = waiters.get(id) ?? new Set();
      waiters.set(id, mine.add(tell));
      const timer = setTimeout(resolve, millis);
      await promise;
      clearTimeout(timer);
      mine.delete(tell);
      const after = table.find(id);
      return after && jobOf(after);
    },
    counts: () => table.counts(),
    onCompleted(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

export const PAIRING_DENIED = {
  code: "pairing_denied",
  message: "The operator did not pair this user with an account, so the message was not run.",
};

function outsideOf({ channel, origin, metadata, spans }: JobRow): Outside {
  return {
    origin: origin ?? channel,
    ...(metadata !== null && { data: JSON.parse(metadata) as unknown }),
    ...(spans !== null && { spans: JSON.parse(spans) as NonNullable<Outside["spans"]> }),
  };
}

const CANCELLED = { code: "cancelled", message: "The job was cancelled." };

function failure(error: { readonly code: string; readonly message: string }): Completion {
  return { error, response: `This failed: ${error.message}` };
}

function refusal(error: unknown): Completion {
  return failure(
    error instanceof Fault
      ? { code: error.code, message: error.message }
      : { code: "internal", message: "Something went wrong in the service; the log has the details." },
  );
}

function completionOf(record: TurnRecord): Completion {
  if (record.status === "cancelled") return failure(CANCELLED);
  if (record.gate !== undefined && record.status === "waiting") {
    const { type, call } = record.gate;
    const code = type === "authentication" ? "authentication_required" : "approval_required";
    const what = type === "authentication" ? "a credential" : "an approval";
    return failure({
      code,
      message: `The tool ${call.name} needs ${what}. ${whereToAnswer(record.user)}`,
    });
  }
  if (record.error !== undefined) return failure(record.error);
  return { response: textOf(record) };
}

function whereToAnswer(user: string): string {
  return isWebhookIdentity(user)
    ? "An operator can answer it in the web UI, on the page Webhooks."
    : "Answer it in the web UI or the terminal; the conversation is waiting there.";
}

/** What the assistant said in this turn. */
function textOf({ items }: TurnRecord): string {
  return items
    .filter((item) => item.type === "message" && item.role === "assistant")
    .map((item) => (item.type === "message" ? item.text : ""))
    .join("\n\n");
}
