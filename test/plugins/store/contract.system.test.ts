import { setImmediate } from "node:timers/promises";
/** What the store promises plugins, held by both engines. */
import { expect, test, vi } from "vitest";
import type { Migrations } from "../../../kernel/kit/store.ts";
import type { Queries, Sql } from "../../../kernel/vocabulary/store.ts";
import { type Columns, defineTables } from "../../../kernel/vocabulary/tables.ts";
import type { OpenStore } from "../../../plugins/store/engine/open-store.ts";
import { describeEngines } from "../../support/processes/engines.ts";

const NUMBERS: Migrations = {
  sqlite: ["CREATE TABLE numbers (n INTEGER PRIMARY KEY, word TEXT)"],
  postgres: ['CREATE TABLE numbers (n BIGINT PRIMARY KEY, word TEXT COLLATE "C")'],
};
const ADD = "INSERT INTO numbers (n) VALUES (?)";

const numbers = async (sql: Queries) =>
  (await sql.all<{ n: number }>("SELECT n FROM numbers ORDER BY n")).map(({ n }) => n);

describeEngines("keyed state", (_engine, fresh) => {
  test("namespaces are apart, and values come back as they were", async () => {
    const store = await (await fresh()).open();
    const [a, b] = [store.keyed<object>("a"), store.keyed<number>("b")];
    await a.set("k", { deep: [1, "ü\0", null] });
    await b.set("k", 2);
    await b.set("other", 3);
    expect(await a.get("k")).toEqual({ deep: [1, "ü\0", null] });
    expect(await b.get(["k", "none", "other"])).toEqual([2, undefined, 3]);
    expect(await b.has("none")).toBe(false);
    expect([await b.delete("k"), await b.delete("k")]).toEqual([true, false]);
    await b.clear();
    expect(await b.get("other")).toBeUndefined();
    expect(await a.has("k")).toBe(true);
  });

  test("what one node sets another gets, also after both have closed", async () => {
    const place = await fresh();
    const [one, other] = [await place.open(), await place.open()];
    await one.keyed<string>("a").set("k", "first");
    await one.keyed<string>("a").set("k", "second");
    expect(await other.keyed<string>("a").get("k")).toBe("second");
    await Promise.all([one.close(), other.close()]);
    expect(await (await place.open()).keyed<string>("a").get("k")).toBe("second");
  });

  test("entries whose key ends so are removed within a transaction, and not where it fails", async () => {
    const store = await (await fresh()).open();
    const [kept, other] = [store.keyed<number>("a"), store.keyed<number>("b")];
    for (const key of ["x/ann", "y/ann", "x/hann_", "x/bob", "nn"]) await kept.set(key, 1);
    await other.set("x/ann", 1);
    const sql = await store.tables("numbers", NUMBERS);
    const remove = (rest: () => void) =>
      sql.transaction(async (tx) => {
        await store.removeKeyed(tx, "a", "/ann");
        rest();
      });
    const keys = async () => (await Array.fromAsync(kept.iterator())).map(([key]) => key).sort();
    const failed = () => {
      throw new Error("no");
    };
    await expect(remove(failed)).rejects.toThrow("no");
    expect(await keys()).toHaveLength(5);
    const version = store.keyedVersion?.();
    await remove(() => {});
    expect(await keys()).toEqual(["nn", "x/bob", "x/hann_"]);
    expect(await other.has("x/ann")).toBe(true);
    if (version !== undefined) expect(store.keyedVersion?.()).not.toBe(version);
  });

  test("a time to live ends", async () => {
    const keyed = (await (await fresh()).open()).keyed<number>("a");
    await keyed.set("short", 1, 20);
    await keyed.set("long", 2, 60_000);
    await expect.poll(() => keyed.get("short")).toBeUndefined();
    expect(await keyed.get("long")).toBe(2);
  });

  test("what has expired is deleted, of every namespace, also where nobody asks for it again", async () => {
    vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"] });
    try {
      const store = await (await fresh()).open();
      await store.keyed("a").set("short", 1, 1000);
      await store.keyed("b").set("short", 1, 1000);
      await store.keyed("b").set("lasting", 1);
      const sql = await store.tables("test", []);
      const count = () => sql.get("SELECT count(*) AS count FROM keyed");
      expect(await count()).toEqual({ count: 3 });
      vi.advanceTimersByTime(60_000);
      await expect.poll(count).toEqual({ count: 1 });
    } finally {
      vi.useRealTimers();
    }
  });

  test("what fails rejects instead of passing for done or for nothing", async () => {
    const store = await (await fresh()).open();
    const keyed = store.keyed<string>("a");
    await keyed.set("k", "v");
    const sql = await store.tables("test", []);
    await sql.run("ALTER TABLE keyed RENAME TO elsewhere");
    await expect(keyed.set("k", "after")).rejects.toThrow(/keyed/);
    await expect(keyed.get("k")).rejects.toThrow(/keyed/);
    await expect(keyed.get(["k", "l"])).rejects.toThrow(/keyed/);
    await expect(keyed.delete("k")).rejects.toThrow(/keyed/);
    await sql.run("ALTER TABLE elsewhere RENAME TO keyed");
    expect(await keyed.get("k")).toBe("v");
  });
});

