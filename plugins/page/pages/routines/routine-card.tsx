import ArrowLeft from "lucide/dist/esm/icons/arrow-left.mjs";
import { changeThen, request } from "../../state/app.ts";
import { useApp, useLive } from "../../state/use-app.ts";
import { ask, type Routine, type RoutineRun } from "../../state/wire.ts";
import { dollars } from "../../text/language.ts";
import { text } from "../../text/text.ts";
import { Page } from "../../widgets/bar.tsx";
import { Card, KeyValue } from "../../widgets/card.tsx";
import { Button } from "../../widgets/controls.tsx";
import { confirmed } from "../../widgets/dialog.tsx";
import { Icon } from "../../widgets/icon.tsx";
import { List } from "../../widgets/list.tsx";
import { Loaded } from "../../widgets/loaded.tsx";
import { toast } from "../../widgets/toast.tsx";
import { causeOf, localTime, outcomeOf, statusOf } from "./routine-words.ts";

const words = text.routines;
const EVERY_MS = 2500;

export function RoutineCard({ id }: { readonly id: string }) {
  const { user } = useApp();
  const path = `/api/routines/${encodeURIComponent(id)}`;
  const read = async () => ({
    routine: await ask<Routine>("GET", path),
    ...(await ask<{ runs: readonly RoutineRun[] }>("GET", `${path}/runs`)),
  });
  const [, , reload, shown] = useLive(read, EVERY_MS, [id]);
  const change = changeThen(reload);
  const allow = (tool: string) =>
    change("PUT", `/api/approvals/remembered/${encodeURIComponent(tool)}`, { decision: "allow" });
  const run = async () => {
    if (await change("POST", `${path}/run`)) toast(words.started);
  };
  const remove = async () => {
    const question = { title: words.removeTitle, words: words.removeWords, yes: text.basics.remove };
    if (!(await confirmed({ ...question, danger: true }))) return;
    if (!(await request("DELETE", path))) return;
    toast(words.removed);
    location.hash = "#/routines";
  };

  return (
    <Page
      title={words.routine}
      actions={
        <a class="button" href="#/routines">
          <Icon of={ArrowLeft} />
          {words.all}
        </a>
      }
    >
      <Loaded of={shown}>
        {({ routine, runs }) => (
          <>
            <Card
              title={words.inZone(routine.words, routine.tz)}
              tags={
                <span class={`tag ${routine.status === "active" ? "good" : "waiting"}`}>
                  {words.statuses[routine.status] ?? routine.status}
                </span>
              }
            >
              <p dir="auto" class="asked">
                {routine.text}
              </p>
              <KeyValue
                of={[
                  [
                    words.nextRun,
                    routine.next_at ? localTime(routine.next_at, routine.tz) : statusOf(routine),
                  ],
                  [
                    words.budgetFact,
                    routine.budget &&
                      words.budgetPer(dollars(routine.budget.usd), words.per[routine.budget.per]),
                  ],
                  [words.deliver, routine.deliver],
                  [words.owner, routine.user === user?.id ? undefined : routine.user],
                ]}
              />
              <span class="row">
                <Button label={words.runNow} class="primary" onClick={run} />
                {routine.status !== "done" && (
                  <Button
                    label={routine.status === "active" ? words.pause : words.resume}
                    onClick={() => change("PATCH", path, { paused: routine.status === "active" })}
                  />
                )}
                <Button label={text.basics.remove} class="danger" onClick={remove} />
              </span>
            </Card>
            <Card title={words.runs}>
              <List
                columns={Object.values(words.runColumns)}
                items={runs}
                empty={words.noRuns}
                hasActions={false}
              >
                {(run) => (
                  <tr key={run.id}>
                    <td>{localTime(run.started_at, routine.tz)}</td>
                    <td>{causeOf(run)}</td>
                    <td>
                      {outcomeOf(run)}
                      {run.undelivered && <p>{run.undelivered}</p>}
                      {run.refused.map((refused) => (
                        <p key={refused.message}>
                          {refused.message} <a href="#/tools">{text.pages.tools}</a>{" "}
                          {refused.needs === "approval" && routine.user === user?.id && (
                            <Button
                              label={words.alwaysAllow(refused.tool)}
                              class="small"
                              onClick={() => allow(refused.tool)}
                            />
                          )}
                        </p>
                      ))}
                    </td>
                    <td>{dollars(run.cost_usd)}</td>
                    <td>
                      {run.thread_id && routine.user === user?.id && (
                        <a href={`#/chat/${run.thread_id}`}>{words.open}</a>
                      )}
                    </td>
                  </tr>
                )}
              </List>
            </Card>
          </>
        )}
      </Loaded>
    </Page>
  );
}
