import { useState } from "preact/hooks";
import { attempt } from "../../state/app.ts";
import { useApp, useLive } from "../../state/use-app.ts";
import { ask, type Routine, type RoutineRun } from "../../state/wire.ts";
import { Page } from "../../widgets/bar.tsx";
import { confirmed } from "../../widgets/dialog.tsx";
import { List } from "../../widgets/list.tsx";
import { causeOf, localTime, outcomeOf, statusOf } from "./routine-words.ts";

const EVERY_MILLIS = 2500;

export function RoutineCard({ id }: { readonly id: string }) {
  const { user } = useApp();
  const [routine, setRoutine] = useState<Routine>();
  const [runs, setRuns] = useState<readonly RoutineRun[]>([]);
  const path = `/api/routines/${encodeURIComponent(id)}`;

  const read = async () => {
    setRoutine(await ask<Routine>("GET", path));
    setRuns((await ask<{ runs: readonly RoutineRun[] }>("GET", `${path}/runs`)).runs);
  };
  useLive(async (isFirst) => void (await (isFirst ? attempt(read) : read())), EVERY_MILLIS, [id]);
  const change = async (method: string, to: string, body?: unknown) => {
    await attempt(() => ask(method, to, body));
    await attempt(read);
  };
  const remove = async () => {
    const question = {
      title: "Remove this routine?",
      words: "Its history goes with it. Its thread stays.",
      yes: "Remove",
      danger: true,
    };
    if (!(await confirmed(question))) return;
    await attempt(() => ask("DELETE", path));
    location.hash = "#/routines";
  };

  return (
    <Page title="Routine">
      <p>
        <a href="#/routines">All routines</a>
      </p>
      {routine && (
        <section class="card">
          <h2>
            {routine.words} ({routine.tz})
          </h2>
          <p dir="auto">{routine.text}</p>
          <p>
            {routine.next_at ? `Next run: ${localTime(routine.next_at, routine.tz)}` : statusOf(routine)}
            {routine.budget && ` · $${routine.budget.usd} per ${routine.budget.per}`}
            {routine.deliver && ` · answers go to ${routine.deliver} too`}
            {routine.user !== user?.id && ` · ${routine.user}`}
          </p>
          <span class="row">
            <button type="button" onClick={() => void change("POST", `${path}/run`)}>
              Run now
            </button>
            {routine.status !== "done" && (
              <button
                type="button"
                onClick={() => void change("PATCH", path, { paused: routine.status === "active" })}
              >
                {routine.status === "active" ? "Pause" : "Resume"}
              </button>
            )}
            <button type="button" class="danger" onClick={() => void remove()}>
              Remove
            </button>
          </span>
        </section>
      )}
      {routine && runs.length === 0 && <p class="soft">It has not run yet.</p>}
      {routine && runs.length > 0 && (
        <List columns={["Started", "Why", "Outcome", "Cost", "Thread"]} hasActions={false}>
          {runs.map((run) => (
            <tr key={run.id}>
              <td>{localTime(run.started_at, routine.tz)}</td>
              <td>{causeOf(run)}</td>
              <td>
                {outcomeOf(run)}
                {run.undelivered && <p>{run.undelivered}</p>}
                {run.refused.map((refused) => (
                  <p key={refused.message}>
                    {refused.message} <a href="#/tools">Tools</a>
                    {refused.needs === "approval" && routine.user === user?.id && (
                      <button
                        type="button"
                        onClick={() =>
                          void change(
                            "PUT",
                            `/api/approvals/remembered/${encodeURIComponent(refused.tool)}`,
                            {
                              decision: "allow",
                            },
                          )
                        }
                      >
                        Always allow {refused.tool}
                      </button>
                    )}
                  </p>
                ))}
              </td>
              <td>${run.cost_usd.toFixed(4)}</td>
              <td>
                {run.thread_id && routine.user === user?.id && <a href={`#/chat/${run.thread_id}`}>Open</a>}
              </td>
            </tr>
          ))}
        </List>
      )}
    </Page>
  );
}
