import { createServer, type Socket } from "node:net";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import type { Transaction } from "../../../kernel/plugin.ts";
import { readPostgresUrl } from "../../../plugins/store/config/postgres-url.ts";
import { openDatabase, type PostgresDatabase } from "../../../plugins/store/postgres/database.ts";
import { translate } from "../../../plugins/store/postgres/statements.ts";
import { describePostgres, execute, freshDatabase } from "../../support/processes/postgres/database.ts";
import { AUTHORITY, startPostgres } from "../../support/processes/postgres/server.ts";
import { afterThisFile } from "../../support/undo.ts";

const DEFAULTS = { poolSize: 4, statementSecs: 10, tls: "prefer" } as const;

function read(url: string) {
  const settings = readPostgresUrl(url, DEFAULTS);
  if (typeof settings === "string") throw new Error(settings);
  return settings;
}

async function open(url: string): Promise<PostgresDatabase> {
  const database = await openDatabase(read(url));
  onTestFinished(() => database.close());
  return database;
}

const fault = (code: string) => expect.objectContaining({ kind: "unavailable", code });

test("a question mark is a value, except in strings, names and comments", () => {
  expect(
    translate(`SELECT '?' AS "a?", ? -- ?\n FROM t INDEXED BY t_by_n WHERE n = ? /* ? */ AND w = 'it''s ?'`),
  ).toBe(`SELECT '?' AS "a?", $1 -- ?\n FROM t  WHERE n = $2 /* ? */ AND w = 'it''s ?'`);
});

test("a URL names everything, and its parameters win over the settings", async () => {
  const settings = read(
    "postgres://me:p%40ss%2F@db.example:6000/data?pool_size=20&statement_secs=7&sslmode=verify-full",
  );
  expect(settings).toMatchObject({
    host: "db.example:6000",
    user: "me",
    database: "data",
    poolSize: 20,
    statementSecs: 7,
    tls: "verify-full",
  });
  const passwordOf = ({ client: { password } }: typeof settings) =>
    typeof password === "function" ? password() : password;
  expect(await passwordOf(settings)).toBe("p@ss/");
  expect(JSON.stringify(settings)).not.toContain("p@ss");
  expect(read("postgresql://me@[::1]/data")).toMatchObject({ host: "::1:5432", tls: "disable" });
  expect(read("postgres://me@elsewhere/data")).toMatchObject({ tls: "prefer" });
  expect(await passwordOf(read("postgres://me@elsewhere/data"))).toBe("");
  expect(read("postgres://me@/data?host=/run/pg")).toMatchObject({ host: "/run/pg", tls: "disable" });
  for (const wrong of [
    "postgres://",
    "postgres://h/",
    "postgres://a:b@h/d?pool_size=0",
    "postgres://a@h/d?sslmode=no",
  ])
    expect(readPostgresUrl(wrong, DEFAULTS)).toBeTypeOf("string");
});

