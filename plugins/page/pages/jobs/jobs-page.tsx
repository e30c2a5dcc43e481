import Activity from "lucide/dist/esm/icons/activity.mjs";
import { useRef, useState } from "preact/hooks";
import { attempt } from "../../state/app.ts";
import { useApp, useLive } from "../../state/use-app.ts";
import { ask, type Job } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { Page } from "../../widgets/bar.tsx";
import { Button, Select } from "../../widgets/controls.tsx";
import { List } from "../../widgets/list.tsx";
import { Loaded } from "../../widgets/loaded.tsx";
import { Moment } from "../../widgets/moment.tsx";
import { EmptyState } from "../../widgets/states.tsx";
import { JobCard, JobState } from "./job-card.tsx";

const words = text.jobs;

const PAGE = 50;
const MAX_AT_ONCE = 200;
const EVERY_MS = 2500;

/** The job queue; `shown` is the job that the address names. */
export function JobsPage({ shown }: { readonly shown: string | undefined }) {
  return shown ? <JobCard key={shown} id={shown} /> : <Queue />;
}

function Queue() {
  const isOperator = useApp().user?.role === "operator";
  const [status, setStatus] = useState("");
  const [earlier, setEarlier] = useState<readonly Job[]>([]);
  const size = useRef(PAGE);

  const read = (limit: number, before?: string) => {
    const query = new URLSearchParams({
      limit: String(limit),
      ...(status && { status }),
      ...(before && { before }),
    });
    return ask<{ readonly jobs: readonly Job[]; readonly next: string | null }>("GET", `/api/jobs?${query}`);
  };
  const [found, setFound, , shown] = useLive(() => read(size.current), EVERY_MS, [status]);
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
      title={text.pages.jobs}
      actions={<Select label={words.status} options={words.statuses} value={status} onValue={choose} />}
    >
      <Loaded of={shown} lines={8}>
        {() => (
          <>
            {jobs.length === 0 && <Empty status={status} isOperator={isOperator} />}
            <List
              columns={[
                words.columns.created,
                ...(isOperator ? [words.columns.user] : []),
                words.columns.status,
                words.columns.question,
              ]}
              items={jobs}
              hasActions={false}
            >
              {(job) => (
                <tr key={job.id}>
                  <td class="whole">
                    <Moment at={job.created_at} />
                  </td>
                  {isOperator && (
                    <td class="whole" title={job.user}>
                      {job.user}
                    </td>
                  )}
                  <td>
                    <JobState of={job} />
                  </td>
                  <td>
                    <span class="lines">
                      <a href={`#/jobs/${job.id}`}>{job.message || words.noText}</a>
                      <span class="soft">{job.error?.message ?? job.response ?? ""}</span>
                    </span>
                  </td>
                </tr>
              )}
            </List>
            {next && <Button label={words.earlier} onClick={showEarlier} />}
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Empty({ status, isOperator }: { status: string; isOperator: boolean }) {
  if (status) return <EmptyState title={words.noneOf} icon={Activity} />;
  return (
    <EmptyState
      title={words.none}
      icon={Activity}
      action={
        isOperator && (
          <a class="button" href="#/webhooks">
            {words.openWebhooks}
          </a>
        )
      }
    >
      {words.noneNote} {isOperator && words.noneOperator}
    </EmptyState>
  );
}
