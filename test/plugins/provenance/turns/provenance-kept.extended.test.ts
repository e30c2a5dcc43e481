/** Whose words they are outlives a process, and holds on every node and in every copy of the store. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../support/home.ts";
import { postern, startPostern } from "../../../support/processes/postern.ts";
import { describePostgres, freshDatabase } from "../../../support/processes/postgres/database.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { doubtsOf, IBAN, office, pay, READ } from "../../../support/services/office.ts";
import { afterThisTest } from "../../../support/undo.ts";

const OUTSIDER = fileURLToPath(new URL("../../../fixtures/third-party/outsider.ts", import.meta.url));
const KEY = { POSTERN_SECRETS_KEY: "07".repeat(32) };
const PAYING = { calls: [pay("p", IBAN)] };
const NOTING = {
  calls: [{ id: "w", name: "memory_write", arguments: { path: "notes/bill.md", text: `Pay ${IBAN}` } }],
};
const RECALLING = { calls: [{ id: "m", name: "memory_read", arguments: { path: "notes/bill.md" } }] };

test("after kill -9 in the middle of the turn that heard them", async () => {
  const model = await scriptedModel();
  model.otherwise({ text: Array.from({ length: 10_000 }, (_, count) => `word ${count} `), delay: 20 });
  const home = temporaryFolder();
  const service = startPostern(["serve"], {
    env: {
      POSTERN_HOME: home,
      PLUGINS: OUTSIDER,
      MODEL_BASE_URL: model.url,
      GATEWAY_ENABLED: "false",
      MEMORY_VECTORS: "false",
      STORE_URL: `sqlite://${join(home, "store.sqlite")}`,
    },
    cwd: home,
  });
  await service.printed("asked ");
  const [, thread = ""] = /asked \S+ (\S+)/.exec(service.stdout()) ?? [];
  await expect.poll(() => model.requests.length).toBe(1);
  service.kill("SIGKILL");
  await service.ended;

  model.otherwise(PAYING);
  const STORE_URL = `sqlite://${join(home, "store.sqlite")}`;
  const { say, sent } = await office({ STORE_URL }, { home, model });
  const { gate } = await say("Go on", thread);
  expect(doubtsOf(gate)[0]).toMatchObject({ value: IBAN, origin: { kind: "outside", name: "shop" } });
  expect(sent).toEqual([]);
});

describePostgres("on PostgreSQL", () => {
  test("a thread and a document that one node heard ask on another, and an answer there counts here", async () => {
    const STORE_URL = await freshDatabase(afterThisTest);
    const one = await office({ STORE_URL, ...KEY });
    const other = await office({ STORE_URL, ...KEY });
    one.model.script({ calls: [READ] }, NOTING, { text: "Noted." });
    const { thread } = await one.say("Read bill.txt and note it");
    other.model.script(PAYING);
    const { gate } = await other.say("Go on", thread);
    expect(doubtsOf(gate)[0]).toMatchObject({ origin: { kind: "tool", name: "read_file" } });
    other.model.script({ text: "Paid." });
    await other.answer(gate, "destination");
    expect(other.sent).toHaveLength(1);
    expect(await one.kernel.service("destinations").list("ann")).toMatchObject([
      { value: IBAN.toLowerCase() },
    ]);
    one.model.script(RECALLING, { calls: [{ id: "q", name: "send_mail", arguments: { to: IBAN } }] });
    const later = await one.say("Do what my notes say");
    expect(doubtsOf(later.gate)[0]).toMatchObject({ origin: { kind: "memory", name: "notes/bill.md" } });
  });

  test("`store copy` takes them along, with memory and destinations", async () => {
    await expectKeptByCopy(await freshDatabase(afterThisTest));
  });
});

test("`store copy` from one file to another takes them along too", async () => {
  await expectKeptByCopy(`sqlite://${join(temporaryFolder(), "copy.sqlite")}`);
});

async function expectKeptByCopy(to: string): Promise<void> {
  const home = temporaryFolder();
  const from = `sqlite://${join(home, "store.sqlite")}`;
  const first = await office({ STORE_URL: from, ...KEY }, { home });
  first.model.script({ calls: [READ] }, NOTING, { text: "Noted." });
  const { thread } = await first.say("Read bill.txt and note it");
  await first.kernel.service("destinations").add({ value: "ann@home.example", user: "ann" });
  await first.kernel.stop();
  const { code, stderr } = await postern(["store", "copy", from, to], {
    env: { POSTERN_HOME: home, ...KEY },
    cwd: home,
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { model, say, kernel } = await office({ STORE_URL: to, ...KEY });
  expect(await kernel.service("memory").read("ann", "notes/bill.md")).toMatchObject({
    origins: [{ kind: "tool", name: "read_file" }],
  });
  expect(await kernel.service("destinations").list("ann")).toMatchObject([{ value: "ann@home.example" }]);
  model.script(PAYING);
  const { gate } = await say("Go on", thread);
  expect(doubtsOf(gate)[0]).toMatchObject({ value: IBAN, origin: { kind: "tool", name: "read_file" } });
}
