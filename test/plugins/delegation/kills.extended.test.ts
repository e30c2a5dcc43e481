/** A service that is killed while a job waits for its task: the next one finds the task again. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../support/home.ts";
import { describePostgres, freshDatabase } from "../../support/processes/postgres/database.ts";
import type { ChatRequest, ModelServer } from "../../support/servers/model-server.ts";
import { bootAgent, scriptedModel } from "../../support/services/agent.ts";
import { createTurnedClock } from "../../support/services/turned-clock.ts";
import { afterThisTest } from "../../support/undo.ts";

const NODE = fileURLToPath(new URL("../../fixtures/processes/routine-node.ts", import.meta.url));
const NOW = "2026-11-17T08:00:00Z";

/** The child stalls until `isKilled`; the job then words it anew, as models do. */
function script(model: ModelServer, isKilled: () => boolean): void {
  const says = ({ messages }: ChatRequest, words: string) => JSON.stringify(messages).includes(words);
  model.otherwise((request) => {
    if (!says(request, "As a job")) return isKilled() ? { text: "42" } : { text: ["Half"], end: "stall" };
    if (request.messages.some(({ role }) => role === "tool")) return { text: "Whole." };
    const task = isKilled() ? "The long part, please" : "Long part";
    return { calls: [{ name: "task_delegate", arguments: { task } }] };
  });
}

async function killInBetween(home: string, variables: Readonly<Record<string, string>>, bury: boolean) {
  const model = await scriptedModel();
  let isKilled = false;
  script(model, () => isKilled);
  const doomed = spawn(process.execPath, [NODE, home, NOW], {
    env: { ...process.env, ...variables, MODEL_BASE_URL: model.url, MODEL_NAME: "scripted" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  afterThisTest(() => void doomed.kill("SIGKILL"));
  const [printed] = (await once(doomed.stdout, "data")) as [Buffer];
  const beside = await bootAgent({ model, home, variables, serving: false });
  const job = await beside.service("jobs").submit({ user: "ann", channel: "test", message: "As a job" });
  const sql = await beside.service("store").tables("kill test", []);
  const rows = () => sql.all<{ id: string; status: string }>("SELECT id, status FROM tasks");
  await expect.poll(rows).toMatchObject([{ status: "running" }]);
  const before = await rows();
  await expect.poll(() => model.requests.length).toBe(2);
  isKilled = true;
  doomed.kill("SIGKILL");
  await once(doomed, "exit");
  if (bury) {
    // As if the time had passed after which a node counts as dead.
    await sql.run("UPDATE nodes SET steady_since = 0");
    await sql.run("UPDATE nodes SET seen_at = 0 WHERE id = ?", String(printed).trim());
  }
  const clock = createTurnedClock(NOW);
  const next = await bootAgent({ model, home, variables, clock });
  expect(await next.service("jobs").wait(job.id, 300_000)).toMatchObject({ response: "Whole." });
  expect(await rows()).toEqual([{ id: before[0]?.id, status: "completed" }]);
}

describe("on SQLite", () => {
  test("after kill -9 the job is run again, finds its task, and the task is run again once", () =>
    killInBetween(temporaryFolder(), {}, false));
});

describePostgres("on PostgreSQL", () => {
  test("another node takes over from one that died", async () => {
    const variables = {
      STORE_URL: await freshDatabase(afterThisTest),
      POSTERN_SECRETS_KEY: "07".repeat(32),
    };
    await killInBetween(temporaryFolder(), variables, true);
  });
});
