/** Jobs that the webhook and others have queued. A user sees their own, an operator all. */
import {
  applyLimit,
  missingFault,
  pageFields,
  pageQuery,
  type Route,
  routesOf,
} from "../../../kernel/kit/http.ts";
import { Job, JobStatus } from "../../../kernel/kit/jobs.ts";
import { Type } from "../../../kernel/kit/schema.ts";
import type { Services, User } from "../../../kernel/plugin.ts";

const route = routesOf("jobs");

const MAX_LISTED_CHARACTERS = 500;
const status = Type.Enum([...JobStatus.enum, "failed"], { description: "Failed: completed with an error" });

export function jobRoutes({ jobs, agent }: Pick<Services, "jobs" | "agent">): readonly Route[] {
  const find = async (user: User, id: string): Promise<Job> => {
    const job = await jobs.findListed(id);
    if (!job || (user.role !== "operator" && job.user !== user.id)) throw missing(id);
    return job;
  };
  return [
    route("GET /api/jobs", {
      summary: `List jobs, newest first, each with the first ${MAX_LISTED_CHARACTERS} characters of its message`,
      query: Type.Object({
        status: Type.Optional(status),
        user: Type.Optional(
          Type.String({ minLength: 1, maxLength: 500, description: "Operators: only this user's" }),
        ),
        ...pageQuery,
      }),
      answer: Type.Object(pageFields("jobs", Job)),
      scoped: true,
      async handle({ user, query }) {
        const asked = user.role === "operator" ? query : { ...query, user: user.id };
        const { items, ...rest } = await jobs.list(asked);
        return { ...rest, items: items.map((job) => ({ ...job, message: beginningOf(job.message) })) };
      },
    }),
    route("GET /api/jobs/{id}", {
      summary: "Get a job",
      answer: Job,
      refusals: { 404: "There is no such job" },
      scoped: true,
      handle: ({ user, params }) => find(user, params.id),
    }),
    route("POST /api/jobs/{id}/cancel", {
      summary: "Cancel a job; a completed one stays as it is",
      answer: Job,
      refusals: { 404: "There is no such job" },
      async handle({ user, params }) {
        const job = await find(user, params.id);
        return (await jobs.cancel(job.id)) ?? job;
      },
    }),
    route("POST /api/jobs/{id}/retry", {
      summary: "Put a new job with the same message and user into the queue; it has no callback",
      status: 201,
      answer: Job,
      refusals: {
        400: "It cannot be repeated",
        404: "There is no such job",
        413: "The user's storage is full",
        429: "Too many messages",
      },
      async handle({ user, context, params }) {
        const { id } = await find(user, params.id);
        // It counts like a message.
        applyLimit(await agent.chatLimit.take(user.id), context);
        const again = await jobs.retry(id);
        if (!again) throw missing(id);
        return again;
      },
    }),
  ];
}

const missing = (id: string) => missingFault("job_not_found", `There is no job ${id}.`, "id");

function beginningOf(message: string): string {
  return message.length > MAX_LISTED_CHARACTERS
    ? `${message.slice(0, MAX_LISTED_CHARACTERS).toWellFormed()}…`
    : message;
}
