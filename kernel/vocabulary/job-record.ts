/** A job as the wire shows it. */
import type { Job } from "../plugin.ts";

/** §2.4, with `error` beside it where the job failed. */
export function jobRecord(job: Job): Record<string, unknown> {
  return {
    id: job.id,
    status: job.status,
    ...(job.response !== undefined && { response: job.response }),
    ...(job.error && { error: job.error }),
    created_at: job.createdAt,
    ...(job.completedAt !== undefined && { completed_at: job.completedAt }),
  };
}

/** §2.3. */
export function submissionRecord(job: Job): Record<string, unknown> {
  const { id, status, response, error } = jobRecord(job);
  return {
    job_id: id,
    status,
    ...(response !== undefined && { response }),
    ...(error !== undefined && { error }),
  };
}
