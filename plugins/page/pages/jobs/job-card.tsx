import ArrowLeft from "lucide/dist/esm/icons/arrow-left.mjs";
import { Prose } from "../../chat/prose/prose.tsx";
import { request } from "../../state/app.ts";
import { useApp, useLive } from "../../state/use-app.ts";
import { ask, type Job } from "../../state/wire.ts";
import { dateTime } from "../../text/language.ts";
import { text } from "../../text/text.ts";
import { Page } from "../../widgets/bar.tsx";
import { Card, KeyValue } from "../../widgets/card.tsx";
import { Button } from "../../widgets/controls.tsx";
import { Icon } from "../../widgets/icon.tsx";
import { Loaded } from "../../widgets/loaded.tsx";

const words = text.jobs;
const EVERY_MS = 1500;

export function JobState({ of: { error, waiting_for, status } }: { of: Job }) {
  const state = error ? (error.code === "cancelled" ? "cancelled" : "failed") : status;
  const look = state === "failed" ? "failed" : waiting_for ? "waiting" : state === "completed" ? "good" : "";
  return (
    <span class={`tag ${look}`}>
      {!error && waiting_for ? words.waitsFor(waiting_for) : (words.states[state] ?? state)}
    </span>
  );
}

/** One job: its message, its answer and its status. */
export function JobCard({ id }: { readonly id: string }) {
  const me = useApp().user?.id;
  const path = `/api/jobs/${encodeURIComponent(id)}`;
  const [, setJob, , shown] = useLive(() => ask<Job>("GET", path), EVERY_MS, [id]);
  const cancel = async () => {
    const changed = await request<Job>("POST", `${path}/cancel`);
    if (changed) setJob(changed);
  };
  const retry = async () => {
    const again = await request<Job>("POST", `${path}/retry`);
    if (again) location.hash = `#/jobs/${again.id}`;
  };
  return (
    <Page
      title={words.job}
      actions={
        <a class="button" href="#/jobs">
          <Icon of={ArrowLeft} />
          {words.all}
        </a>
      }
    >
      <Loaded of={shown}>
        {(job) => (
          <>
            <Card title={words.question} tags={<JobState of={job} />}>
              <p class="asked">{job.message || words.noText}</p>
              <span class="row">
                <Button label={words.again} onClick={retry} />
                {job.status !== "completed" && (
                  <Button label={words.cancel} class="danger" onClick={cancel} />
                )}
                {job.thread_id && job.user === me && (
                  <a href={`#/chat/${job.thread_id}`}>{words.openThread}</a>
                )}
              </span>
            </Card>
            <Card title={words.answer}>
              <div aria-live="polite">
                {job.response === undefined ? (
                  <p class="soft">{job.waiting_for ? words.notPaired : words.noAnswer}</p>
                ) : (
                  <Prose text={job.response} />
                )}
              </div>
            </Card>
            <Card title={words.details}>
              <Details job={job} />
            </Card>
          </>
        )}
      </Loaded>
    </Page>
  );
}

function Details({ job }: { readonly job: Job }) {
  const { callback, error } = job;
  const { facts } = words;
  return (
    <KeyValue
      of={[
        [facts.job, job.id],
        [facts.user, job.user],
        [facts.conversation, job.conversation_id],
        [facts.thread, job.thread_id],
        [facts.created, when(job.created_at)],
        [facts.started, when(job.started_at)],
        [facts.completed, when(job.completed_at)],
        [facts.attempts, String(job.attempts)],
        [facts.error, error && `${error.code}: ${error.message}`],
        [facts.callback, callback && callbackInWords(callback)],
      ]}
    />
  );
}

function callbackInWords({
  status,
  attempts,
  message = "",
  next_at = "",
}: NonNullable<Job["callback"]>): string {
  switch (status) {
    case "waiting":
      return words.callback.waiting;
    case "retrying":
      return words.callback.retrying(attempts, message, next_at);
    case "delivered":
      return words.callback.delivered(attempts);
    case "failed":
      return words.callback.failed(attempts, message);
  }
}

const when = (time: string | undefined): string | undefined => time && dateTime(time);
