import { useEffect, useState } from "preact/hooks";
import { attempt } from "../app.ts";
import { Bar } from "../frame/bar.tsx";
import { List } from "../frame/list.tsx";
import { ask, type Job } from "../wire.ts";

interface JobPage {
  readonly jobs: readonly Job[];
  readonly next: string | null;
}

export function JobsPage() {
  const [status, setStatus] = useState("");
  const [jobs, setJobs] = useState<readonly Job[]>([]);
  const [next, setNext] = useState<string | null>(null);

  const load = async (before?: string) => {
    const query = new URLSearchParams({ limit: "50", ...(status && { status }), ...(before && { before }) });
    const page = await attempt(() => ask<JobPage>("GET", `/api/jobs?${query}`));
    if (!page) return;
    setJobs(before ? [...jobs, ...page.jobs] : page.jobs);
    setNext(page.next);
  };
  useEffect(() => void load(), [status]);
  const stop = async (id: string) => {
    await attempt(() => ask("POST", `/api/jobs/${id}/cancel`));
    await load();
  };

  return (
    <>
      <Bar title="Jobs">
        <select aria-label="Status" value={status} onChange={(event) => setStatus(event.currentTarget.value)}>
          <option value="">all</option>
          <option value="queued">queued</option>
          <option value="running">running</option>
          <option value="completed">completed</option>
        </select>
        <button type="button" onClick={() => void load()}>
          Refresh
        </button>
      </Bar>
      <div class="page">
        <div>
          {jobs.length === 0 && (
            <p class="soft">No jobs. They come by the webhook channel: set HTTP_ENABLED=true.</p>
          )}
          {jobs.length > 0 && (
            <List columns={["Created", "User", "Status", "Answer"]}>
              {jobs.map((job) => (
                <tr key={job.id}>
                  <td>{new Date(job.created_at).toLocaleString()}</td>
                  <td>{job.user}</td>
                  <td>
                    {job.error ? "failed" : job.waiting_for ? `waits for ${job.waiting_for}` : job.status}
                  </td>
                  <td>{job.error?.message ?? job.response ?? ""}</td>
                  <td>
                    {job.status !== "completed" && (
                      <button type="button" class="danger" onClick={() => void stop(job.id)}>
                        Cancel
                      </button>
                    )}
                  </td>
                </tr>
              ))}
            </List>
          )}
          {next && (
            <button type="button" onClick={() => void load(next)}>
              Earlier jobs
            </button>
          )}
        </div>
      </div>
    </>
  );
}
