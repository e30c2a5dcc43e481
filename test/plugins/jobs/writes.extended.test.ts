/** A service that is killed after a job has changed something and before its turn has ended. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../support/home.ts";
import type { ChatRequest } from "../../support/servers/model-server.ts";
import { bootAgent, scriptedModel } from "../../support/services/agent.ts";
import { createTurnedClock } from "../../support/services/turned-clock.ts";
import { afterThisTest } from "../../support/undo.ts";

const NODE = fileURLToPath(new URL("../../fixtures/processes/routine-node.ts", import.meta.url));
const NOW = "2026-11-17T08:00:00Z";
const LONG = 300_000;
const LINE = "one line";

const hasCalled = ({ messages }: ChatRequest): boolean => messages.some(({ role }) => role === "tool");

/**
 * The first message has the tool called, and the service is killed while the model answers to its result. Returns the job as it is after the
 * restart.
 */
async function killAfter(call: { name: string; arguments: object }, home: string, delegated = false) {
  const model = await scriptedModel();
  let isKilled = false;
  model.otherwise((request) => {
    const isParent = delegated && !JSON.stringify(request.messages).includes("another agent has delegated");
    if (hasCalled(request))
      return isParent || isKilled ? { text: "Done." } : { text: ["Half"], end: "stall" };
    return { calls: [isParent ? { name: "task_delegate", arguments: { task: "Write" } } : call] };
  });
  const doomed = spawn(process.execPath, [NODE, home, NOW], {
    env: { ...process.env, MODEL_BASE_URL: model.url, MODEL_NAME: "scripted" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  afterThisTest(() => void doomed.kill("SIGKILL"));
  await once(doomed.stdout, "data");
  const beside = await bootAgent({ model, home, serving: false });
  const { id } = await beside.service("jobs").submit({ user: "ann", channel: "test", message: "As a job" });
  await expect.poll(() => model.requests.filter(hasCalled).length).toBe(1);
  isKilled = true;
  doomed.kill("SIGKILL");
  await once(doomed, "exit");
  const next = await bootAgent({ model, home, clock: createTurnedClock(NOW) });
  const job = await next.service("jobs").wait(id, LONG);
  const read = async (path: string) =>
    Buffer.from((await next.service("workspace").read("ann", path))?.data ?? "").toString();
  return { job, read, next };
}

const append = (path: string) => ({ name: "workspace_write", arguments: { path, text: LINE, append: true } });

test("a job that appended to a file does not do it again after kill -9, and says so", async () => {
  const { job, read } = await killAfter(append("/log.txt"), temporaryFolder());
  expect(await read("/log.txt")).toBe(LINE);
  expect(job).toMatchObject({ status: "completed", error: { code: "interrupted" } });
});

test("neither does one that added to the memory", async () => {
  const call = { name: "memory_write", arguments: { path: "log", text: LINE, append: true } };
  const { job, next } = await killAfter(call, temporaryFolder());
  expect((await next.service("memory").read("ann", "log"))?.text).toBe(LINE);
  expect(job).toMatchObject({ status: "completed", error: { code: "interrupted" } });
});

test("a delegated task that appended to a file does not do it again, and the job is told how it ended", async () => {
  const { job, read, next } = await killAfter(append("/log.txt"), temporaryFolder(), true);
  expect(await read("/log.txt")).toBe(LINE);
  expect(job).toMatchObject({ status: "completed", response: "Done." });
  const tasks = await next.service("tasks").list({ user: "ann" });
  expect(tasks).toMatchObject([{ status: "failed", error: { code: "interrupted" } }]);
});

test("a job that appended to a file of a mounted folder does not do it again", async () => {
  const [home, folder] = [temporaryFolder(), temporaryFolder()];
  const file = join(folder, "log.txt");
  writeFileSync(file, "before\n");
  const command = await bootAgent({ model: await scriptedModel(), home, serving: false });
  await command.service("workspace").mount({ name: "shared", folder, isWritable: true, user: "ann" });
  await command.stop();
  const { job } = await killAfter(append("/shared/log.txt"), home);
  expect(readFileSync(file, "utf8")).toBe(`before\n${LINE}`);
  expect(job).toMatchObject({ status: "completed", error: { code: "interrupted" } });
});
