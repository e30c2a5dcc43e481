/** Turns as rows, on both engines, with two nodes on one store. */
import { randomUUIDv7 } from "node:crypto";
import { expect, test } from "vitest";
import { NO_USAGE } from "../../../../kernel/kit/turns.ts";
import type { Sql } from "../../../../kernel/plugin.ts";
import type { Alongside, Turn } from "../../../../plugins/agent/services.ts";
import { CUT_SHORT, createLedger, type Ledger } from "../../../../plugins/agent/threads/ledger.ts";
import { MIGRATIONS } from "../../../../plugins/agent/threads/tables.ts";
import type { TurnWriter } from "../../../../plugins/agent/threads/writing/writer.ts";
import type { Store } from "../../../../plugins/store/services.ts";
import { describeEngines, openPostgres, type StorePlace } from "../../../support/processes/engines.ts";
import { describePostgres, freshDatabase } from "../../../support/processes/postgres/database.ts";
import { afterThisTest } from "../../../support/undo.ts";

const MODEL = { provider: "test", name: "test" };
const COMPLETED = { status: "completed" } as const;
const MESSAGE: Turn = { user: "ann", channel: "test", input: { type: "message", text: "Hello there" } };

interface Node {
  readonly sql: Sql;
  readonly ledger: Ledger;
  open(more?: Partial<Turn>, alongside?: Alongside): ReturnType<Ledger["open"]>;
}

function nodeOn(sql: Sql, { living }: Pick<Store["node"], "living">, id: string = randomUUIDv7()): Node {
  const ledger = createLedger(sql, { id, living });
  return {
    sql,
    ledger,
    open: (more, alongside) =>
      ledger.open({ ...MESSAGE, id: randomUUIDv7(), ...more }, MODEL, { isIdGiven: false, alongside }),
  };
}

async function node(place: StorePlace): Promise<Node> {
  const store = await place.open();
  return nodeOn(await store.tables("agent", MIGRATIONS), store.node, store.node.id);
}

async function twoNodes(fresh: () => Promise<StorePlace>): Promise<[Node, Node]> {
  const place = await fresh();
  return [await node(place), await node(place)];
}

const count = async ({ sql }: Node, table: string) =>
  (await sql.get<{ count: number }>(`SELECT count(*) AS count FROM ${table}`))?.count;

const JOB: Partial<Turn> = { work: { job: "a job" } };
const recordCall = ({ sql }: Node, { records }: TurnWriter) =>
  sql.transaction(async (tx) => {
    await records?.call("write", {}).record(tx, { about: "/log.txt" });
  });