describeEngines("tables", (engine, fresh) => {
  const open = async (): Promise<Sql> => (await (await fresh()).open()).tables("test", NUMBERS);

  test("say which engine they are on", async () => {
    expect((await open()).engine).toBe(engine);
  });

  test("values come back as they were", async () => {
    const store = await (await fresh()).open();
    const sql = await store.tables("test", {
      sqlite: ["CREATE TABLE values_kept (i INTEGER, t TEXT, r REAL, b BLOB)"],
      postgres: ["CREATE TABLE values_kept (i BIGINT, t TEXT, r DOUBLE PRECISION, b BYTEA)"],
    });
    const insert = "INSERT INTO values_kept (i, t, r, b) VALUES (?, ?, ?, ?)";
    expect(
      await sql.run(insert, Number.MAX_SAFE_INTEGER, "it's ü 𝄞 ? $1", 0.1, new Uint8Array([0, 255])),
    ).toBe(1);
    expect(await sql.run(insert, -1n, "", -1.5e300, new Uint8Array())).toBe(1);
    expect(await sql.run(insert, null, null, null, null)).toBe(1);
    const rows = await sql.all("SELECT i, t, r, b FROM values_kept ORDER BY i NULLS LAST");
    expect(rows).toEqual([
      { i: -1, t: "", r: -1.5e300, b: new Uint8Array() },
      { i: Number.MAX_SAFE_INTEGER, t: "it's ü 𝄞 ? $1", r: 0.1, b: new Uint8Array([0, 255]) },
      { i: null, t: null, r: null, b: null },
    ]);
    const found = "SELECT count(*) AS count, max(i) = ? AS largest FROM values_kept WHERE t <> '?' OR i = ?";
    expect(await sql.get(found, Number.MAX_SAFE_INTEGER, 5)).toEqual({ count: 2, largest: 1 });
    expect(await sql.get("SELECT i FROM values_kept WHERE i = ?", 5)).toBeUndefined();
    expect(await sql.run("UPDATE values_kept SET t = ? WHERE i IS NOT NULL", "x")).toBe(2);
  });

  test("texts are in the order of their characters' numbers", async () => {
    const sql = await open();
    const words = ["Z", "a", "é", "_", "B", "ab", "A"];
    await Promise.all(
      words.map((word, n) => sql.run("INSERT INTO numbers (n, word) VALUES (?, ?)", n, word)),
    );
    const rows = await sql.all<{ word: string }>("SELECT word FROM numbers ORDER BY word");
    expect(rows.map(({ word }) => word)).toEqual(words.toSorted());
  });

  test("a write that answers rows answers them", async () => {
    const sql = await open();
    await sql.run(ADD, 1);
    const put =
      "INSERT INTO numbers (n, word) VALUES (?, ?) ON CONFLICT (n) DO UPDATE SET word = excluded.word RETURNING n, word";
    expect(await sql.get(put, 1, "one")).toEqual({ n: 1, word: "one" });
    expect(await sql.transaction((tx) => tx.all(put, 2, "two"))).toEqual([{ n: 2, word: "two" }]);
    expect(await numbers(sql)).toEqual([1, 2]);
  });

  test("a transaction that throws leaves nothing behind", async () => {
    const sql = await open();
    const changed = sql.transaction(async (tx) => {
      await tx.run(ADD, 1);
      throw new Error("changed my mind");
    });
    await expect(changed).rejects.toThrow("changed my mind");
    expect(await numbers(sql)).toEqual([]);
  });

  test("what is not committed is seen inside alone", async () => {
    const place = await fresh();
    const sql = await (await place.open()).tables("test", NUMBERS);
    const elsewhere = await (await place.open()).tables("test", NUMBERS);
    const seen = await sql.transaction(async (tx) => {
      await tx.run(ADD, 1);
      return { inside: await numbers(tx), beside: await numbers(sql), elsewhere: await numbers(elsewhere) };
    });
    expect(seen).toEqual({ inside: [1], beside: [], elsewhere: [] });
    expect(await numbers(elsewhere)).toEqual([1]);
  });

  test("a statement beside an open transaction is no part of it", async () => {
    const sql = await open();
    let beside: Promise<number> | undefined;
    const failed = sql.transaction(async (tx) => {
      await tx.run(ADD, 1);
      beside = sql.run(ADD, 2);
      throw new Error("changed my mind");
    });
    await expect(failed).rejects.toThrow("changed my mind");
    expect(await beside).toBe(1);
    expect(await numbers(sql)).toEqual([2]);
  });

  test("one that fails takes back only its own", async () => {
    const sql = await open();
    const works = [1, 2, 3, 4].map((n) =>
      sql.transaction(async (tx) => {
        await Promise.all([tx.run(ADD, n), tx.run(ADD, n + 10)]);
        if (n % 2 === 1) throw new Error("changed my mind");
        return n;
      }),
    );
    expect(await Promise.allSettled(works)).toMatchObject([
      { reason: { message: "changed my mind" } },
      { value: 2 },
      { reason: { message: "changed my mind" } },
      { value: 4 },
    ]);
    await expect(sql.run(ADD, 2)).rejects.toThrow(/unique/i);
    expect(await numbers(sql)).toEqual([2, 4, 12, 14]);
  });

  test("a statement that fails fails its transaction, also where nobody waited for it or minded", async () => {
    const sql = await open();
    await sql.run(ADD, 1);
    const careless = sql.transaction(async (tx) => {
      await tx.run(ADD, 2);
      await tx.run(ADD, 1).catch(() => {});
    });
    await expect(careless).rejects.toThrow(/unique/i);
    const forgetful = sql.transaction(async (tx) => {
      void tx.run(ADD, 3);
      void tx.run(ADD, 1);
    });
    await expect(forgetful).rejects.toThrow(/unique/i);
    expect(await numbers(sql)).toEqual([1]);
  });

  test("what is left for last comes last, and is undone with its work", async () => {
    const sql = await open();
    const works = [10, 20].map((n) =>
      sql.transaction(async (tx) => {
        tx.last(
          "UPDATE numbers SET word = 'counted ' || (SELECT count(*) FROM numbers WHERE n >= ? AND n < ?) WHERE n = ?",
          n,
          n + 10,
          n,
        );
        await tx.run(ADD, n);
        await tx.run(ADD, n + 1);
        if (n === 20) throw new Error("changed my mind");
      }),
    );
    await Promise.allSettled(works);
    expect(await sql.all("SELECT n, word FROM numbers ORDER BY n")).toEqual([
      { n: 10, word: "counted 2" },
      { n: 11, word: null },
    ]);
    const failing = sql.transaction(async (tx) => tx.last(ADD, 10));
    await expect(failing).rejects.toThrow(/unique/i);
  });

  test("a demand that is not met rolls everything back and is the error, also where the work then fails for another reason", async () => {
    const sql = await open();
    await sql.run(ADD, 1);
    const unmet = new Error("there is no such number");
    const find = "SELECT 1 FROM numbers WHERE n = ?";
    const failing = sql.transaction(async (tx) => {
      void tx.run(ADD, 2);
      tx.demand(unmet, find, 7);
      await tx.run(ADD, 3).catch(() => {});
    });
    await expect(failing).rejects.toBe(unmet);
    const unawaited = sql.transaction(async (tx) => {
      tx.demand(unmet, find, 7);
      void tx.run(ADD, 4);
    });
    await expect(unawaited).rejects.toBe(unmet);
    const consequent = sql.transaction(async (tx) => {
      tx.demand(unmet, find, 7);
      if ((await tx.get(find, 7).catch(() => undefined)) === undefined) throw new Error("what came of it");
    });
    await expect(consequent).rejects.toBe(unmet);
    await sql.transaction(async (tx) => {
      void tx.run(ADD, 5);
      tx.demand(unmet, find, 5);
    });
    expect(await numbers(sql)).toEqual([1, 5]);
    const broken = sql.transaction(async (tx) => tx.demand(unmet, "SELECT 1 / n FROM nowhere"));
    await expect(broken).rejects.toThrow(/nowhere/);
  });

  test("a handle that is used after its transaction is over is refused", async () => {
    const sql = await open();
    const kept = await sql.transaction(async (tx) => tx);
    await expect(kept.run(ADD, 1)).rejects.toThrow("transaction was over");
    expect(() => kept.last(ADD, 1)).toThrow("transaction was over");
    expect(() => kept.demand(new Error("unmet"), ADD, 1)).toThrow("transaction was over");
    await sql.run(ADD, 2);
    expect(await numbers(sql)).toEqual([2]);
  });

  test("a transaction that waits for something else ends, and the store goes on", async () => {
    const sql = await open();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const waiting = Promise.withResolvers<void>();
      const stuck = sql.transaction(async (tx) => {
        await tx.run(ADD, 1);
        waiting.resolve();
        await new Promise(() => {});
      });
      const ended = expect(stuck).rejects.toThrow("other than its own statements");
      await waiting.promise;
      await vi.advanceTimersByTimeAsync(5000);
      await ended;
    } finally {
      vi.useRealTimers();
    }
    await sql.run(ADD, 1);
    expect(await numbers(sql)).toEqual([1]);
  });

  test("a transaction that gives way between its statements is not refused, however slow the machine is", async () => {
    const sql = await open();
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      await sql.transaction(async (tx) => {
        for (const number of [1, 2, 3]) {
          await tx.run(ADD, number);
          // The clock is looked at from the next round on.
          await setImmediate();
          const next = setImmediate();
          vi.advanceTimersByTime(number === 3 ? 60_000 : 3000);
          await next;
        }
      });
    } finally {
      vi.useRealTimers();
    }
    expect(await numbers(sql)).toEqual([1, 2, 3]);
  });

  test("writers at once on two nodes lose nothing", async () => {
    const place = await fresh();
    const stores = [await place.open(), await place.open()];
    const sqls: Sql[] = [];
    for (const store of stores) sqls.push(await store.tables("test", NUMBERS));
    await sqls[0]?.run("INSERT INTO numbers (n, word) VALUES (0, '')");
    const work = (sql: Sql, n: number) =>
      sql.transaction(async (tx) => {
        await tx.run("UPDATE numbers SET word = word || 'x' WHERE n = 0");
        await tx.run(ADD, n);
      });
    await Promise.all(Array.from({ length: 60 }, (_, n) => work(sqls[n % 2] as Sql, n + 1)));
    expect(await sqls[1]?.get("SELECT count(*) AS count, max(length(word)) AS longest FROM numbers")).toEqual(
      {
        count: 61,
        longest: 60,
      },
    );
  });

  test("what is on its way is written when the store closes", async () => {
    const place = await fresh();
    const store = await place.open();
    const sql = await store.tables("test", NUMBERS);
    const written = Promise.all([1, 2, 3].map((n) => sql.run(ADD, n)));
    const more = sql.transaction((tx) => tx.run(ADD, 4), { flush: false });
    await store.close();
    expect([await written, await more]).toEqual([[1, 1, 1], 1]);
    expect(await numbers(await (await place.open()).tables("test", NUMBERS))).toEqual([1, 2, 3, 4]);
  });
});

