import { Command } from "commander";
import { expect, onTestFinished, test } from "vitest";
import { createCommandContext } from "../../../../kernel/cli/command-context.ts";
import { openSession } from "../../../../kernel/cli/service/session.ts";
import { register } from "../../../../plugins/jobs/commands/job.ts";
import { temporaryFolder } from "../../../support/home.ts";
import { startWebhookProcess } from "../../../support/processes/webhook-process.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { printedBy } from "../../../support/services/printed.ts";
import { client, completed, scripted } from "../../../support/services/webhook.ts";
import { WEBHOOK_SETTINGS, webhookPlugins } from "../../../support/services/webhook-plugins.ts";

/** What the command prints when it is typed on this home. */
async function jobs(home: string, ...words: string[]): Promise<string> {
  const session = openSession({ ...WEBHOOK_SETTINGS, POSTERN_HOME: home, LOG_LEVEL: "error" }, home);
  const group = new Command("job").exitOverride().configureOutput({ writeErr: () => {} });
  register(
    group,
    createCommandContext(session, async () => webhookPlugins, "0.0.0-test"),
  );
  for (const command of group.commands) command.exitOverride();
  return printedBy(() => group.parseAsync(words, { from: "user" }));
}

test("postern job lists, shows, cancels and retries beside the running service, and disturbs none of its jobs", async () => {
  const model = await scriptedModel();
  model.otherwise({ text: ["thinking"], end: "stall" });
  const home = temporaryFolder();
  const service = await startWebhookProcess(home, { ...scripted(model), JOBS_CONCURRENCY: "1" });
  onTestFinished(() => service.kill());
  const { post, get } = client(service.url);
  const submit = async (message: string) =>
    (await post({ user_id: "ada", message, conversation_id: "c1" })).json.job_id as string;
  const [running, queued] = [await submit("first"), await submit("second")];
  await expect.poll(async () => (await get(`/jobs/${running}`)).json.status).toBe("running");

  const listed = JSON.parse(await jobs(home, "list", "--json"));
  expect(listed.jobs).toMatchObject([
    { id: queued, status: "queued", user_id: "webhook/ada", conversation_id: "c1" },
    { id: running, status: "running" },
  ]);
  expect(await jobs(home, "list", "--status", "queued")).toMatch(
    new RegExp(`^JOB .*\\n${queued.slice(0, 8)}  queued  webhook/ada  just now\\n$`),
  );
  expect(await jobs(home, "list", "--user", "nobody")).toBe("No jobs.\n");

  expect(JSON.parse(await jobs(home, "cancel", queued, "--json"))).toMatchObject({
    status: "completed",
    error: { code: "cancelled" },
  });
  await jobs(home, "cancel", running);
  expect(await completed({ get }, running)).toMatchObject({ error: { code: "cancelled" } });
  expect(await jobs(home, "show", running)).toMatch(/^error +cancelled: /m);
  const again = JSON.parse(await jobs(home, "retry", running, "--json"));
  expect(again).toMatchObject({ status: "queued", user_id: "webhook/ada", conversation_id: "c1" });
  await expect.poll(async () => (await get(`/jobs/${again.id}`)).json.status).toBe("running");
  expect(await jobs(home, "list", "--status", "failed")).not.toContain(again.id);
});

test("a job that is not there is told with the way to those that are", async () => {
  const home = temporaryFolder();
  for (const verb of ["show", "cancel", "retry"]) {
    await expect(jobs(home, verb, "none")).rejects.toMatchObject({
      kind: "missing",
      message: expect.stringContaining("job list"),
    });
  }
});

test.for([
  ["--status", "odd"],
  ["--limit", "0"],
  ["--limit", "many"],
])("a wrong option is wrong usage: %j", async (words) => {
  await expect(jobs(temporaryFolder(), "list", ...words)).rejects.toMatchObject({
    code: "commander.invalidArgument",
  });
});