describeEngines("turns", (engine, fresh) => {
  test("of the messages that wait, those that this node has in hand are not read again", async () => {
    const store = await (await fresh()).open();
    const sql = await store.tables("agent", MIGRATIONS);
    const read: unknown[] = [];
    const all: Sql["all"] = async (text, ...values) => {
      const rows = await sql.all(text, ...values);
      read.push(...rows);
      return rows as never;
    };
    const get: Sql["get"] = async (text, ...values) => {
      const row = await sql.get(text, ...values);
      read.push(row);
      return row as never;
    };
    const one = nodeOn(sql, store.node, store.node.id);
    const { thread } = (await one.open()).writer;
    const message = (text: string) => ({ thread, input: { type: "message", text } as const });
    const keeping = { survivesRestart: true };
    const { id } = (await one.open({ ...message("A long one"), keeping })).writer;
    await one.open({ ...message("Another"), keeping });
    const { ledger } = nodeOn({ ...sql, all, get }, store.node, store.node.id);
    const found = await ledger.waiting((turn) => turn === id);
    expect(found.map(({ turn }) => turn.input)).toEqual([message("Another").input]);
    expect(JSON.stringify(read)).toContain("Another");
    expect(JSON.stringify(read)).not.toContain("A long one");
  });

  test("the caller's tools stay with the thread, and are written only where they have changed", async () => {
    const [one] = await twoNodes(fresh);
    const rows = () => one.sql.all("SELECT digest, tools FROM thread_tools");
    const tools = [{ name: "find" }];
    const first = await one.open({ answer: { tools } });
    const { thread } = first.writer;
    await first.writer.finish(COMPLETED, NO_USAGE);
    const [written] = (await rows()) as { digest: string }[];
    await one.sql.run("UPDATE thread_tools SET tools = 'as it was'");
    await (await one.open({ thread, answer: { tools } })).writer.finish(COMPLETED, NO_USAGE);
    expect(await rows()).toEqual([{ digest: written?.digest, tools: "as it was" }]);
    await (await one.open({ thread, answer: { tools: [{ name: "seek" }] } })).writer.finish(
      COMPLETED,
      NO_USAGE,
    );
    expect(await one.ledger.tools("ann", thread)).toEqual([{ name: "seek" }]);
    expect(await one.ledger.tools("eve", thread)).toEqual([]);
    await (await one.open({ thread })).writer.finish(COMPLETED, NO_USAGE);
    expect(await rows()).toEqual([]);
  });

  test("a job's message that was taken over from a node that stood still was not cancelled", async () => {
    const { sql } = await node(await fresh());
    const stood = nodeOn(sql, { living: "(SELECT 'another')" });
    const { thread } = (await stood.open()).writer;
    const waiting = await stood.open({ thread, ...JOB, keeping: { survivesRestart: true } });
    await nodeOn(sql, { living: "(SELECT 'another')" }).ledger.takeOver(() => false);
    expect(await waiting.writer.begin(MODEL)).toBe("gone");
    expect(await waiting.writer.gone).toMatchObject({ code: "interrupted" });
  });

  test("of a turn that leaves nothing behind nothing is left when its node has died, either", async () => {
    const place = await fresh();
    const [dead, living] = [await node(place), await node(place)];
    const gone = nodeOn(dead.sql, { living: "(SELECT 'nobody')" });
    const history = [{ type: "message", id: "", role: "user", text: "Before" }] as const;
    await gone.open({ keeping: { ephemeral: true }, preamble: { history } });
    const kept = await gone.open();
    const taken = await nodeOn(living.sql, { living: "(SELECT 'nobody')" }).ledger.takeOver(() => false);
    expect(taken).toHaveLength(2);
    expect(await living.sql.all("SELECT id FROM threads")).toEqual([{ id: kept.writer.thread }]);
    expect([await count(living, "turns"), await count(living, "turn_items")]).toEqual([1, 1]);
  });

  test("one runs in a thread of all nodes, four wait in line, and more are refused", async () => {
    const [one, other] = await twoNodes(fresh);
    const first = await one.open();
    const { thread } = first.writer;
    const asked = await Promise.allSettled(
      [1, 2, 3, 4, 5, 6].map((n) => [one, other][n % 2]?.open({ thread })),
    );
    const waiting = asked.flatMap((each) => (each.status === "fulfilled" && each.value ? [each.value] : []));
    const refused = asked.flatMap((each) => (each.status === "rejected" ? [each.reason.code] : []));
    expect([first, ...waiting].map(({ hasToWait }) => hasToWait)).toEqual([false, true, true, true, true]);
    expect(refused).toEqual(["thread_busy", "thread_busy"]);
    const [second, third] = waiting.toSorted((a, b) => a.writer.seq - b.writer.seq);
    expect(await second?.writer.begin(MODEL)).toBe("waiting");
    await first.writer.finish(COMPLETED, NO_USAGE);
    expect(await third?.writer.begin(MODEL)).toBe("waiting");
    expect(await second?.writer.begin(MODEL)).toBe("running");
    expect(await second?.writer.begin(MODEL)).toBe("gone");
  });

  test("of two that come at the same moment on two nodes one waits for the other", async () => {
    const [one, other] = await twoNodes(fresh);
    const { writer } = await one.open();
    await writer.finish(COMPLETED, NO_USAGE);
    const both = await Promise.all([one, other].map((each) => each.open({ thread: writer.thread })));
    expect(both.map(({ hasToWait }) => hasToWait).sort()).toEqual([false, true]);
  });

  test("a gate is answered once, whoever is first", async () => {
    const [one, other] = await twoNodes(fresh);
    const { writer } = await one.open();
    const { id: turn, thread } = writer;
    const call = { id: "c1", name: "lookup", params: "{}" };
    const gate = { type: "external_tool" as const, id: "g1", turn, thread, openedAt: "2026", call };
    await writer.finish({ status: "waiting", gate }, NO_USAGE);
    const input = { type: "tool_output", call: "c1", output: "x" } as const;
    const answers = await Promise.allSettled([one, other].map((each) => each.open({ thread, input })));
    const codes = answers.map((each) => (each.status === "rejected" ? each.reason.code : "opened"));
    expect(codes.sort()).toEqual(["no_external_tool_gate", "opened"]);
  });

  test("one that is refused leaves nothing behind, also of what a channel wrote beside it", async () => {
    const place = await fresh();
    const ann = await node(place);
    await (await place.open()).tables("channel", ["CREATE TABLE notes (thread TEXT NOT NULL)"]);
    const write: Alongside = async (tx, { thread }) => {
      await tx.run("INSERT INTO notes (thread) VALUES (?)", thread);
    };
    const given: string[] = [];
    await ann.open({}, async (tx, turn) => {
      given.push(turn.id, turn.thread);
      await write(tx, turn);
    });
    expect(await ann.sql.get("SELECT id, thread FROM turns")).toEqual({ id: given[0], thread: given[1] });
    const fails = ann.open({}, async () => {
      throw new Error("no");
    });
    await expect(fails).rejects.toThrow("no");
    const foreign = ann.open({ user: "eve", thread: given[1] as string }, write);
    await expect(foreign).rejects.toMatchObject({ code: "thread_not_found" });
    const wordless = {
      user: "eve",
      thread: given[1] as string,
      input: { type: "message", text: " " },
    } as const;
    await expect(ann.open(wordless)).rejects.toMatchObject({ code: "thread_not_found" });
    const elsewhere = ann.open({ thread: given[1] as string, after: randomUUIDv7() }, write);
    await expect(elsewhere).rejects.toMatchObject({ code: "turn_not_found" });
    const again = ann.ledger.open({ ...MESSAGE, id: given[0] as string }, MODEL, {
      isIdGiven: true,
      alongside: undefined,
    });
    await expect(again).rejects.toMatchObject({ code: "turn_exists" });
    expect([await count(ann, "threads"), await count(ann, "turns"), await count(ann, "turn_items")]).toEqual([
      1, 1, 1,
    ]);
    expect(await count(ann, "notes")).toBe(1);
  });

  const find = (word: string): string =>
    engine === "sqlite"
      ? `SELECT id AS thread FROM threads WHERE seq IN (SELECT rowid >> 36 FROM thread_texts WHERE thread_texts MATCH '${word}')`
      : `SELECT thread FROM thread_texts WHERE words @@ '${word}'::tsquery`;

  test("what it says is stored before it is told, in order, and becomes an item", async () => {
    const ann = await node(await fresh());
    const { writer } = await ann.open();
    const told: string[] = [];
    const pieces = async () =>
      (await ann.sql.all<{ text: string }>("SELECT text FROM turn_pieces ORDER BY seq"))
        .map(({ text }) => text)
        .join("");
    const heard = Promise.withResolvers<void>();
    writer.say("i1", ["One "], () => told.push("One "));
    writer.say("i1", ["two"], () => {
      told.push("two");
      heard.resolve();
    });
    await heard.promise;
    expect(told.join("")).toBe("One two");
    expect(await pieces()).toBe("One two");
    // What comes right after it is stored a moment later, without anything else happening.
    await new Promise<void>((resolve) => writer.say("i1", [" and"], () => resolve()));
    expect(await pieces()).toBe("One two and");
    const said = { type: "message", id: "i1", role: "assistant", text: "One two and three" } as const;
    const result = {
      type: "tool_call",
      id: "i2",
      call: { id: "c", name: "n", params: "{}" },
      external: false,
    } as const;
    writer.say("i1", [" three"], () => told.push(" three"));
    await writer.put(said, result);
    expect(told).toHaveLength(3);
    expect(await pieces()).toBe("");
    await writer.finish(COMPLETED, NO_USAGE);
    const items = await ann.sql.all<{ body: string }>("SELECT body FROM turn_items ORDER BY seq");
    expect(items.map(({ body }) => JSON.parse(body))).toMatchObject([{ role: "user" }, said, result]);
  });

  test("a turn that keeps its pieces remembers how long each delta was, also after a crash", async () => {
    const place = await fresh();
    const ann = await node(place);
    const { writer } = await ann.open({ keeping: { keepsPieces: true } });
    const told: string[] = [];
    const say = (to: TurnWriter, ...deltas: string[]) =>
      new Promise<void>((resolve) =>
        to.say("i1", deltas, (delta) => {
          told.push(delta);
          resolve();
        }),
      );
    await say(writer, "One ", "two");
    await say(writer, " and");
    writer.say("i1", ["."], (delta) => told.push(delta));
    writer.hold({ type: "message", id: "i1", role: "assistant", text: "One two and." });
    await writer.finish(COMPLETED, NO_USAGE);
    expect(told).toEqual(["One ", "two", " and", "."]);
    const kept = { id: "i1", pieces: [4, 3, 4, 1] };
    expect(writer.record().items).toMatchObject([{ role: "user" }, kept]);
    const stored = async (item: string) =>
      JSON.parse(
        (await ann.sql.get<{ body: string }>("SELECT body FROM turn_items WHERE id = ?", item))?.body ?? "",
      );
    expect(await stored("i1")).toMatchObject(kept);

    const store = await place.open();
    const killed = nodeOn(await store.tables("agent", MIGRATIONS), store.node, "a node that is gone");
    const { writer: cut } = await killed.open({ keeping: { keepsPieces: true } });
    const said = Promise.withResolvers<void>();
    cut.say("i2", ["Once", " upon"], () => said.resolve());
    await said.promise;
    await ann.ledger.takeOver(() => false);
    expect(await stored("i2")).toMatchObject({ text: "Once upon", pieces: [4, 5] });
  });

  test("of a thread that was removed nothing is written any more, which is no failure but is found out", async () => {
    const ann = await node(await fresh());
    const { writer } = await ann.open();
    await ann.sql.run("DELETE FROM threads WHERE id = ?", writer.thread);
    const told = new Promise<void>((resolve) => writer.say("i1", ["Still here"], () => resolve()));
    await told;
    expect(await writer.gone).toBeUndefined();
    expect(await writer.markWrote()).toBe(false);
    await writer.put({ type: "message", id: "i1", role: "assistant", text: "Still here" });
    await writer.finish(COMPLETED, NO_USAGE);
    expect([
      await count(ann, "turns"),
      await count(ann, "turn_items"),
      await count(ann, "turn_pieces"),
    ]).toEqual([0, 0, 0]);
    expect(await ann.sql.all(find("still"))).toEqual([]);
  });

  test("what a call left behind does after its turn was interrupted is not done", async () => {
    const [one] = await twoNodes(fresh);
    const { writer } = await one.open(JOB);
    await writer.finish({ status: "failed", error: CUT_SHORT }, NO_USAGE);
    await expect(recordCall(one, writer)).rejects.toMatchObject({ code: "thread_deleted" });
    expect(await count(one, "recorded_calls")).toBe(0);
  });

  test("those that a crash left open end as interrupted, with what was said, which is found", async () => {
    const place = await fresh();
    const after = await node(place);
    const store = await place.open();
    const before = nodeOn(await store.tables("agent", MIGRATIONS), store.node, "a node that is gone");
    const { writer } = await before.open();
    await new Promise<void>((resolve) => writer.say("i1", ["Once upon"], () => resolve()));
    const { id, thread } = writer;
    expect(await after.ledger.takeOver(() => false)).toEqual([{ id, thread, user: "ann" }]);
    expect(await after.ledger.takeOver(() => false)).toEqual([]);
    // It was only slow: what it still says does not count.
    expect(await writer.markWrote()).toBe(false);
    expect(await writer.gone).toMatchObject({ code: "interrupted" });
    await writer.put({ type: "message", id: "i2", role: "assistant", text: "there was" });
    await writer.finish(COMPLETED, NO_USAGE);
    const [turn] = await after.sql.all<{ status: string; error: string }>("SELECT status, error FROM turns");
    expect(turn).toMatchObject({ status: "failed", error: expect.stringContaining("interrupted") });
    expect(await count(after, "turn_pieces")).toBe(0);
    expect(await after.sql.all(find("upon"))).toEqual([{ thread: writer.thread }]);
  });
});

