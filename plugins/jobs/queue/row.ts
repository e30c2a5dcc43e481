/** A job as its row says it is. */
import type { JobTurn, Outside } from "../../../kernel/kit.ts";
import type { Job, JobCallback, JobStatus, NewJob, Turn } from "../../../kernel/plugin.ts";

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

/** All that is shown of it, and not what its turn is made of, which may be large. */
export const COLUMNS = `seq, id, "user", channel, sender, fingerprint, message, conversation, metadata, status, held,
  origin, spans, thread, turn, response, error, attempts, callback, created_at, started_at, completed_at`;

/** The turn that a claimed job is run as. */
export function turnOf(row: JobRow & { readonly request: string | null }, thread: string | undefined): Turn {
  const { input, attached, ...given } = (row.request === null ? {} : JSON.parse(row.request)) as JobTurn;
  return {
    ...given,
    id: row.turn as string,
    user: row.user,
    channel: row.channel,
    input: input ?? { type: "message", text: row.message },
    ...(thread !== undefined && { thread }),
    ...((row.metadata !== null || row.spans !== null) && { outside: outsideOf(row) }),
    ...(attached && {
      attached: attached.map(({ id, base64 }) => ({ id, data: Buffer.from(base64, "base64") })),
    }),
  };
}

function outsideOf({ channel, origin, metadata, spans }: JobRow): Outside {
  return {
    origin: origin ?? channel,
    ...(metadata !== null && { data: JSON.parse(metadata) as unknown }),
    ...(spans !== null && { spans: JSON.parse(spans) as NonNullable<Outside["spans"]> }),
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
    ...(row.sender !== "" && { sender: row.sender }),
    ...(row.conversation !== null && { conversation: row.conversation }),
    ...(row.metadata !== null && { metadata: JSON.parse(row.metadata) as Record<string, unknown> }),
    ...(row.origin !== null && { origin: row.origin }),
    ...(row.spans !== null && { spans: JSON.parse(row.spans) as NonNullable<Outside["spans"]> }),
    ...(row.request !== null && { turn: JSON.parse(row.request) as JobTurn }),
  };
}

export function jobOf(row: JobRow): Job {
  return {
    id: row.id,
    user: row.user,
    channel: row.channel,
    ...(row.sender !== "" && { sender: row.sender }),
    message: row.message,
    status: row.status,
    ...(row.held === 1 && row.status === "queued" && { waitingFor: "pairing" as const }),
    createdAt: row.created_at,
    attempts: row.attempts,
    ...(row.started_at !== null && { startedAt: row.started_at }),
    ...(row.callback !== null && { callback: JSON.parse(row.callback) as JobCallback }),
    ...(row.thread !== null && { thread: row.thread }),
    ...(row.turn !== null && { turn: row.turn }),
    ...(row.conversation !== null && { conversation: row.conversation }),
    ...(row.response !== null && { response: row.response }),
    ...(row.error !== null && { error: JSON.parse(row.error) as { code: string; message: string } }),
    ...(row.completed_at !== null && { completedAt: row.completed_at }),
  };
}
