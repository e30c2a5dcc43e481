import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Fault } from "../../../kernel/fault.ts";
import { openStore } from "../../../kernel/store/store.ts";
import { temporaryFolder } from "../../support/home.ts";
import { postern } from "../../support/processes/postern.ts";

const fixture = (name: string) => fileURLToPath(new URL(`../../fixtures/processes/${name}`, import.meta.url));

function run(name: string, file: string): ChildProcess {
  const child = spawn(process.execPath, [fixture(name), file], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

function openTemporary(): { store: ReturnType<typeof openStore>; file: string } {
  const file = join(temporaryFolder(), "store.sqlite");
  const store = openStore(file);
  onTestFinished(() => store.close());
  return { store, file };
}

const NUMBERS = ["CREATE TABLE numbers (n INTEGER PRIMARY KEY)"];

describe("keyed state", () => {
  test("namespaces are apart, values come back as they were, and a time to live ends", async () => {
    const { store } = openTemporary();
    const a = store.keyed<object>("a");
    await a.set("k", { deep: [1, "ü"] });
    await store.keyed<number>("b").set("k", 2, 20);
    expect(await a.get("k")).toEqual({ deep: [1, "ü"] });
    await expect.poll(() => store.keyed<number>("b").get("k")).toBeUndefined();
  });

  test("a write that fails rejects instead of passing for one that was made", async () => {
    const { store } = openTemporary();
    const keyed = store.keyed<string>("a");
    await keyed.set("k", "before");
    store.tables("test", []).get("PRAGMA query_only = ON");
    await expect(keyed.set("k", "after")).rejects.toThrow(/cannot be written/);
  });
});

describe("tables", () => {
  test("a transaction that throws leaves nothing behind, and nests", () => {
    const { store } = openTemporary();
    const sql = store.tables("test", NUMBERS);
    expect(() =>
      sql.transaction(() => {
        sql.run("INSERT INTO numbers VALUES (1)");
        sql.transaction(() => sql.run("INSERT INTO numbers VALUES (2)"));
        throw new Error("changed my mind");
      }),
    ).toThrow("changed my mind");
    expect(sql.all("SELECT n FROM numbers")).toEqual([]);
  });

  test("works of a batch share one commit; one that throws takes back only its own", async () => {
    const { store, file } = openTemporary();
    const sql = store.tables("test", NUMBERS);
    const other = openStore(file);
    onTestFinished(() => other.close());
    const seen = () => other.tables("test", NUMBERS).all<{ n: number }>("SELECT n FROM numbers").length;
    const add = (n: number) => sql.run("INSERT INTO numbers VALUES (?)", n).lastId;
    const told: number[] = [];
    const works = [1, 2, 3].map((n) =>
      sql.batch(() => {
        add(n);
        add(n + 10);
        if (n === 2) throw new Error("changed my mind");
        told.push(seen());
        return n;
      }),
    );
    expect(await Promise.allSettled(works)).toMatchObject([
      { status: "fulfilled", value: 1 },
      { status: "rejected", reason: { message: "changed my mind" } },
      { status: "fulfilled", value: 3 },
    ]);
    // The others' rows were not on disk while any of them was at work, and all are now.
    expect(told).toEqual([0, 0]);
    expect(sql.all("SELECT n FROM numbers ORDER BY n")).toEqual([{ n: 1 }, { n: 3 }, { n: 11 }, { n: 13 }]);
    expect(seen()).toBe(4);
  });

  test("a batch that cannot be committed fails each of its works, and the next one goes through", async () => {
    const { store } = openTemporary();
    const sql = store.tables("test", NUMBERS);
    const add = (n: number) => () => sql.run("INSERT INTO numbers VALUES (?)", n);
    sql.get("PRAGMA query_only = ON");
    const refused = await Promise.allSettled([sql.batch(add(1)), sql.batch(add(2))]);
    expect(refused.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    sql.get("PRAGMA query_only = OFF");
    await sql.batch(add(3));
    expect(sql.all("SELECT n FROM numbers")).toEqual([{ n: 3 }]);
  });

  test("what is left for last comes last, is undone with its work, and needs no transaction", async () => {
    const { store } = openTemporary();
    const sql = store.tables("test", NUMBERS);
    const order: string[] = [];
    const note = (word: string) => () => void order.push(word);
    const works = ["one", "two", "three"].map((word) =>
      sql.batch(() => {
        sql.last(note(`after ${word}`));
        order.push(word);
        if (word === "two") throw new Error("changed my mind");
      }),
    );
    await Promise.allSettled(works);
    sql.last(note("at once"));
    expect(order).toEqual(["one", "two", "three", "after one", "after three", "at once"]);
  });

  test("what waits for a batch is written when the store closes", async () => {
    const file = join(temporaryFolder(), "store.sqlite");
    const store = openStore(file);
    const sql = store.tables("test", NUMBERS);
    const written = sql.batch(() => sql.run("INSERT INTO numbers VALUES (1)"));
    store.close();
    await written;
    const again = openStore(file);
    expect(again.tables("test", NUMBERS).all("SELECT n FROM numbers")).toEqual([{ n: 1 }]);
    again.close();
  });

  test("migrations run once, in order, with a snapshot before each that changes what is there", () => {
    const { store, file } = openTemporary();
    store.tables("test", NUMBERS).run("INSERT INTO numbers VALUES (7)");
    expect(existsSync(`${file}.before-test-1`)).toBe(false);
    const sql = store.tables("test", [...NUMBERS, "ALTER TABLE numbers ADD COLUMN word TEXT DEFAULT 'x'"]);
    expect(sql.all("SELECT n, word FROM numbers")).toEqual([{ n: 7, word: "x" }]);
    const snapshot = openStore(`${file}.before-test-2`);
    expect(snapshot.tables("test", NUMBERS).all("SELECT * FROM numbers")).toEqual([{ n: 7 }]);
    snapshot.close();
  });

  test("a migration that fails is undone whole and can be tried again", () => {
    const { store } = openTemporary();
    store.tables("test", NUMBERS);
    const broken = [...NUMBERS, "CREATE TABLE half (a); SELECT nonsense FROM nowhere;"];
    expect(() => store.tables("test", broken)).toThrow(/nowhere/);
    const sql = store.tables("test", [...NUMBERS, "CREATE TABLE half (a)"]);
    expect(sql.all("SELECT * FROM half")).toEqual([]);
  });

  test("a store written by a newer version is refused with the snapshot to go back to", () => {
    const { store, file } = openTemporary();
    store.tables("test", [...NUMBERS, "CREATE TABLE more (a)"]);
    const open = () => store.tables("test", NUMBERS);
    expect(open).toThrow(Fault);
    expect(open).toThrow(`restore ${file}.before-test-2`);
  });
});

describe("a store in trouble", () => {
  test("locked by another process: the fault names the file and says to stop the other", {
    timeout: 20_000,
  }, async () => {
    const { store, file } = openTemporary();
    const sql = store.tables("test", NUMBERS);
    const other = run("hold-lock.ts", file);
    await once(other.stdout as NodeJS.ReadableStream, "data");
    const write = () => sql.run("INSERT INTO numbers VALUES (1)");
    expect(write).toThrow(
      expect.objectContaining({ kind: "unavailable", code: "store_locked", param: file }),
    );
    other.kill("SIGKILL");
    await once(other, "exit");
    expect(write).not.toThrow();
  });

  test("full: the write that does not fit is refused, the ones before it are kept, and it goes on when there is room", () => {
    const { store } = openTemporary();
    const sql = store.tables("test", ["CREATE TABLE blobs (b BLOB)"]);
    const write = () => sql.run("INSERT INTO blobs VALUES (zeroblob(20000))");
    write();
    const pages = sql.get<{ page_count: number }>("PRAGMA page_count")?.page_count;
    sql.get(`PRAGMA max_page_count = ${pages}`);
    expect(write).toThrow(expect.objectContaining({ code: "store_full" }));
    expect(() => sql.transaction(write)).toThrow(/Free some space/);
    sql.get("PRAGMA max_page_count = 100000");
    write();
    expect(sql.get("SELECT count(*) AS count FROM blobs")).toEqual({ count: 2 });
  });

  test("full within a batch: who goes on after the failure writes nothing that the batch then denies", async () => {
    const { store } = openTemporary();
    const sql = store.tables("test", ["CREATE TABLE blobs (n, b BLOB)"]);
    const pages = sql.get<{ page_count: number }>("PRAGMA page_count")?.page_count ?? 0;
    sql.get(`PRAGMA max_page_count = ${pages + 4}`);
    const write = (n: number, size: number) => sql.run("INSERT INTO blobs VALUES (?, zeroblob(?))", n, size);
    const careless = () => {
      try {
        write(1, 100_000);
      } catch {}
      write(2, 10);
    };
    const told = await Promise.allSettled([
      sql.batch(() => write(0, 10)),
      sql.batch(careless),
      sql.batch(() => write(3, 10)),
    ]);
    for (const one of told) expect(one).toMatchObject({ status: "rejected", reason: { code: "store_full" } });
    expect(sql.all("SELECT n FROM blobs")).toEqual([]);
    expect(() => sql.transaction(careless)).toThrow(expect.objectContaining({ code: "store_full" }));
    expect(sql.all("SELECT n FROM blobs")).toEqual([]);
    write(4, 10);
    expect(sql.all("SELECT n FROM blobs")).toEqual([{ n: 4 }]);
  });

  test("not a database: the fault says so and what to put in its place", () => {
    const file = join(temporaryFolder(), "store.sqlite");
    writeFileSync(file, "this is a letter to my aunt, not a database".repeat(100));
    expect(() => openStore(file)).toThrow(expect.objectContaining({ code: "store_corrupt" }));
    expect(() => openStore(file)).toThrow(/snapshot or your backup/);
  });

  test("damaged in the middle: reading the damaged table is a fault, not a wrong answer", () => {
    const file = join(temporaryFolder(), "store.sqlite");
    const first = openStore(file);
    const sql = first.tables("test", ["CREATE TABLE words (w TEXT)"]);
    sql.transaction(() => {
      for (let i = 0; i < 2000; i++) sql.run("INSERT INTO words VALUES (?)", `word ${i} ${"x".repeat(50)}`);
    });
    first.close();
    const descriptor = openSync(file, "r+");
    for (let page = 4; page < 20; page++)
      writeSync(descriptor, Buffer.alloc(4096, 0xee), 0, 4096, page * 4096);
    const store = openStore(file);
    onTestFinished(() => store.close());
    const damaged = store.tables("test", ["CREATE TABLE words (w TEXT)"]);
    expect(() => damaged.all("SELECT * FROM words")).toThrow(
      expect.objectContaining({ code: "store_corrupt" }),
    );
  });

  test("a home that cannot be written ends the start with 78 and the way out", async () => {
    // Root may write wherever there are files, but not where the kernel shows its own.
    const folder = process.getuid?.() === 0 ? "/sys" : temporaryFolder();
    if (folder !== "/sys") chmodSync(folder, 0o555);
    const { code, stderr } = await postern(["serve"], {
      env: { POSTERN_HOME: join(folder, "inside") },
      cwd: temporaryFolder(),
    });
    expect(stderr).toContain("cannot be used");
    expect(stderr).toContain("set POSTERN_HOME to another");
    expect(code).toBe(78);
  });
});

test("kill -9 in the middle of 1,000 writes loses none that was acknowledged", async () => {
  for (const patience of [5, 20, 45]) {
    const file = join(temporaryFolder(), "store.sqlite");
    const writer = run("acknowledge.ts", file);
    let printed = "";
    (writer.stdout as NodeJS.ReadableStream).on("data", (chunk) => {
      if (printed === "") void sleep(patience).then(() => writer.kill("SIGKILL"));
      printed += String(chunk);
    });
    await once(writer, "close");
    const acknowledged = printed
      .split("\n")
      .filter((line, index, all) => line !== "" && index < all.length - 1);
    expect(acknowledged.length).toBeGreaterThan(0);
    const store = openStore(file);
    const kept = store.tables("test", NUMBERS).all<{ n: number }>("SELECT n FROM numbers ORDER BY n");
    for (const number of acknowledged) {
      expect(kept).toContainEqual({ n: Number(number) });
      expect(await store.keyed<number>("test").get(number)).toBe(Number(number));
    }
    store.close();
  }
});

test("what has expired is swept from the file, of every namespace, also where nobody asks for it again", async () => {
  vi.useFakeTimers({ toFake: ["Date", "setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const file = join(temporaryFolder(), "store.sqlite");
  const before = openStore(file);
  await before.keyed("a").set("short", 1, 1000);
  await before.keyed("b").set("short", 1, 1000);
  await before.keyed("b").set("lasting", 1);
  before.close();
  const after = openStore(file);
  const count = () => after.tables("test", []).get("SELECT count(*) AS count FROM keyed");
  after.keyed("c");
  after.keyed("d");
  expect(count()).toEqual({ count: 3 });
  vi.advanceTimersByTime(60_000);
  await expect.poll(count).toEqual({ count: 1 });
  after.close();
});

test("a closed store leaves no timer behind that would ask it again", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const store = openStore(join(temporaryFolder(), "store.sqlite"));
  store.keyed("a");
  store.close();
  expect(vi.getTimerCount()).toBe(0);
});