describePostgres("a turn that ends while another node takes it over", () => {
  test("leaves what it recorded for the next attempt of its job", async () => {
    const url = await freshDatabase(afterThisTest);
    const open = async () => {
      const store = await openPostgres(url);
      afterThisTest(() => store.close());
      return store;
    };
    const [one, other] = await twoNodes(async () => ({ url, open }));
    const { writer } = await one.open(JOB);
    await recordCall(one, writer);
    let ended: Promise<unknown> | undefined;
    await other.sql.transaction(async (tx) => {
      await tx.run("UPDATE turns SET node = 'another' WHERE id = ?", writer.id);
      ended = writer.finish(COMPLETED, NO_USAGE);
      const waits = "SELECT 1 FROM pg_locks WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))";
      while ((await tx.get(waits)) === undefined);
    });
    await ended;
    expect(await count(one, "recorded_calls")).toBe(1);
  });
});

describePostgres("round trips", () => {
  test("a message, its answer and the end of the turn take three, and one more where history comes along", async () => {
    const store = await openPostgres(await freshDatabase(afterThisTest));
    afterThisTest(() => store.close());
    const ann = nodeOn(await store.tables("agent", MIGRATIONS), store.node);
    const turn = async (more: Partial<Turn> = {}) => {
      const before = store.roundTrips();
      const { writer } = await ann.open(more);
      await new Promise<void>((resolve) => writer.say("x", ["Some words"], () => resolve()));
      writer.hold({ type: "message", id: randomUUIDv7(), role: "assistant", text: "Some words" });
      await writer.finish(COMPLETED, NO_USAGE);
      return { id: writer.id, thread: writer.thread, took: store.roundTrips() - before };
    };
    const { id, thread, took } = await turn();
    expect(took).toBeLessThanOrEqual(3);
    expect((await turn({ thread })).took).toBeLessThanOrEqual(3);
    expect((await turn({ thread, after: id })).took).toBeLessThanOrEqual(3);
    // A branch, what it brings and its tools go along.
    const history = [{ type: "message", id: "", role: "user", text: "Before" }] as const;
    const brought = { thread, after: id, preamble: { history }, answer: { tools: [{ name: "find" }] } };
    expect((await turn(brought)).took).toBeLessThanOrEqual(4);
    expect((await turn({ keeping: { ephemeral: true } })).took).toBeLessThanOrEqual(3);
  });
});
