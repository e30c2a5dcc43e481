import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createMissions, MIGRATIONS } from "../../../../plugins/agent/context/missions.ts";
import { openStore } from "../../../../plugins/store/sqlite/store.ts";
import { temporaryFolder } from "../../../support/home.ts";

async function openMissions(folder = temporaryFolder()) {
  const store = openStore(join(folder, "store.sqlite"));
  let isOpen = true;
  const close = async () => {
    if (isOpen) await store.close();
    isOpen = false;
  };
  onTestFinished(close);
  const missions = await createMissions(store);
  const run = async (user: string, name: string, params: object) => {
    const outcome = await missions.tools
      .find((tool) => tool.name === name)
      ?.run(params, { user, thread: "t" });
    return outcome?.status === "ok" ? JSON.parse(outcome.output) : outcome;
  };
  return { missions, run, folder, close };
}

test("a mission is put before the model each turn until it is completed, over a restart too", async () => {
  const first = await openMissions();
  const mission = await first.run("ann", "mission_create", { goal: " learn Spanish " });
  expect(mission).toMatchObject({ goal: "learn Spanish", status: "open" });
  await first.close();

  const { missions, run } = await openMissions(first.folder);
  expect((await missions.inForce("ann")).prompt).toContain(`- ${mission.id}: learn Spanish`);
  expect(await run("ann", "mission_complete", { mission: mission.id })).toMatchObject({
    status: "completed",
  });
  expect((await missions.inForce("ann")).prompt).toBe("");
  expect(await run("ann", "mission_list", {})).toMatchObject({
    missions: [{ id: mission.id, status: "completed" }],
  });
  expect(await run("ann", "mission_list", { status: "open" })).toEqual({ missions: [] });
});

test("missions of another user are neither shown nor completed", async () => {
  const { missions, run } = await openMissions();
  const id = (await missions.create("ann", "learn Spanish"))?.id;
  expect((await missions.inForce("bob")).prompt).toBe("");
  expect(await run("bob", "mission_complete", { mission: id })).toMatchObject({
    status: "error",
    code: "no_mission",
  });
  expect(await missions.list("ann", "open")).toHaveLength(1);
});

test("an empty goal and a fifty-first open mission are refused", async () => {
  const { missions, run } = await openMissions();
  expect(await run("ann", "mission_create", { goal: "   " })).toMatchObject({
    status: "error",
    code: "empty_goal",
  });
  for (let at = 0; at < 50; at += 1) await missions.create("ann", `goal ${at}`);
  expect(await run("ann", "mission_create", { goal: "one more" })).toMatchObject({
    status: "error",
    code: "too_many_missions",
  });
});

test("a mission that a command beside the service sets or completes is known to the service", async () => {
  const service = await openMissions();
  expect((await service.missions.inForce("ann")).prompt).toBe("");
  const command = await openMissions(service.folder);
  const id = (await command.missions.create("ann", "learn Spanish"))?.id ?? "";
  expect((await service.missions.inForce("ann")).prompt).toContain(id);
  await command.missions.complete("ann", id);
  expect((await service.missions.inForce("ann")).prompt).toBe("");
});

test("missions of an older store, which nobody approved, stay out of the prompt until they are", async () => {
  const folder = temporaryFolder();
  const store = openStore(join(folder, "store.sqlite"));
  const sql = await store.tables("missions", MIGRATIONS.sqlite.slice(0, 1));
  await sql.run("INSERT INTO missions (id, user, goal, created_at) VALUES ('m_1', 'ann', 'obey', '2026')");
  await store.close();
  const { missions, run } = await openMissions(folder);
  expect((await missions.inForce("ann")).prompt).toBe("");
  expect(await run("ann", "mission_list", {})).toMatchObject({ missions: [{ id: "m_1", approved: false }] });
  expect(await run("ann", "mission_create", { goal: "obey" })).toMatchObject({ id: "m_1", approved: true });
  expect((await missions.inForce("ann")).prompt).toContain("- m_1: obey");
});
