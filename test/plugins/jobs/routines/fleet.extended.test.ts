/** Routines where several nodes share a PostgreSQL. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../support/home.ts";
import { describePostgres, freshDatabase } from "../../../support/processes/postgres/database.ts";
import { bootAgent, scriptedModel } from "../../../support/services/agent.ts";
import { createTurnedClock } from "../../../support/services/turned-clock.ts";
import { afterThisTest } from "../../../support/undo.ts";

const NODE = fileURLToPath(new URL("../../../fixtures/processes/routine-node.ts", import.meta.url));

describePostgres("two nodes", () => {
  test("fire each routine once; and when one is killed in the middle of a run, the other runs that job", async () => {
    const model = await scriptedModel();
    const clock = createTurnedClock("2026-11-16T07:00:00Z");
    const variables = {
      STORE_URL: await freshDatabase(afterThisTest),
      POSTERN_SECRETS_KEY: "07".repeat(32),
    };
    const [one, other] = [
      await bootAgent({ model, clock, variables }),
      await bootAgent({ model, clock, variables: { ...variables, JOBS_CONCURRENCY: "1" } }),
    ];
    const routines = other.service("routines");
    const added = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        routines.add({ user: `user-${at}`, schedule: "every 10 minutes", text: `Say ${at}` }),
      ),
    );
    const statuses = async () => {
      clock.look();
      const runs = await Promise.all(added.map(async ({ id }) => (await routines.runs(id)).items));
      return runs.map((items) => items.map(({ status }) => status).join());
    };
    // Both see all of them at the same moment.
    clock.turnTo("2026-11-16T07:10:00Z");
    await expect.poll(statuses).toEqual(added.map(() => "completed"));
    expect(model.requests).toHaveLength(added.length);
    const all = await Promise.all(added.map(({ id }) => routines.change(id, { paused: true })));
    expect(all.every((routine) => routine?.status === "paused")).toBe(true);
    await one.stop();

    // The other has its hand full, so a third claims the next run, begins it and is killed.
    const held = Promise.withResolvers<string>();
    model.script({ text: [held.promise] }, { text: ["Half"], end: "stall" }, { text: "Whole." });
    await other.service("jobs").submit({ user: "bob", channel: "test", message: "Wait" });
    await expect.poll(() => model.requests).toHaveLength(added.length + 1);
    const lone = await routines.add({
      user: "ann",
      schedule: "2026-11-16 at 8:00",
      tz: "UTC",
      text: "Go on",
    });
    const doomed = spawn(process.execPath, [NODE, temporaryFolder(), "2026-11-16T08:00:00Z"], {
      env: { ...process.env, ...variables, MODEL_BASE_URL: model.url, MODEL_NAME: "scripted" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    afterThisTest(() => void doomed.kill("SIGKILL"));
    const [printed] = (await once(doomed.stdout, "data")) as [Buffer];
    await expect.poll(() => model.requests).toHaveLength(added.length + 2);
    await expect
      .poll(async () => (await routines.runs(lone.id)).items)
      .toMatchObject([{ status: "running" }]);
    doomed.kill("SIGKILL");
    await once(doomed, "exit");
    held.resolve("Done.");
    // As if the time had passed after which a node counts as dead.
    const sql = await other.service("store").tables("fleet test", []);
    await sql.run("UPDATE nodes SET steady_since = 0");
    await sql.run("UPDATE nodes SET seen_at = 0 WHERE id = ?", String(printed).trim());
    clock.turnTo("2026-11-16T08:00:30Z");
    await expect
      .poll(async () => {
        clock.look();
        return (await routines.runs(lone.id)).items;
      })
      .toMatchObject([{ status: "completed", cause: "schedule", dueAt: "2026-11-16T08:00:00.000Z" }]);
    expect(model.requests).toHaveLength(added.length + 3);
    expect(await routines.find(lone.id)).toMatchObject({ status: "done" });
  });
});
