import { useRef, useState } from "preact/hooks";
import { attempt } from "../../state/app.ts";
import { useApp, useLive } from "../../state/use-app.ts";
import { ask, type Job } from "../../state/wire.ts";
import { Page } from "../../widgets/bar.tsx";
import { List } from "../../widgets/list.tsx";
import { JobCard, stateOf } from "./job-card.tsx";

interface JobPage {
  readonly jobs: readonly Job[];
  readonly next: string | null;
}

const STATUSES = ["queued", "running", "completed", "failed"] as const;
const PAGE = 50;
const MAX_AT_ONCE = 200;
const EVERY_MILLIS = 2500;

/** The job queue; `shown` is the job that the address names. */
export function JobsPage({ shown }: { readonly shown: string | undefined }) {
  return shown ? <JobCard key={shown} id={shown} /> : <Queue />;
}

function Queue() {
  const isOperator = useApp().user?.role === "operator";
  const [status, setStatus] = useState("");
  const [found, setFound] = useState<JobPage>();
  const [earlier, setEarlier] = useState<readonly Job[]>([]);
  const size = useRef(PAGE);

  const read = (limit: number, before?: string) => {
    const query = new URLSearchParams({
      limit: String(limit),
      ...(status && { status }),
      ...(before && { before }),
    });
    return ask<JobPage>("GET", `/api/jobs?${query}`);
  };
  useLive(
    async (isFirst) => {
      const page = await (isFirst ? attempt(() => read(size.current)) : read(size.current));
      if (page) setFound(page);
    },
    EVERY_MILLIS,
    [status],
  );
  const choose = (chosen: string) => {
    size.current = PAGE;
    setFound(undefined);
    setEarlier([]);
    setStatus(chosen);
  };
  const [end, setEnd] = useState<string | null>();
  const next = end === undefined ? found?.next : end;
  const showEarlier = async () => {
    const page = await attempt(() => read(PAGE, next ?? undefined));
    if (!page) return;
    // All shown jobs are refreshed, up to the limit of one request.
    if (earlier.length === 0 && size.current + PAGE <= MAX_AT_ONCE) {
      size.current += PAGE;
      setFound({ jobs: [...(found?.jobs ?? []), ...page.jobs], next: page.next });
      return;
    }
    setEarlier([...earlier, ...page.jobs]);
    setEnd(page.next);
  };
  const known = new Set(found?.jobs.map(({ id }) => id));
  const jobs = [...(found?.jobs ?? []), ...earlier.filter(({ id }) => !known.has(id))];

  return (
    <Page
      title="Jobs"
      actions={
        <select aria-label="Status" value={status} onChange={(event) => choose(event.currentTarget.value)}>
          <option value="">all</option>
          {STATUSES.map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      }
    >
      {found && jobs.length === 0 && <Empty status={status} isOperator={isOperator} />}
      {jobs.length > 0 && (
        <List
          columns={["Created", ...(isOperator ? ["User"] : []), "Status", "Question and answer"]}
          hasActions={false}
        >
          {jobs.map((job) => (
            <tr key={job.id}>
              <td>{new Date(job.created_at).toLocaleString()}</td>
              {isOperator && <td>{job.user}</td>}
              <td>
                <span class={job.error ? "tag failed" : "tag"}>{stateOf(job)}</span>
              </td>
              <td>
                <span class="lines">
                  <a href={`#/jobs/${job.id}`}>{job.message || "(no text)"}</a>
                  <span class="soft">{job.error?.message ?? job.response ?? ""}</span>
                </span>
              </td>
            </tr>
          ))}
        </List>
      )}
      {next && (
        <button type="button" onClick={() => void showEarlier()}>
          Earlier jobs
        </button>
      )}
    </Page>
  );
}

function Empty({ status, isOperator }: { status: string; isOperator: boolean }) {
  if (status) return <p class="soft">No job is {status}.</p>;
  return (
    <p class="soft">
      No jobs yet. A job is a message that a program sends to the webhook channel
      {isOperator ? ": set HTTP_ENABLED=true and HTTP_WEBHOOK_SECRET, then post to /webhook." : "."}
    </p>
  );
}
