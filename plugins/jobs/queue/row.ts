/** A job as its row says it is. */

import type { Outside } from "../../../kernel/kit/turns.ts";
import type { Job, JobStatus } from "../../../kernel/plugin.ts";
import type { Turn } from "../../agent/services.ts";
import type { JobTurn, NewJob } from "../services.ts";

/** A turn waits for these: they run at once, however many others do. */
export const TASK_CHANNEL = "task";

/** Jobs of routines are accepted by nobody: whether there is room for one shows when it runs. */
export const ROUTINE_CHANNEL = "routine";

export interface JobRow {
  readonly seq: number;
  readonly id: string;
  readonly user: string;
  readonly channel: string;
  readonly sender: string;
  readonly fingerprint: string | null;
  readonly message: string;
  readonly conversation: string | null;
  readonly metadata: string | null;
  readonly status: JobStatus;
  readonly held: number;
  readonly joined: number;
  readonly origin: string | null;
  readonly spans: string | null;
  readonly thread: string | null;
  readonly turn: string | null;
  readonly response: string | null;
  readonly error: string | null;
  readonly attempts: number;
  readonly callback: string | null;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly completed_at: string | null;
}

/** Leaves out the request, which may be large. */
export const COLUMNS = `seq, id, "user", channel, sender, fingerprint, message, conversation, metadata, status, held, joined,
  origin, spans, thread, turn, response, error, attempts, callback, created_at, started_at, completed_at`;

export function turnOf(row: JobRow & { readonly request: string | null }, thread: string | undefined): Turn {
  const { input, attached, preamble, work, keeping, ...given } = parse<JobTurn>(row.request) ?? {};
  return {
    ...given,
    id: row.turn as string,
    // What an earlier attempt has done is known to its own turn alone: no other turn may take the message.
    work: { ...work, ...(row.attempts > 1 && { steers: false }), job: row.id },
    keeping: { ...keeping, isCounted: row.channel !== ROUTINE_CHANNEL },
    user: row.user,
    channel: row.channel,
    input: input ?? { type: "message", text: row.message },
    thread: thread ?? given.thread,
    preamble:
      row.metadata === null && row.spans === null ? preamble : { ...preamble, outside: outsideOf(row) },
    attached: attached?.map(({ id, base64 }) => ({ id, data: Buffer.from(base64, "base64") })),
  };
}

function outsideOf({ channel, origin, metadata, spans }: JobRow): Outside {
  return {
    origin: origin ?? channel,
    data: parse(metadata),
    spans: parse<Outside["spans"]>(spans),
  };
}

/** The same once more. Nobody is told when it completes: the sender knows nothing of it. */
export function againOf(row: JobRow & { readonly request: string | null }): NewJob {
  return {
    user: row.user,
    channel: row.channel,
    message: row.message,
    waitsForPairing: row.held === 1,
    // A message that is sent a second time is a repetition of the first, not of this.
    fingerprint: `retry of ${row.id}`,
    sender: row.sender || undefined,
    conversation: row.conversation ?? undefined,
    metadata: parse(row.metadata),
    origin: row.origin ?? undefined,
    spans: parse(row.spans),
    turn: parse(row.request),
  };
}

export function jobOf(row: JobRow): Job {
  return {
    id: row.id,
    user: row.user,
    channel: row.channel,
    sender: row.sender || undefined,
    message: row.message,
    status: row.status,
    waitingFor: row.held === 1 && row.status === "queued" ? "pairing" : undefined,
    createdAt: row.created_at,
    attempts: row.attempts,
    startedAt: row.started_at ?? undefined,
    callback: parse(row.callback),
    thread: row.thread ?? undefined,
    turn: row.turn ?? undefined,
    conversation: row.conversation ?? undefined,
    response: row.response ?? undefined,
    error: parse(row.error),
    completedAt: row.completed_at ?? undefined,
  };
}

export function parse<Value>(json: string | null): Value | undefined {
  return json === null ? undefined : (JSON.parse(json) as Value);
}
