import { expect, test } from "vitest";
import { Fault, type Sql } from "../../../../kernel/plugin.ts";
import { MIGRATIONS } from "../../../../plugins/agent/threads/tables.ts";
import { createWriteQueue } from "../../../../plugins/agent/threads/writing/write-queue.ts";
import { openStore } from "../../../../plugins/store/sqlite/store.ts";
import { afterThisTest } from "../../../support/undo.ts";

/** One turn that is open, and a store that can lose the answer of a commit, or the commit itself. */
async function openTurn() {
  const store = openStore(":memory:");
  afterThisTest(() => store.close());
  const sql = await store.tables("agent", MIGRATIONS);
  await sql.run("CREATE TABLE spent (cents INTEGER)");
  await sql.run(
    `INSERT INTO threads (id, "user", title, channel, created_at, updated_at) VALUES ('t', 'ann', '', 'test', '', '')`,
  );
  await sql.run(
    `INSERT INTO turns (id, thread, "user", channel, status, input, provider, model, node, created_at)
     VALUES ('1', 't', 'ann', 'test', 'running', '{}', '', '', 'n', '')`,
  );
  let trouble: "commit" | "answer" | undefined;
  const lossy: Sql = {
    ...sql,
    async transaction(work, options) {
      const now = trouble;
      trouble = undefined;
      const away = new Fault("unavailable", "store_unavailable", "The database is away.");
      const result = await sql.transaction(async (tx) => {
        const done = await work(tx);
        if (now === "commit") throw away;
        return done;
      }, options);
      if (now === "answer") throw away;
      return result;
    },
  };
  const own = { id: "1", node: "n" };
  const queue = createWriteQueue(lossy, { own, items: [], keepsPieces: false, isMute: false, onGone() {} });
  return {
    queue,
    lose(what: "commit" | "answer") {
      trouble = what;
    },
    spent: async () =>
      (await sql.get<{ sum: number }>("SELECT coalesce(sum(cents), 0) AS sum FROM spent"))?.sum,
  };
}

const message = (id: string) => ({ type: "message", id, role: "assistant", text: id }) as const;

for (const what of ["commit", "answer"] as const)
  test(`what is written along with an item counts once where the ${what} is lost`, async () => {
    const { queue, lose, spent } = await openTurn();
    queue.add((tx) => void tx.run("INSERT INTO spent VALUES (1)"));
    lose(what);
    await expect(queue.put(message("a"))).rejects.toThrow("The database is away.");
    queue.add((tx) => void tx.run("INSERT INTO spent VALUES (10)"));
    await queue.put(message("b"));
    expect(await spent()).toBe(11);
    lose(what);
    queue.add((tx) => void tx.run("INSERT INTO spent VALUES (100)"));
    await expect(queue.put(message("c"))).rejects.toThrow("The database is away.");
    await queue.end(async (tx) => queue.writeBesides(tx));
    expect(await spent()).toBe(111);
  });

test("what is added while a commit is under way is written with the next", async () => {
  const { queue, spent } = await openTurn();
  queue.add((tx) => {
    void tx.run("INSERT INTO spent VALUES (1)");
    queue.add((later) => void later.run("INSERT INTO spent VALUES (10)"));
  });
  await queue.put(message("a"));
  await queue.put(message("b"));
  expect(await spent()).toBe(11);
});
