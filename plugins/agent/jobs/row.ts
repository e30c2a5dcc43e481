/** A job as its row says it is. */
import type { Job, JobStatus } from "../../../kernel/plugin.ts";

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
    ...(row.conversation !== null && { conversation: row.conversation }),
    ...(row.response !== null && { response: row.response }),
    ...(row.error !== null && { error: JSON.parse(row.error) as { code: string; message: string } }),
    ...(row.completed_at !== null && { completedAt: row.completed_at }),
  };
}