describeEngines("migrations", (_engine, fresh) => {
  const FIRST = "CREATE TABLE steps (word TEXT)";
  const SECOND = "INSERT INTO steps VALUES ('second'); INSERT INTO steps VALUES ('third');";

  test("run once, in order, as SQL or as code that sees what came before", async () => {
    const place = await fresh();
    const store = await place.open();
    await store.tables("test", [FIRST]);
    const seen: unknown[] = [];
    const migrations: Migrations = [
      FIRST,
      SECOND,
      async (tx) => {
        seen.push(await tx.all("SELECT word FROM steps"));
        await tx.run("INSERT INTO steps VALUES (?)", "fourth");
      },
    ];
    const sql = await store.tables("test", migrations);
    await store.tables("test", migrations);
    await (await place.open()).tables("test", migrations);
    expect(seen).toEqual([[{ word: "second" }, { word: "third" }]]);
    expect(await sql.get("SELECT count(*) AS count FROM steps")).toEqual({ count: 3 });
  });

  test("one that fails is undone whole and can be tried again", async () => {
    const store = await (await fresh()).open();
    await store.tables("test", [FIRST]);
    const broken = `CREATE TABLE half (a TEXT); INSERT INTO nowhere VALUES ('x');`;
    await expect(store.tables("test", [FIRST, broken])).rejects.toThrow(/nowhere/);
    const throwing = async () => {
      throw new Error("changed my mind");
    };
    await expect(store.tables("test", [FIRST, throwing])).rejects.toThrow("changed my mind");
    const sql = await store.tables("test", [FIRST, "CREATE TABLE half (a TEXT)"]);
    expect(await sql.all("SELECT a FROM half")).toEqual([]);
  });

  test("a store written by a newer version is refused", async () => {
    const place = await fresh();
    await (await place.open()).tables("test", [FIRST, SECOND]);
    const older = (await place.open()).tables("test", [FIRST]);
    await expect(older).rejects.toThrow(expect.objectContaining({ kind: "config", code: "store_newer" }));
    await expect(older).rejects.toThrow(/newer Postern \(test is at 2, this one knows 1\)/);
  });

  test("a store without the stamp of this schema is refused with what to do, and left as it is", async () => {
    const place = await fresh();
    const store = await place.open();
    const sql = await store.tables("test", [FIRST]);
    const stamped = await sql.all("SELECT owner, number FROM migrations WHERE owner = 'schema'");
    expect(stamped).toEqual([{ owner: "schema", number: 3 }]);
    await sql.run("DELETE FROM migrations WHERE owner = 'schema'");
    const older = { kind: "config", code: "store_older", message: expect.stringContaining("set STORE_URL") };
    await expect(place.open()).rejects.toThrow(expect.objectContaining(older));
    expect(await sql.all("SELECT owner FROM migrations WHERE owner = 'schema'")).toEqual([]);
    await sql.run("INSERT INTO migrations VALUES ('schema', 4, '')");
    await expect(place.open()).rejects.toThrow(expect.objectContaining({ code: "store_newer" }));
  });

  test("tables are written once for both engines, and later steps find what the first made", async () => {
    const place = await fresh();
    const first = ({ text, integer, real, bytes, serial, strict }: Columns) =>
      `CREATE TABLE things (seq ${serial}, name ${text} NOT NULL, size ${integer}, share ${real}, body ${bytes}) ${strict}`;
    const sql = await (await place.open()).tables("test", defineTables(first));
    await sql.run(
      "INSERT INTO things (name, size, share, body) VALUES (?, ?, ?, ?)",
      "b",
      2,
      0.5,
      Buffer.of(1),
    );
    const steps = defineTables(
      first,
      ({ text, keyed }) => `CREATE TABLE more (id ${text} PRIMARY KEY) ${keyed}`,
      () => async (tx) => void (await tx.run("INSERT INTO more SELECT name FROM things")),
    );
    await (await place.open()).tables("test", steps);
    expect(await sql.all("SELECT seq, name, size, share FROM things JOIN more ON id = name")).toEqual([
      { seq: 1, name: "b", size: 2, share: 0.5 },
    ]);
  });
});

