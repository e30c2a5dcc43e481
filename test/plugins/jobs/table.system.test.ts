/** Jobs as rows, on both engines, with two nodes on one store. */
import { expect, test } from "vitest";
import { createJobTable } from "../../../plugins/jobs/queue/table.ts";
import { MIGRATIONS } from "../../../plugins/jobs/queue/tables.ts";
import { describeEngines, type StorePlace } from "../../support/processes/engines.ts";

const JOB = { user: "ann", channel: "webhook", message: "Hi" } as const;

async function twoNodes(fresh: () => Promise<StorePlace>) {
  const place = await fresh();
  const node = async () => {
    const store = await place.open();
    const sql = await store.tables("jobs", MIGRATIONS);
    return { sql, table: createJobTable(sql, store) };
  };
  return [await node(), await node()] as const;
}

describeEngines("jobs", (_engine, fresh) => {
  test("with one key, or one signed message, are one job, also when they come at the same moment on two nodes", async () => {
    const [one, other] = await twoNodes(fresh);
    const repeated = { ...JOB, idempotencyKey: "k1" };
    const replayed = { ...JOB, fingerprint: "f1", canBeReplayed: true };
    for (const job of [repeated, replayed]) {
      const inserted = await Promise.all(
        [1, 2, 3, 4].flatMap(() => [one, other].map(({ table }) => table.insert(job))),
      );
      expect(new Set(inserted.map(({ row }) => row.id)).size).toBe(1);
      expect(inserted.filter(({ isNew }) => isNew)).toHaveLength(1);
    }
    const reused = other.table.insert({ ...repeated, message: "Something else" });
    await expect(reused).rejects.toMatchObject({ code: "idempotency_key_reused" });
    expect((await one.table.insert({ ...repeated, user: "eve" })).isNew).toBe(true);
  });

  test("commit with the transaction they are submitted in, or not at all", async () => {
    const [{ sql, table }] = await twoNodes(fresh);
    const undone = sql.transaction(async (tx) => {
      await table.insert(JOB, tx);
      throw new Error("no");
    });
    await expect(undone).rejects.toThrow("no");
    expect(await table.counts()).toEqual({ queued: 0, running: 0 });
    const { row } = await sql.transaction((tx) => table.insert(JOB, tx));
    expect((await table.find(row.id))?.status).toBe("queued");
  });

  test("are claimed once each, by one node, and one at a time of a conversation", async () => {
    const [one, other] = await twoNodes(fresh);
    for (const user of ["ann", "bob", "cid"])
      for (const conversation of ["c", "c", undefined])
        await one.table.insert({ ...JOB, user, ...(conversation && { conversation }) });
    const claim = () =>
      Promise.all(Array.from({ length: 10 }, (_, n) => [one, other][n % 2]?.table.claim("", `turn ${n}`)));
    const claimed = (await claim()).filter((row) => row !== undefined);
    expect(claimed).toHaveLength(6);
    expect(new Set(claimed.map(({ id }) => id)).size).toBe(6);
    expect(claimed.filter(({ conversation }) => conversation === "c")).toHaveLength(3);
    expect(await other.table.counts()).toEqual({ queued: 3, running: 6 });
    for (const { id, turn } of claimed)
      await one.table.complete(id, { response: "ok" }, { turn: String(turn) });
    expect((await claim()).filter((row) => row !== undefined)).toHaveLength(3);
  });

  test("that were cancelled after the claim get no turn, and another's completion does not count", async () => {
    const [{ sql, table }] = await twoNodes(fresh);
    await table.insert({ ...JOB, conversation: "c" });
    const row = await table.claim("", "turn 1");
    if (row === undefined) throw new Error("nothing was claimed");
    expect(await sql.transaction((tx) => table.setThread(tx, row, "t1"))).toBe(true);
    expect(await table.complete(row.id, {}, { turn: "turn 2" })).toBeUndefined();
    expect(await table.complete(row.id, {}, { status: "queued" })).toBeUndefined();
    await table.askToStop(row.id);
    expect(await sql.transaction((tx) => table.setThread(tx, row, "t1"))).toBe(false);
    expect((await table.complete(row.id, { response: "no" }, { turn: "turn 1" }))?.response).toBe("no");
  });
});
