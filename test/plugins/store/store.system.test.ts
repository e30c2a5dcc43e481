/** What is SQLite's own of the store. What both engines hold is in contract.test.ts. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Fault } from "../../../kernel/fault.ts";
import type { Queries, Transaction } from "../../../kernel/vocabulary/store.ts";
import { openStore } from "../../../plugins/store/sqlite/store.ts";
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
  test("a write that fails rejects instead of passing for one that was made", async () => {
    const { store } = openTemporary();
    const keyed = store.keyed<string>("a");
    await keyed.set("k", "before");
    await (await store.tables("test", [])).get("PRAGMA query_only = ON");
    await expect(keyed.set("k", "after")).rejects.toThrow(/cannot be written/);
  });
});

describe("tables", () => {
  test("transactions of one moment share a commit; one that throws takes back only its own", async () => {
    const { store, file } = openTemporary();
    const sql = await store.tables("test", NUMBERS);
    const other = openStore(file);
    onTestFinished(() => other.close());
    const elsewhere = await other.tables("test", NUMBERS);
    const seen = async () => (await elsewhere.all("SELECT n FROM numbers")).length;
    const told: number[] = [];
    const works = [1, 2, 3].map((n) =>
      sql.transaction(async (tx) => {
        for (const number of [n, n + 10]) await tx.run("INSERT INTO numbers VALUES (?)", number);
        if (n === 2) throw new Error("changed my mind");
        told.push(await seen());
        return n;
      }),
    );
    const single = sql.run("INSERT INTO numbers VALUES (1)");
    expect(await Promise.allSettled([...works, single])).toMatchObject([
      { status: "fulfilled", value: 1 },
      { status: "rejected", reason: { message: "changed my mind" } },
      { status: "fulfilled", value: 3 },
      { status: "rejected", reason: { message: expect.stringContaining("UNIQUE") } },
    ]);
    // The others' rows were not on disk while any of them was at work, and all are now.
    expect(told).toEqual([0, 0]);
    const rows = await sql.all("SELECT n FROM numbers ORDER BY n");
    expect(rows).toEqual([{ n: 1 }, { n: 3 }, { n: 11 }, { n: 13 }]);
    expect(await seen()).toBe(4);
  });

  test("a commit that fails rejects all that share it, and the next one goes through", async () => {
    const { store } = openTemporary();
    const sql = await store.tables("test", [
      `CREATE TABLE parents (n INTEGER PRIMARY KEY);
       CREATE TABLE children (parent INTEGER REFERENCES parents DEFERRABLE INITIALLY DEFERRED);`,
    ]);
    const orphan = () => sql.transaction((tx) => tx.run("INSERT INTO children VALUES (1)"));
    const refused = await Promise.allSettled([sql.run("INSERT INTO parents VALUES (2)"), orphan()]);
    expect(refused.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(await sql.run("INSERT INTO parents VALUES (1)")).toBe(1);
    await orphan();
    expect(await sql.all("SELECT n FROM parents")).toEqual([{ n: 1 }]);
  });

  test("migrations run once, in order, with a snapshot before each that changes what is there", async () => {
    const { store, file } = openTemporary();
    await (await store.tables("test", NUMBERS)).run("INSERT INTO numbers VALUES (7)");
    expect(existsSync(`${file}.before-test-1`)).toBe(false);
    const sql = await store.tables("test", [
      ...NUMBERS,
      "ALTER TABLE numbers ADD COLUMN word TEXT DEFAULT 'x'",
    ]);
    expect(await sql.all("SELECT n, word FROM numbers")).toEqual([{ n: 7, word: "x" }]);
    const snapshot = openStore(`${file}.before-test-2`);
    expect(await (await snapshot.tables("test", NUMBERS)).all("SELECT * FROM numbers")).toEqual([{ n: 7 }]);
    await snapshot.close();
  });

  test("a store written by a newer version is refused with the snapshot to go back to", async () => {
    const { store, file } = openTemporary();
    await store.tables("test", [...NUMBERS, "CREATE TABLE more (a)"]);
    const open = () => store.tables("test", NUMBERS);
    await expect(open()).rejects.toThrow(Fault);
    await expect(open()).rejects.toThrow(`restore ${file}.before-test-2`);
  });
});

describe("a store in trouble", () => {
  test("locked by another process: the fault names the file and says to stop the other", async () => {
    const { store, file } = openTemporary();
    const sql = await store.tables("test", NUMBERS);
    const other = run("hold-lock.ts", file);
    await once(other.stdout as NodeJS.ReadableStream, "data");
    const write = () => sql.run("INSERT INTO numbers VALUES (1)");
    await expect(write()).rejects.toThrow(
      expect.objectContaining({ kind: "unavailable", code: "store_locked", param: file }),
    );
    other.kill("SIGKILL");
    await once(other, "exit");
    expect(await write()).toBe(1);
  });

  test("full: the write that does not fit is refused, the ones before it are kept, and it goes on when there is room", async () => {
    const { store } = openTemporary();
    const sql = await store.tables("test", ["CREATE TABLE blobs (b BLOB)"]);
    const blob = "INSERT INTO blobs VALUES (zeroblob(20000))";
    const write = () => sql.run(blob);
    await write();
    const pages = (await sql.get<{ page_count: number }>("PRAGMA page_count"))?.page_count;
    await sql.get(`PRAGMA max_page_count = ${pages}`);
    await expect(write()).rejects.toThrow(expect.objectContaining({ code: "store_full" }));
    await expect(sql.transaction((tx) => tx.run(blob))).rejects.toThrow(/Free some space/);
    await sql.get("PRAGMA max_page_count = 100000");
    await write();
    expect(await sql.get("SELECT count(*) AS count FROM blobs")).toEqual({ count: 2 });
  });

  test("full within a shared commit: who goes on after the failure writes nothing that is then denied", async () => {
    const { store } = openTemporary();
    const sql = await store.tables("test", ["CREATE TABLE blobs (n, b BLOB)"]);
    const pages = (await sql.get<{ page_count: number }>("PRAGMA page_count"))?.page_count ?? 0;
    await sql.get(`PRAGMA max_page_count = ${pages + 4}`);
    const write = (to: Queries, n: number, size: number) =>
      to.run("INSERT INTO blobs VALUES (?, zeroblob(?))", n, size);
    const careless = async (tx: Transaction) => {
      await write(tx, 1, 100_000).catch(() => {});
      await write(tx, 2, 10);
    };
    const told = await Promise.allSettled([
      sql.transaction((tx) => write(tx, 0, 10)),
      sql.transaction(careless),
      sql.transaction((tx) => write(tx, 3, 10)),
    ]);
    for (const one of told) expect(one).toMatchObject({ status: "rejected", reason: { code: "store_full" } });
    expect(await sql.all("SELECT n FROM blobs")).toEqual([]);
    await expect(sql.transaction(careless)).rejects.toThrow(expect.objectContaining({ code: "store_full" }));
    expect(await sql.all("SELECT n FROM blobs")).toEqual([]);
    await write(sql, 4, 10);
    expect(await sql.all("SELECT n FROM blobs")).toEqual([{ n: 4 }]);
  });

  test("not a database: the fault says so and what to put in its place", () => {
    const file = join(temporaryFolder(), "store.sqlite");
    writeFileSync(file, "this is a letter to my aunt, not a database".repeat(100));
    expect(() => openStore(file)).toThrow(expect.objectContaining({ code: "store_corrupt" }));
    expect(() => openStore(file)).toThrow(/snapshot or your backup/);
  });

  test("damaged in the middle: reading the damaged table is a fault, not a wrong answer", async () => {
    const file = join(temporaryFolder(), "store.sqlite");
    const first = openStore(file);
    const sql = await first.tables("test", ["CREATE TABLE words (w TEXT)"]);
    await sql.transaction(async (tx) => {
      for (let i = 0; i < 2000; i++)
        await tx.run("INSERT INTO words VALUES (?)", `word ${i} ${"x".repeat(50)}`);
    });
    await first.close();
    const descriptor = openSync(file, "r+");
    for (let page = 4; page < 20; page++)
      writeSync(descriptor, Buffer.alloc(4096, 0xee), 0, 4096, page * 4096);
    const store = openStore(file);
    onTestFinished(() => store.close());
    const damaged = await store.tables("test", ["CREATE TABLE words (w TEXT)"]);
    await expect(damaged.all("SELECT * FROM words")).rejects.toThrow(
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
    const sql = await store.tables("test", NUMBERS);
    const kept = await sql.all<{ n: number }>("SELECT n FROM numbers ORDER BY n");
    for (const number of acknowledged) {
      expect(kept).toContainEqual({ n: Number(number) });
      expect(await store.keyed<number>("test").get(number)).toBe(Number(number));
    }
    await store.close();
  }
});

test("a closed store leaves no timer behind that would ask it again", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const store = openStore(join(temporaryFolder(), "store.sqlite"));
  store.keyed("a");
  await store.close();
  expect(vi.getTimerCount()).toBe(0);
});
