import { useState } from "preact/hooks";
import { Prose } from "../../chat/prose/prose.tsx";
import { attempt } from "../../state/app.ts";
import { useApp, useLive } from "../../state/use-app.ts";
import { ask, type Job } from "../../state/wire.ts";
import { Bar } from "../../widgets/bar.tsx";

const EVERY_MILLIS = 1500;

export function stateOf({ error, waiting_for, status }: Job): string {
  if (error) return error.code === "cancelled" ? "cancelled" : "failed";
  return waiting_for ? `waits for ${waiting_for}` : status;
}

/** One job: its message, its answer and its status. */
export function JobCard({ id }: { readonly id: string }) {
  const me = useApp().user?.id;
  const [job, setJob] = useState<Job>();
  const path = `/api/jobs/${encodeURIComponent(id)}`;
  const load = () => ask<Job>("GET", path);
  useLive(
    async (isFirst) => {
      const found = await (isFirst ? attempt(load) : load());
      if (found) setJob(found);
    },
    EVERY_MILLIS,
    [id],
  );
  const cancel = async () => {
    const changed = await attempt(() => ask<Job>("POST", `${path}/cancel`));
    if (changed) setJob(changed);
  };
  const retry = async () => {
    const again = await attempt(() => ask<Job>("POST", `${path}/retry`));
    if (again) location.hash = `#/jobs/${again.id}`;
  };
  const isOver = job?.status === "completed";
  return (
    <>
      <Bar title="Job">
        <a href="#/jobs">All jobs</a>
      </Bar>
      <div class="page">
        {job && (
          <div>
            <section class="card">
              <h2>
                Question <span class={job.error ? "tag failed" : "tag"}>{stateOf(job)}</span>
              </h2>
              <p class="asked">{job.message || "(no text)"}</p>
              <span class="row">
                <button type="button" onClick={() => void retry()}>
                  Run again
                </button>
                {!isOver && (
                  <button type="button" class="danger" onClick={() => void cancel()}>
                    Cancel
                  </button>
                )}
                {job.thread_id && job.user === me && <a href={`#/chat/${job.thread_id}`}>Open the thread</a>}
              </span>
            </section>
            <section class="card">
              <h2>Answer</h2>
              <div aria-live="polite">
                {job.response === undefined ? (
                  <p class="soft">
                    {job.waiting_for ? "The sender is not paired yet: see Webhooks." : "No answer yet."}
                  </p>
                ) : (
                  <Prose text={job.response} />
                )}
              </div>
            </section>
            <section class="card">
              <h2>Details</h2>
              <Details job={job} />
            </section>
          </div>
        )}
      </div>
    </>
  );
}

function Details({ job }: { readonly job: Job }) {
  const { callback, error } = job;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ["Job", job.id],
    ["User", job.user],
    ["Conversation", job.conversation_id],
    ["Thread", job.thread_id],
    ["Created", when(job.created_at)],
    ["Started", when(job.started_at)],
    ["Completed", when(job.completed_at)],
    ["Attempts", String(job.attempts)],
    ["Error", error && `${error.code}: ${error.message}`],
    ["Callback", callback && callbackInWords(callback)],
  ];
  return (
    <dl class="facts">
      {facts.map(
        ([name, value]) =>
          value !== undefined && (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

function callbackInWords({ status, attempts, message, next_at }: NonNullable<Job["callback"]>): string {
  const tries = `${attempts} ${attempts === 1 ? "attempt" : "attempts"}`;
  switch (status) {
    case "waiting":
      return "sent when the job completes";
    case "retrying":
      return `failed after ${tries} (${message}); next attempt ${when(next_at)}`;
    case "delivered":
      return `delivered after ${tries}`;
    case "failed":
      return `given up after ${tries} (${message})`;
  }
}

function when(time: string | undefined): string | undefined {
  return time && new Date(time).toLocaleString();
}
