/** A job as its row says it is. */
import type { Job, JobStatus, JobTurn, Outside, Turn } from "../../../kernel/plugin.ts";

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
  readonly created_at: string;
  readonly completed_at: string | null;
}

/** All that is shown of it, and not what its turn is made of, which may be large. */
export const COLUMNS = `seq, id, "user", channel, sender, fingerprint, message, conversation, metadata, status, held,
  origin, spans, thread, turn, response, error, created_at, completed_at`;

/** The turn that a claimed job is run as. */
export function turnOf(
  row: JobRow & { readonly request: string | null; readonly goesOn: string | undefined },
): Turn {
  const { input, attached, ...given } = (row.request === null ? {} : JSON.parse(row.request)) as JobTurn;
  return {
    ...given,
    id: row.turn as string,
    user: row.user,
    channel: row.channel,
    input: input ?? { type: "message", text: row.message },
    ...(row.goesOn !== undefined && { thread: row.goesOn }),
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

export function jobOf(row: JobRow): Job {
  return {
    id: row.id,
    user: row.user,
    channel: row.channel,
    ...(row.sender !== "" && { sender: row.sender }),
    status: row.status,
    ...(row.held === 1 && row.status === "queued" && { waitingFor: "pairing" as const }),
    createdAt: row.created_at,
    ...(row.thread !== null && { thread: row.thread }),
    ...(row.turn !== null && { turn: row.turn }),
    ...(row.conversation !== null && { conversation: row.conversation }),
    ...(row.response !== null && { response: row.response }),
    ...(row.error !== null && { error: JSON.parse(row.error) as { code: string; message: string } }),
    ...(row.completed_at !== null && { completedAt: row.completed_at }),
  };
}
