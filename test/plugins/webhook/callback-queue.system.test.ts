import { expect, test } from "vitest";
import { openCallbackQueue } from "../../../plugins/webhook/callbacks/queue.ts";
import { MIGRATIONS } from "../../../plugins/webhook/tables.ts";
import { describeEngines } from "../../support/processes/engines.ts";
import { describePostgres, freshDatabase } from "../../support/processes/postgres/database.ts";
import { startReceiver } from "../../support/servers/receiver.ts";
import { bootWebhook } from "../../support/services/webhook.ts";
import { afterThisTest } from "../../support/undo.ts";

const JOBS = ["a", "b", "c", "d", "e", "f"];

describeEngines("the queue of callbacks", (engine, fresh) => {
  async function openNodes() {
    const place = await fresh();
    const open = async () => {
      const store = await place.open();
      const sql = await store.tables("webhook", MIGRATIONS);
      return { sql, ...openCallbackQueue(sql, store.node) };
    };
    const [here, there] = [await open(), await open()];
    await here.sql.transaction(async (tx) => {
      for (const job of JOBS) here.owe(tx, job, "ann");
    });
    const claimed = async (list: typeof here, most = JOBS.length) =>
      (await list.claim(most)).due.map(({ job }) => job).sort();
    return { here, there, claimed };
  }

  test("each that is due is claimed by one node, and by the other when its lease has ended", async () => {
    const { here, there, claimed } = await openNodes();
    expect(await here.unfinished("b")).toEqual(["c", "d", "e", "f"]);
    expect(await claimed(here)).toEqual([]);
    expect([await here.makeDue(JOBS), await there.makeDue(JOBS)]).toEqual([6, 0]);
    const both = await Promise.all([
      claimed(here, 3),
      claimed(there, 3),
      claimed(here, 3),
      claimed(there, 3),
    ]);
    expect(both.flat().sort()).toEqual(JOBS);
    const { due, nextMillis } = await there.claim(9);
    expect([due, nextMillis]).toEqual([[], expect.any(Number)]);
    expect(nextMillis).toBeLessThan(15_000);
    await here.sql.run("UPDATE webhook_callbacks SET due_at = due_at - 14000");
    expect(await claimed(there)).toEqual(JOBS);
  });

  test("a try that failed is due later, one that succeeded is forgotten, and a node that stops hands back", async () => {
    const { here, there, claimed } = await openNodes();
    await here.makeDue(JOBS);
    await claimed(here);
    await here.forget("a");
    await here.retryIn("b", 60_000);
    // It is no longer the one who holds it.
    await there.retryIn("c", 60_000);
    await here.release();
    expect(await claimed(there)).toEqual(["c", "d", "e", "f"]);
    const row = await here.sql.get("SELECT attempts, holder FROM webhook_callbacks WHERE job = 'b'");
    expect(row).toEqual({ attempts: 1, holder: null });
  });

  test("what a dead process held is due at once where no other uses the store, else when its lease ends", async () => {
    const { here, there, claimed } = await openNodes();
    await here.makeDue(JOBS);
    await claimed(here);
    await there.recover();
    expect(await claimed(there)).toEqual(engine === "sqlite" ? JOBS : []);
  });
});

describePostgres("two nodes with the webhook channel", () => {
  test("post each callback once, and count requests together", async () => {
    const receiver = await startReceiver();
    const settings = {
      STORE_URL: await freshDatabase(afterThisTest),
      POSTERN_SECRETS_KEY: Buffer.alloc(32, 7).toString("base64"),
      HTTP_CALLBACK_URL: `http://127.0.0.1:${receiver.port}/done`,
      HTTP_CALLBACK_PRIVATE_HOSTS: `127.0.0.1:${receiver.port}`,
      HTTP_RATE_LIMIT: "9",
    };
    const nodes = [await bootWebhook(settings), await bootWebhook(settings)];
    const posts = Array.from({ length: 12 }, (_, at) =>
      nodes[at % 2]?.post({ user_id: "ada", message: `hello ${at}`, conversation_id: `c${at}` }),
    );
    const accepted = (await Promise.all(posts)).filter((answer) => answer?.status === 200);
    expect(accepted).toHaveLength(9);
    await receiver.received(9);
    const ids = receiver.deliveries.map(({ headers }) => headers["webhook-id"]);
    expect(ids.sort()).toEqual(accepted.map((answer) => answer?.json.job_id).sort());
  });
});
