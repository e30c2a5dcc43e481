/** A service that is killed after a job has changed something and before its turn has ended. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
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

interface Killing {
  readonly call: { readonly name: string; readonly arguments: object };
  /** Called in the same answer. */
  readonly beside?: Killing["call"];
  readonly home?: string;
  /** A task makes the call, which the job delegates. */
  readonly isDelegated?: boolean;
  /** What the next attempt calls, if that is not the same. */
  readonly again?: readonly Killing["call"][];
  /** Before the service is killed; if not given, the model is asked once more. */
  until?(): Promise<void>;
  afterwards?(): void;
}

/** The message has the tool called, and the service is killed before the turn ends. Returns the job as it is after the restart. */
async function killAfter({ call, home = temporaryFolder(), isDelegated, again = [call], ...given }: Killing) {
  const model = await scriptedModel();
  let isKilled = false;
  model.otherwise((request) => {
    const isParent = isDelegated && !JSON.stringify(request.messages).includes("another agent has delegated");
    if (hasCalled(request))
      return isParent || isKilled ? { text: "Done." } : { text: ["Half"], end: "stall" };
    if (isParent) return { calls: [{ name: "task_delegate", arguments: { task: "Write" } }] };
    return { calls: isKilled ? again : given.beside ? [call, given.beside] : [call] };
  });
  const doomed = spawn(process.execPath, [NODE, home, NOW], {
    env: { ...process.env, MODEL_BASE_URL: model.url, MODEL_NAME: "scripted" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  afterThisTest(() => void doomed.kill("SIGKILL"));
  await once(doomed.stdout, "data");
  const beside = await bootAgent({ model, home, serving: false });
  const { id } = await beside.service("jobs").submit({ user: "ann", channel: "test", message: "As a job" });
  if (given.until) await given.until();
  else await expect.poll(() => model.requests.filter(hasCalled).length).toBe(1);
  isKilled = true;
  doomed.kill("SIGKILL");
  await once(doomed, "exit");
  given.afterwards?.();
  const next = await bootAgent({ model, home, clock: createTurnedClock(NOW) });
  const job = await next.service("jobs").wait(id, LONG);
  const read = async (path: string) =>
    Buffer.from((await next.service("workspace").read("ann", path))?.data ?? "").toString();
  return { job, read, next };
}

const append = (path: string, text = LINE) => ({
  name: "workspace_write",
  arguments: { path, text, append: true },
});

/** A home with a folder of the machine mounted, and the file in it. */
async function mountedHome() {
  const [home, folder] = [temporaryFolder(), temporaryFolder()];
  const file = join(folder, "log.txt");
  writeFileSync(file, "before\n");
  const command = await bootAgent({ model: await scriptedModel(), home, serving: false });
  await command.service("workspace").mount({ name: "shared", folder, isWritable: true, user: "ann" });
  await command.stop();
  return { home, file };
}

test("a job that appended to a file is run again after kill -9, and finds that done", async () => {
  const { job, read, next } = await killAfter({ call: append("/log.txt") });
  expect(await read("/log.txt")).toBe(LINE);
  expect(job).toMatchObject({ status: "completed", response: "Done.", attempts: 2 });
  expect(job?.error).toBeUndefined();
  const sql = await next.service("store").tables("test", []);
  expect(await sql.all("SELECT * FROM recorded_calls")).toEqual([]);
});

test("of a job that is not run again nothing stays recorded", async () => {
  const beside = { name: "mission_complete", arguments: { mission: "Learn Welsh" } };
  const { job, next } = await killAfter({ call: append("/log.txt"), beside });
  expect(job).toMatchObject({ status: "completed", error: { code: "interrupted" } });
  const sql = await next.service("store").tables("test", []);
  await expect.poll(() => sql.all("SELECT * FROM recorded_calls")).toEqual([]);
});

test("if the next attempt words the change anew, the job ends and names the file", async () => {
  const { job, read } = await killAfter({ call: append("/log.txt"), again: [append("/log.txt", "1 line")] });
  expect(await read("/log.txt")).toBe(LINE);
  expect(job).toMatchObject({
    status: "completed",
    error: { code: "not_repeated", message: expect.stringContaining("Check /log.txt") },
  });
});

test("a call that the next attempt makes before the same one, in one answer, is made", async () => {
  const again = [append("/other.txt"), append("/log.txt")];
  const { job, read } = await killAfter({ call: append("/log.txt"), again });
  expect(await Promise.all(["/other.txt", "/log.txt"].map(read))).toEqual([LINE, LINE]);
  expect(job).toMatchObject({ status: "completed", response: "Done." });
});

test("a job that added to the memory finds that done", async () => {
  const call = { name: "memory_write", arguments: { path: "log", text: LINE, append: true } };
  const { job, next } = await killAfter({ call });
  expect((await next.service("memory").read("ann", "log"))?.text).toBe(LINE);
  expect(job).toMatchObject({ status: "completed", response: "Done." });
});

test("a job whose tool records nothing is not run again, and says what it had called", async () => {
  const call = { name: "mission_complete", arguments: { mission: "Learn Welsh" } };
  const { job } = await killAfter({ call });
  expect(job).toMatchObject({
    status: "completed",
    error: { code: "interrupted", message: expect.stringContaining("mission_complete") },
  });
});

test("a delegated task that appended to a file is run again, and finds that done", async () => {
  const { job, read, next } = await killAfter({ call: append("/log.txt"), isDelegated: true });
  expect(await read("/log.txt")).toBe(LINE);
  expect(job).toMatchObject({ status: "completed", response: "Done." });
  expect(await next.service("tasks").list({ user: "ann" })).toMatchObject([{ status: "completed" }]);
});

describe("in a mounted folder", () => {
  test("a job finds done what it appended", async () => {
    const { home, file } = await mountedHome();
    const { job } = await killAfter({ call: append("/shared/log.txt"), home });
    expect(readFileSync(file, "utf8")).toBe(`before\n${LINE}`);
    expect(job).toMatchObject({ status: "completed", response: "Done." });
  });

  const AFTER = `before\n${LINE}`;
  test.each([
    { title: "that was written is done", now: AFTER, after: AFTER, response: "Done." },
    { title: "that was not is written then", now: "before\n", after: AFTER, response: "Done." },
    {
      title: "that somebody has changed since is left alone, and the job names it",
      now: "other",
      after: "other",
      response: expect.stringContaining("Check /shared/log.txt"),
    },
  ])("after kill -9 between the disk and the store, a file $title", async ({ now, after, response }) => {
    const { home, file } = await mountedHome();
    const sqlite = new DatabaseSync(join(home, "store.sqlite"));
    const long = "WITH RECURSIVE count (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < 1e11)";
    sqlite.exec(`CREATE TRIGGER stall BEFORE DELETE ON workspace_pending
      BEGIN SELECT (${long} SELECT max(n) FROM count); END`);
    const { job } = await killAfter({
      call: append("/shared/log.txt"),
      home,
      until: () => expect.poll(() => readFileSync(file, "utf8")).toBe(AFTER),
      afterwards() {
        sqlite.exec("DROP TRIGGER stall");
        sqlite.close();
        writeFileSync(file, now);
      },
    });
    expect(readFileSync(file, "utf8")).toBe(after);
    expect(job).toMatchObject({ status: "completed", response });
  });
});
