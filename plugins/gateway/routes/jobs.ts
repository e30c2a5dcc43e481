/** Jobs that the webhook and others have queued. A user sees their own, an operator all. */
import { Fault, type Job, type JobStatus, type Jobs, type User } from "../../../kernel/plugin.ts";
import { page, pageQuery, ref } from "../api/schemas.ts";
import { jobJson, pageJson } from "../api/wire.ts";
import { type Route, route } from "../route.ts";

interface JobQuery {
  readonly status?: JobStatus;
  readonly limit?: number;
  readonly before?: string;
}

export function jobRoutes(jobs: Jobs): readonly Route[] {
  const find = (user: User, id: string | undefined): Job => {
    const job = jobs.find(id ?? "");
    if (!job || (user.role !== "operator" && job.user !== user.id))
      throw new Fault("missing", "job_not_found", `There is no job ${id}.`, { param: "id" });
    return job;
  };
  return [
    route<unknown, JobQuery>({
      method: "get",
      path: "/api/jobs",
      tag: "jobs",
      summary: "Jobs, newest first",
      query: { status: { enum: ["queued", "running", "completed"] }, ...pageQuery },
      answer: page("jobs", ref("Job")),
      handle: ({ user, query }) =>
        pageJson("jobs", jobs.list(user.role === "operator" ? query : { ...query, user: user.id }), jobJson),
    }),
    route({
      method: "get",
      path: "/api/jobs/{id}",
      tag: "jobs",
      summary: "One job",
      answer: ref("Job"),
      refusals: { 404: "There is no such job" },
      handle: ({ user, params }) => jobJson(find(user, params["id"])),
    }),
    route({
      method: "post",
      path: "/api/jobs/{id}/cancel",
      tag: "jobs",
      summary: "Stop a job; a completed one stays as it is",
      answer: ref("Job"),
      refusals: { 404: "There is no such job" },
      handle({ user, params }) {
        const job = find(user, params["id"]);
        return jobJson(jobs.cancel(job.id) ?? job);
      },
    }),
  ];
}