describeEngines("keys", (_engine, fresh) => {
  test("are one for each purpose, the same on every node", async () => {
    const place = await fresh();
    const [one, other] = [await place.open(), await place.open()];
    const key = await one.keyFor("a");
    expect(key).toHaveLength(32);
    expect(await other.keyFor("a")).toEqual(key);
    expect(await one.keyFor("b")).not.toEqual(key);
  });
});

describeEngines("signals", (engine, fresh) => {
  /** Two nodes where there can be two. */
  async function openTwo(): Promise<readonly [OpenStore, OpenStore]> {
    const place = await fresh();
    const one = await place.open();
    return [one, engine === "postgres" ? await place.open() : one];
  }

  async function listening({ signals }: OpenStore, topic: string) {
    const heard: string[] = [];
    const stop = signals.listen(topic, (payload) => void heard.push(payload));
    await stop.ready();
    return { heard, stop };
  }

  test("all who listen to the topic hear it, once and in order, also on the node that sent it", async () => {
    const [one, other] = await openTwo();
    const ears = [await listening(one, "a"), await listening(other, "a"), await listening(other, "a")];
    const deaf = await listening(other, "b");
    const words = Array.from({ length: 50 }, (_, n) => `word ${n % 7}`);
    await Promise.all(words.slice(0, 20).map((word) => one.signals.send("a", word)));
    for (const word of words.slice(20)) await one.signals.send("a", word);
    for (const { heard } of ears) await expect.poll(() => heard).toEqual(words);
    await one.signals.send("b", "");
    await expect.poll(() => deaf.heard).toEqual([""]);
  });

  test("who hears one knows whether it is its own", async () => {
    const [one, other] = await openTwo();
    const heard: [string, boolean][] = [];
    await other.signals.listen("a", (payload, isOwn) => void heard.push([payload, isOwn])).ready();
    await other.signals.send("a", "mine");
    await one.signals.send("a", "yours");
    await expect
      .poll(() => heard)
      .toEqual([
        ["mine", true],
        ["yours", one === other],
      ]);
  });

  test("one in a transaction is heard when it has committed, and not at all where it has not", async () => {
    const [one, other] = await openTwo();
    const sql = await one.tables("test", NUMBERS);
    const elsewhere = await other.tables("test", NUMBERS);
    const seen: unknown[] = [];
    await other.signals.listen("a", (payload) => void seen.push([payload, numbers(elsewhere)])).ready();
    const undone = sql.transaction(async (tx) => {
      await one.signals.send("a", "never", tx);
      await tx.run(ADD, 1);
      throw new Error("changed my mind");
    });
    await expect(undone).rejects.toThrow("changed my mind");
    await sql.transaction(async (tx) => {
      await one.signals.send("a", "done", tx);
      await one.signals.send("a", "done", tx);
      await tx.run(ADD, 2);
    });
    await expect.poll(() => seen.length).toBe(2);
    expect(await Promise.all(seen.flat())).toEqual(["done", [2], "done", [2]]);
  });

  test("any length and any characters arrive", async () => {
    const [one, other] = await openTwo();
    const { heard } = await listening(other, "a topic with ünusual characters ' \" ; ".repeat(20));
    const sent = ["", "it's \\ \n ü𝄞", "ü𝄞x".repeat(40_000), "x".repeat(7836), "𝄞".repeat(1959), "end"];
    for (const payload of sent)
      await one.signals.send("a topic with ünusual characters ' \" ; ".repeat(20), payload);
    await expect.poll(() => heard.length).toBe(sent.length);
    expect(heard).toEqual(sent);
  });

  test("who has stopped hears nothing more; others still do", async () => {
    const [one, other] = await openTwo();
    const [gone, stays] = [await listening(other, "a"), await listening(other, "a")];
    await one.signals.send("a", "first");
    await expect.poll(() => gone.heard).toEqual(["first"]);
    gone.stop();
    gone.stop();
    await one.signals.send("a", "second");
    await expect.poll(() => stays.heard).toEqual(["first", "second"]);
    stays.stop();
    const again = await listening(other, "a");
    await one.signals.send("a", "third");
    await expect.poll(() => again.heard).toEqual(["third"]);
    expect([gone.heard, stays.heard]).toEqual([["first"], ["first", "second"]]);
  });
});
