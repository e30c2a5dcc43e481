/** Jobs that the webhook and others have queued. A user sees their own, an operator all. */
import { applyLimit, Job, JobStatus, Type } from "../../../kernel/kit.ts";
import { Fault, type Jobs, type Limiter, type User } from "../../../kernel/plugin.ts";
import { page, pageQuery } from "../api/schemas.ts";
import { type Route, route } from "../route.ts";

const MAX_LISTED_CHARACTERS = 500;
const status = Type.Enum([...JobStatus.enum, "failed"], { description: "Failed: completed with an error" });

export function jobRoutes(jobs: Jobs, chatLimit: Limiter): readonly Route[] {
  const find = async (user: User, id: string | undefined): Promise<Job> => {
    const job = await jobs.find(id ?? "");
    if (!job || (user.role !== "operator" && job.user !== user.id)) throw missing(id);
    return job;
  };
  return [
    route({
      method: "get",
      path: "/api/jobs",
      tag: "jobs",
      summary: `List jobs, newest first, each with the first ${MAX_LISTED_CHARACTERS} characters of its message`,
      query: Type.Object({ status: Type.Optional(status), ...pageQuery }),
      answer: page("jobs", Job),
      async handle({ user, query }) {
        const { items, ...rest } = await jobs.list(
          user.role === "operator" ? query : { ...query, user: user.id },
        );
        return { ...rest, items: items.map((job) => ({ ...job, message: beginningOf(job.message) })) };
      },
    }),
    route({
      method: "get",
      path: "/api/jobs/{id}",
      tag: "jobs",
      summary: "Get a job",
      answer: Job,
      refusals: { 404: "There is no such job" },
      handle: ({ user, params }) => find(user, params["id"]),
    }),
    route({
      method: "post",
      path: "/api/jobs/{id}/cancel",
      tag: "jobs",
      summary: "Cancel a job; a completed one stays as it is",
      answer: Job,
      refusals: { 404: "There is no such job" },
      async handle({ user, params }) {
        const job = await find(user, params["id"]);
        return (await jobs.cancel(job.id)) ?? job;
      },
    }),
    route({
      method: "post",
      path: "/api/jobs/{id}/retry",
      tag: "jobs",
      summary: "Put a new job with the same message and user into the queue; it has no callback",
      status: 201,
      answer: Job,
      refusals: { 400: "It cannot be repeated", 404: "There is no such job", 429: "Too many messages" },
      async handle({ user, context, params }) {
        const { id } = await find(user, params["id"]);
        // It counts like a message.
        applyLimit(await chatLimit.take(user.id), context);
        const again = await jobs.retry(id);
        if (!again) throw missing(id);
        return again;
      },
    }),
  ];
}

function missing(id: string | undefined): Fault {
  return new Fault("missing", "job_not_found", `There is no job ${id}.`, { param: "id" });
}

function beginningOf(message: string): string {
  return message.length > MAX_LISTED_CHARACTERS
    ? `${message.slice(0, MAX_LISTED_CHARACTERS).toWellFormed()}…`
    : message;
}
