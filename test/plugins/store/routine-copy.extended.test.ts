/** `postern store copy` with routines in the store: they arrive with their history and go on firing. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../support/home.ts";
import { postern } from "../../support/processes/postern.ts";
import { describePostgres, freshDatabase } from "../../support/processes/postgres/database.ts";
import { bootAgent, scriptedModel } from "../../support/services/agent.ts";
import { createTurnedClock } from "../../support/services/turned-clock.ts";
import { afterThisTest } from "../../support/undo.ts";

const POSTERN_SECRETS_KEY = Buffer.alloc(32, 7).toString("base64");
const TEXT = "Summarise my open issues";

/** A service on this store at that time, whose model says what it is asked to. */
async function serve(url: string, at: string) {
  const clock = createTurnedClock(at);
  const model = await scriptedModel();
  const variables = { STORE_URL: url, POSTERN_SECRETS_KEY };
  const kernel = await bootAgent({ model, clock, variables });
  const routines = kernel.service("routines");
  return {
    kernel,
    model,
    clock,
    routines,
    /** Its history once so many runs have ended, the newest first. */
    async history(id: string, count: number) {
      const ended = async () => {
        clock.look();
        return (await routines.runs(id)).items.filter(({ status }) => status !== "running").length;
      };
      await expect.poll(ended).toBe(count);
      return (await routines.runs(id)).items;
    },
    async answers(thread: string | undefined) {
      const { items } = await kernel.service("threads").turns("ann", thread ?? "");
      return items.map(({ channel, items: said }) => [
        channel,
        ...said.map((item) => "text" in item && item.text),
      ]);
    },
  };
}

async function copy(from: string, to: string): Promise<void> {
  const env = { POSTERN_HOME: join(temporaryFolder(), "home"), POSTERN_SECRETS_KEY };
  const { code, stderr } = await postern(["store", "copy", from, to], { env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
}

function newFile(): string {
  const home = join(temporaryFolder(), "home");
  mkdirSync(home, { mode: 0o700 });
  return `sqlite://${join(home, "store.sqlite")}`;
}

describePostgres("a routine in a store that is copied", () => {
  test("keeps its runs and its thread, and fires afterwards, on PostgreSQL and back on SQLite", async () => {
    const file = newFile();
    const first = await serve(file, "2026-11-16T07:00:00Z");
    first.model.script({ text: "Three are open." }, { text: "Two are open." });
    const budget = { usd: 1.5, per: "day" } as const;
    const daily = { user: "ann", schedule: "daily at 8:00", text: TEXT, tz: "Europe/Berlin", budget };
    const { id } = await first.routines.add(daily);
    const paused = await first.routines.add({ ...daily, text: "Not now" });
    await first.routines.change(paused.id, { paused: true });
    for (const [at, count] of [
      ["2026-11-17T07:00:00Z", 1],
      ["2026-11-18T07:00:00Z", 2],
    ] as const) {
      first.clock.turnTo(at);
      await first.history(id, count);
    }
    const routine = await first.routines.find(id);
    const runs = (await first.routines.runs(id)).items;
    const thread = runs[0]?.thread;
    expect(thread).toBeDefined();
    await first.kernel.stop();

    const url = await freshDatabase(afterThisTest);
    await copy(file, url);
    const second = await serve(url, "2026-11-18T08:00:00Z");
    expect(await second.routines.find(id)).toEqual(routine);
    expect((await second.routines.runs(id)).items).toEqual(runs);
    second.model.script({ text: "One is open." });
    second.clock.turnTo("2026-11-19T07:00:00Z");
    const third = await second.history(id, 3);
    expect(third).toMatchObject([
      { cause: "schedule", status: "completed", dueAt: "2026-11-19T07:00:00.000Z", thread },
      { id: runs[0]?.id },
      { id: runs[1]?.id },
    ]);
    expect(await second.answers(thread)).toEqual([
      ["routine", TEXT, "Three are open."],
      ["routine", TEXT, "Two are open."],
      ["routine", TEXT, "One is open."],
    ]);
    // What was said before the copy is before the model.
    expect(JSON.stringify(second.model.requests[0]?.messages)).toContain("Two are open.");
    expect(await second.routines.find(paused.id)).toMatchObject({ status: "paused", text: "Not now" });
    expect((await second.routines.runs(paused.id)).items).toEqual([]);
    await second.kernel.stop();

    // Nothing ran when the next was due: it is made up for where it is now.
    const back = newFile();
    await copy(url, back);
    const last = await serve(back, "2026-11-20T12:00:00Z");
    const fourth = await last.history(id, 4);
    expect(fourth).toMatchObject([{ cause: "catch_up", status: "completed", thread }, {}, {}, {}]);
    expect(fourth.slice(1)).toEqual(third);
    expect(await last.answers(thread)).toHaveLength(4);
    expect(await last.routines.find(id)).toMatchObject({
      nextAt: "2026-11-21T07:00:00.000Z",
      status: "active",
    });
    expect((await last.routines.add({ ...daily, text: "A new one" })).id).not.toBe(id);
  });

  test("in the middle of a run: the copy runs it again, and the source ends its own", async () => {
    const file = newFile();
    const source = await serve(file, "2026-11-16T07:00:00Z");
    const { promise, resolve } = Promise.withResolvers<string>();
    source.model.script({ text: [promise] });
    const { id } = await source.routines.add({ user: "ann", schedule: "every hour", text: TEXT });
    source.clock.turnTo("2026-11-16T08:00:00Z");
    await expect.poll(() => source.model.requests).toHaveLength(1);
    const url = await freshDatabase(afterThisTest);
    await copy(file, url);

    const target = await serve(url, "2026-11-16T08:00:10Z");
    const [run] = await target.history(id, 1);
    expect(run).toMatchObject({ status: "completed", dueAt: "2026-11-16T08:00:00.000Z" });
    expect(target.model.requests).toHaveLength(1);
    resolve("Done here, too.");
    expect(await source.history(id, 1)).toMatchObject([{ id: run?.id, status: "completed" }]);
  });
});
