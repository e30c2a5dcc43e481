/** The forms in which senders get to see a job. */
import { Job } from "../../kernel/kit/jobs.ts";
import { named, Type } from "../../kernel/kit/schema.ts";

const { id, user, status, waitingFor, response, error, createdAt, completedAt, conversation } =
  Job.properties;

/** §2.3: the response to a submission. */
export const JobSubmission = Type.Object({ id: named("job_id", id), status, waitingFor, response, error });

/** §2.4, with `error` beside it where the job failed. */
export const JobRecord = Type.Object({ id, status, waitingFor, response, error, createdAt, completedAt });

export const CompletedJob = Type.Object({
  ...JobRecord.properties,
  user: named("user_id", user),
  conversation,
});
