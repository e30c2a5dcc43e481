/** Jobs that the webhook and others have queued. A user sees their own, an operator all. */
import { Fault, type Jobs, type User } from "../../../kernel/plugin.ts";
import { Job, JobStatus } from "../../../kernel/vocabulary/job.ts";
import { Type } from "../../../kernel/vocabulary/wire/type.ts";
import { page, pageQuery } from "../api/schemas.ts";
import { type Route, route } from "../route.ts";

export function jobRoutes(jobs: Jobs): readonly Route[] {
  const find = async (user: User, id: string | undefined): Promise<Job> => {
    const job = await jobs.find(id ?? "");
    if (!job || (user.role !== "operator" && job.user !== user.id))
      throw new Fault("missing", "job_not_found", `There is no job ${id}.`, { param: "id" });
    return job;
  };
  return [
    route({
      method: "get",
      path: "/api/jobs",
      tag: "jobs",
      summary: "List jobs, newest first",
      query: Type.Object({ status: Type.Optional(JobStatus), ...pageQuery }),
      answer: page("jobs", Job),
      handle: ({ user, query }) => jobs.list(user.role === "operator" ? query : { ...query, user: user.id }),
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
  ];
}