describePostgres("SQL on PostgreSQL", () => {
  const later = afterThisFile();
  let url: string;
  beforeAll(async () => {
    url = await freshDatabase(later);
    await execute(url, "CREATE TABLE numbers (n BIGINT PRIMARY KEY, word TEXT, bytes BYTEA)");
  });

  async function openEmpty(): Promise<PostgresDatabase> {
    const database = await open(url);
    await database.run("DELETE FROM numbers");
    return database;
  }

  test("values come back as SQLite gives them", async () => {
    const sql = await openEmpty();
    const bytes = new Uint8Array([0, 255, 7]);
    expect(await sql.run("INSERT INTO numbers VALUES (?, ?, ?)", 2 ** 40, "a\0b", bytes)).toBe(1);
    expect(await sql.get("SELECT * FROM numbers")).toEqual({ n: 2 ** 40, word: "a\uFFFDb", bytes });
    const counted = await sql.get(
      "SELECT count(*) AS c, sum(n) AS s, n = ? AS same, CAST(NULL AS TEXT) AS none FROM numbers GROUP BY n",
      2 ** 40,
    );
    expect(counted).toEqual({ c: 1, s: 2 ** 40, same: 1, none: null });
    expect(await sql.get("SELECT n FROM numbers WHERE n = ?", 5)).toBeUndefined();
  });

  test("what is asked for together shares a round trip, and begin travels with the first statements", async () => {
    const sql = await openEmpty();
    const trips = async (work: () => Promise<unknown>) => {
      const before = sql.roundTrips();
      await work();
      return sql.roundTrips() - before;
    };
    expect(await trips(() => Promise.all([1, 2, 3].map((n) => sql.get("SELECT ? AS n", n))))).toBe(1);
    const add = "INSERT INTO numbers (n) VALUES (?)";
    const work = (first: number, flush: boolean) => () =>
      sql.transaction(
        async (tx) => {
          await Promise.all([tx.run(add, first), tx.run(add, first + 1)]);
          tx.last(add, first + 2);
        },
        { flush },
      );
    expect(await trips(work(10, true))).toBe(2);
    expect(await trips(work(20, false))).toBe(2);
    expect(await trips(() => sql.transaction(async (tx) => tx.last(add, 30)))).toBe(1);
    const demanding = async (tx: Transaction) =>
      tx.demand(new Error("unmet"), "SELECT 1 FROM numbers WHERE n = ?", 30);
    expect(await trips(() => sql.transaction(demanding))).toBe(1);
    expect(await trips(() => sql.transaction(async () => "nothing"))).toBe(0);
    expect(await sql.get("SELECT count(*) AS count FROM numbers")).toEqual({ count: 7 });
  });

  test("the first error of a transaction is the one that is reported, also where the work ignores it", async () => {
    const sql = await openEmpty();
    const add = "INSERT INTO numbers (n) VALUES (?)";
    const together = sql.transaction((tx) => Promise.all([tx.run(add, 1), tx.run(add, 1), tx.run(add, 2)]));
    await expect(together).rejects.toThrow(/duplicate key/);
    const careless = sql.transaction(async (tx) => {
      await tx.run(add, 3);
      await tx.run(add, 3).catch(() => {});
      await tx.run(add, 4).catch(() => {});
    });
    await expect(careless).rejects.toThrow(/duplicate key/);
    const unawaited = sql.transaction(async (tx) => {
      void tx.run(add, 5);
      void tx.run(add, 5);
    });
    await expect(unawaited).rejects.toThrow(/duplicate key/);
    expect(await sql.all("SELECT n FROM numbers")).toEqual([]);
  });

  test("transactions that lock each other out are done again until both are through", async () => {
    const sql = await openEmpty();
    for (const n of [1, 2]) await sql.run("INSERT INTO numbers (n, word) VALUES (?, '')", n);
    let tries = 0;
    const both = Promise.withResolvers<void>();
    const append = (first: number, second: number) =>
      sql.transaction(async (tx) => {
        await tx.run("UPDATE numbers SET word = word || ? WHERE n = ?", `${first}`, first);
        if (++tries === 2) both.resolve();
        await both.promise;
        await tx.run("UPDATE numbers SET word = word || ? WHERE n = ?", `${first}`, second);
      });
    await Promise.all([append(1, 2), append(2, 1)]);
    expect(tries).toBeGreaterThan(2);
    const rows = await sql.all<{ word: string }>("SELECT word FROM numbers");
    for (const { word } of rows) expect([...word].toSorted()).toEqual(["1", "2"]);
  });

  test("a statement prepared before a table was changed is prepared anew", async () => {
    const sql = await openEmpty();
    await sql.run("CREATE TABLE changing (a BIGINT)");
    await sql.run("INSERT INTO changing VALUES (1)");
    const everything = "SELECT * FROM changing";
    for (let i = 0; i < 3; i++) expect(await sql.all(everything)).toEqual([{ a: 1 }]);
    await sql.run("ALTER TABLE changing ADD COLUMN b BIGINT DEFAULT 2");
    expect(await sql.all(everything)).toEqual([{ a: 1, b: 2 }]);
    await sql.run("ALTER TABLE changing ADD COLUMN c BIGINT DEFAULT 3");
    expect(await sql.transaction((tx) => tx.all(everything))).toEqual([{ a: 1, b: 2, c: 3 }]);
  });

  test("a statement that takes too long is stopped, and the fault says so", async () => {
    const sql = await open(url.replace(/statement_secs=\d+/, "statement_secs=1"));
    await expect(sql.get("SELECT pg_sleep(20)")).rejects.toThrow(fault("store_slow"));
    expect(await sql.get("SELECT 1 AS n")).toEqual({ n: 1 });
  });

  test("more work than connections waits its turn", async () => {
    const sql = await openEmpty();
    const works = Array.from({ length: 60 }, (_, n) =>
      sql.transaction(async (tx) => {
        await tx.run("INSERT INTO numbers (n) VALUES (?)", n);
        return (await tx.get<{ n: number }>("SELECT n FROM numbers WHERE n = ?", n))?.n;
      }),
    );
    const singles = Array.from({ length: 60 }, (_, n) =>
      sql.run("INSERT INTO numbers (n) VALUES (?)", 1000 + n),
    );
    expect(await Promise.all(works)).toEqual(works.map((_, n) => n));
    expect(await Promise.all(singles)).toEqual(singles.map(() => 1));
  });

  test("what was asked for is done before the database closes", async () => {
    const sql = await openDatabase(read(url));
    await sql.run("DELETE FROM numbers");
    const written = Array.from({ length: 50 }, (_, n) =>
      sql.transaction((tx) => tx.run("INSERT INTO numbers (n) VALUES (?)", n)),
    );
    await sql.close();
    expect(await Promise.all(written)).toHaveLength(50);
    expect(await execute(url, "SELECT n FROM numbers")).toHaveLength(50);
  });

  test.each([
    [
      "the password is wrong",
      (at: URL) => Object.assign(at, { password: "other-password" }),
      "store_unauthorized",
    ],
    [
      "a password is needed and none given",
      (at: URL) => Object.assign(at, { password: "" }),
      "store_unauthorized",
    ],
    [
      "the database does not exist",
      (at: URL) => Object.assign(at, { pathname: "/nowhere" }),
      "store_missing",
    ],
    ["nobody listens", (at: URL) => Object.assign(at, { port: "1" }), "store_unavailable"],
    [
      "the host has no address",
      (at: URL) => Object.assign(at, { hostname: "nowhere.invalid", search: "sslmode=disable" }),
      "store_unavailable",
    ],
    [
      "TLS is required and not offered",
      (at: URL) => Object.assign(at, { search: "sslmode=require" }),
      "store_tls",
    ],
    [
      "it is read-only",
      (at: URL) => Object.assign(at, { search: "options=-c default_transaction_read_only=on" }),
      "store_read_only",
    ],
  ])("the fault names the host and never the password where %s", async (_where, change, code) => {
    const changed = change(new URL(url));
    const sql = await open(changed.href);
    const failed = await sql.run("INSERT INTO numbers (n) VALUES (77)").catch((error: unknown) => error);
    expect(failed).toEqual(fault(code));
    expect(String(failed)).toContain(changed.hostname);
    expect(String(failed)).not.toContain(new URL(url).password);
    if (changed.password !== "") expect(String(failed)).not.toContain(changed.password);
  });

  test("where TLS is preferred and not offered, it goes without", async () => {
    const sql = await open(`${url}&sslmode=prefer`);
    expect(await sql.get("SELECT 1 AS n")).toEqual({ n: 1 });
  });

  test("TLS is used where it is offered, and the certificate checked as sslmode says", async () => {
    const server = await startPostgres({ tls: true });
    onTestFinished(() => server.close());
    const isEncrypted = async (host: string, parameters: string) => {
      const at = Object.assign(new URL(server.url), { hostname: host, search: parameters });
      const sql = await open(at.href);
      const query = "SELECT ssl AS used FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
      return (await sql.get<{ used: number }>(query))?.used === 1;
    };
    expect(await isEncrypted("127.0.0.1", "")).toBe(false);
    for (const mode of ["prefer", "require"])
      expect(await isEncrypted("127.0.0.1", `sslmode=${mode}`)).toBe(true);
    expect(await isEncrypted("localhost", `sslmode=verify-full&sslrootcert=${AUTHORITY}`)).toBe(true);
    expect(await isEncrypted("127.0.0.1", `sslmode=verify-ca&sslrootcert=${AUTHORITY}`)).toBe(true);
    const otherName = isEncrypted("127.0.0.1", `sslmode=verify-full&sslrootcert=${AUTHORITY}`);
    await expect(otherName).rejects.toThrow(fault("store_tls"));
    await expect(isEncrypted("localhost", "sslmode=verify-full")).rejects.toThrow(fault("store_tls"));
    const noFile = isEncrypted("localhost", "sslmode=verify-full&sslrootcert=/nowhere.crt");
    await expect(noFile).rejects.toThrow(/\/nowhere\.crt, which STORE_URL names, cannot be read/);
  });

  test("a server that accepts connections and says nothing is a fault in time", async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => void sockets.push(socket)).listen(0, "127.0.0.1");
    await new Promise((resolve) => silent.once("listening", resolve));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      silent.close();
    });
    const { port } = silent.address() as { port: number };
    const sql = await open(`postgres://a:secret-word@127.0.0.1:${port}/d?connect_timeout=1`);
    await expect(sql.get("SELECT 1")).rejects.toThrow(fault("store_unavailable"));
    await expect(sql.probe()).rejects.toThrow(fault("store_unavailable"));
  });

  test("a connection that ends in the middle fails what is under way with a fault, and the next is a new one", async () => {
    const sql = await openEmpty();
    const sleeping = Array.from({ length: 3 }, () => sql.get("SELECT pg_sleep(20), 'endless'"));
    const failing = Promise.allSettled(sleeping);
    const working = sql.transaction(async (tx) => {
      await tx.run("INSERT INTO numbers (n) VALUES (1)");
      await tx.get("SELECT pg_sleep(20), 'endless'");
    });
    const ended = expect(working).rejects.toThrow(fault("store_unavailable"));
    const sleepers = "FROM pg_stat_activity WHERE query LIKE '%endless%' AND wait_event = 'PgSleep'";
    await expect.poll(async () => (await execute(url, `SELECT pid ${sleepers}`)).length).toBe(2);
    await execute(url, `SELECT pg_terminate_backend(pid) ${sleepers}`);
    for (const one of await failing)
      expect(one).toMatchObject({ status: "rejected", reason: { code: "store_unavailable" } });
    await ended;
    expect(await sql.all("SELECT n FROM numbers")).toEqual([]);
  });

  test("a server killed and started again: faults meanwhile, then it goes on by itself with what was acknowledged", async () => {
    const server = await startPostgres();
    onTestFinished(() => server.close());
    const sql = await open(server.url);
    await sql.run("CREATE TABLE kept (n BIGINT)");
    const acknowledged: number[] = [];
    let isUp = true;
    const writer = (async () => {
      for (let n = 0; isUp; n++)
        await sql
          .transaction((tx) => tx.run("INSERT INTO kept VALUES (?)", n))
          .then(
            () => acknowledged.push(n),
            (error: unknown) => {
              expect(error).toEqual(fault("store_unavailable"));
              isUp = false;
            },
          );
    })();
    await expect.poll(() => acknowledged.length).toBeGreaterThan(20);
    await server.kill();
    await writer;
    await expect(sql.get("SELECT 1")).rejects.toThrow(fault("store_unavailable"));
    await expect(sql.probe()).rejects.toThrow(fault("store_unavailable"));
    await server.start();
    await sql.probe();
    const kept = (await sql.all<{ n: number }>("SELECT n FROM kept")).map(({ n }) => n);
    for (const n of acknowledged) expect(kept).toContain(n);
    expect(new Set(kept).size).toBe(kept.length);
  });
});
