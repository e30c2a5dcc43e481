/** What is PostgreSQL's own of the store: many nodes, one key, and what an operator sees. */
import { createHash } from "node:crypto";
import pg from "pg";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../support/home.ts";
import { openPostgres } from "../../support/processes/engines.ts";
import { postern } from "../../support/processes/postern.ts";
import { describePostgres, execute, freshDatabase } from "../../support/processes/postgres/database.ts";
import { startPostgres } from "../../support/processes/postgres/server.ts";
import { afterThisTest } from "../../support/undo.ts";

const KEY = Buffer.alloc(32, 3).toString("base64");

describePostgres("a store on PostgreSQL", () => {
  test("ten nodes start at once on an empty database, and each migration runs once", async () => {
    const url = await freshDatabase(afterThisTest);
    const migrations = [
      "CREATE TABLE counted (n BIGINT)",
      "INSERT INTO counted VALUES (1); SELECT pg_sleep(0.1);",
      "CREATE INDEX counted_by_n ON counted (n)",
    ];
    const nodes = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const store = await openPostgres(url);
        afterThisTest(() => store.close());
        return { store, sql: await store.tables("test", migrations) };
      }),
    );
    for (const { sql } of nodes) expect(await sql.all("SELECT n FROM counted")).toEqual([{ n: 1 }]);
    await Promise.all(nodes.map(({ store }, n) => store.keyed<number>("a").set("k", n)));
    expect(await execute(url, "SELECT count(*)::int AS count FROM keyed")).toEqual([{ count: 1 }]);
    expect(new Set(nodes.map(({ store }) => store.node.id)).size).toBe(10);
  });

  test("a node with another key is refused, and changes nothing", async () => {
    const url = await freshDatabase(afterThisTest);
    const first = await openPostgres(url);
    afterThisTest(() => first.close());
    const other = openPostgres(url, new Uint8Array(32).fill(8));
    await expect(other).rejects.toThrow(expect.objectContaining({ kind: "config", code: "store_other_key" }));
    await expect(other).rejects.toThrow(/Set the same key on every node/);
    expect(await first.node.list()).toHaveLength(1);
    const again = await openPostgres(url);
    await again.close();
  });

  test("a database that does not hold every character is refused in words", async () => {
    const url = await freshDatabase(afterThisTest);
    const latin = `${new URL(url).pathname.slice(1)}_latin`;
    await execute(
      url,
      `CREATE DATABASE ${latin} ENCODING 'LATIN1' LOCALE_PROVIDER libc LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`,
    );
    afterThisTest(() => execute(url, `DROP DATABASE ${latin} WITH (FORCE)`));
    const opened = openPostgres(Object.assign(new URL(url), { pathname: `/${latin}` }).href);
    await expect(opened).rejects.toThrow(/LATIN1: create it with ENCODING 'UTF8'/);
  });

  test("a user who may not make tables is refused in words", async () => {
    const url = await freshDatabase(afterThisTest);
    const guest = `${new URL(url).pathname.slice(1)}_guest`;
    await execute(url, `CREATE ROLE ${guest} LOGIN PASSWORD 'guest-password'`);
    afterThisTest(() => execute(url, `DROP ROLE ${guest}`));
    const opened = openPostgres(
      Object.assign(new URL(url), { username: guest, password: "guest-password" }).href,
    );
    await expect(opened).rejects.toThrow(expect.objectContaining({ code: "store_forbidden" }));
    await expect(opened).rejects.toThrow(/lacks a permission .* make it the database's owner/);
  });

  test("it keeps its tables in the schema that the URL names", async () => {
    const url = await freshDatabase(afterThisTest);
    await execute(url, "CREATE SCHEMA apart");
    const store = await openPostgres(`${url}&options=${encodeURIComponent("-c search_path=apart")}`);
    afterThisTest(() => store.close());
    await store.keyed<number>("a").set("k", 1);
    expect(await store.keyed<number>("a").get("k")).toBe(1);
    expect(await execute(url, "SELECT count(*)::int AS count FROM apart.keyed")).toEqual([{ count: 1 }]);
  });
});

describePostgres("signals on PostgreSQL", () => {
  test("those of one moment share a round trip, and one in a transaction needs none of its own", async () => {
    const store = await openPostgres(await freshDatabase(afterThisTest));
    afterThisTest(() => store.close());
    const sql = await store.tables("test", ["CREATE TABLE counted (n BIGINT)"]);
    const trips = async (work: () => Promise<unknown>) => {
      const before = store.roundTrips();
      await work();
      return store.roundTrips() - before;
    };
    const { signals } = store;
    expect(await trips(() => Promise.all(["a", "b", "a"].map((topic) => signals.send(topic, "x"))))).toBe(1);
    const work = () =>
      sql.transaction(async (tx) => {
        await tx.run("INSERT INTO counted VALUES (1)");
        await signals.send("a", "x".repeat(20_000), tx);
      });
    expect(await trips(work)).toBe(2);
  });

  test("a role of the database that may read no table neither hears them nor sends any", async () => {
    const url = await freshDatabase(afterThisTest);
    const guest = `${new URL(url).pathname.slice(1)}_guest`;
    await execute(url, `CREATE ROLE ${guest} LOGIN PASSWORD 'guest-password'`);
    afterThisTest(() => execute(url, `DROP ROLE ${guest}`));
    const store = await openPostgres(url);
    afterThisTest(() => store.close());
    const heard: string[] = [];
    await store.signals.listen("a", (payload) => void heard.push(payload)).ready();

    const client = new pg.Client(
      Object.assign(new URL(url), { username: guest, password: "guest-password" }).href,
    );
    await client.connect();
    afterThisTest(() => client.end());
    const overheard: unknown[] = [];
    client.on("notification", (message) => void overheard.push(message));
    await expect(client.query("SELECT value FROM store_facts")).rejects.toThrow("permission denied");
    const guessed = `postern_${createHash("sha256").update("public\0a").digest("hex").slice(0, 40)}`;
    await client.query(`LISTEN ${guessed}`);
    await client.query("SELECT pg_notify($1, 'stranger 1 1/1 forged')", [guessed]);
    await expect.poll(() => overheard).toHaveLength(1);
    await store.signals.send("a", "ours");
    await expect.poll(() => heard).toContain("ours");
    await client.query("SELECT 1");
    expect(heard).toEqual(["ours"]);
    expect(overheard).toHaveLength(1);
  });

  test("a listener that lost its connection is told so, and hears what is sent from then on", async () => {
    const url = await freshDatabase(afterThisTest);
    const [sender, listener] = [await openPostgres(url), await openPostgres(url)];
    afterThisTest(() => Promise.all([sender.close(), listener.close()]));
    const heard: string[] = [];
    let gaps = 0;
    const stop = listener.signals.onLost(() => void gaps++);
    const first = listener.signals.listen("a", (payload) => void heard.push(payload));
    await Promise.all([
      first.ready(),
      listener.signals.listen("b", (payload) => void heard.push(payload)).ready(),
    ]);
    await sender.signals.send("a", "before");
    await expect.poll(() => heard).toEqual(["before"]);
    expect(gaps).toBe(0);
    const end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'";
    expect(await execute(url, `${end} AND datname = current_database()`)).toHaveLength(1);
    await expect.poll(() => gaps).toBe(1);
    await sender.signals.send("b", "after");
    await sender.signals.send("a", "it");
    await expect.poll(() => heard).toEqual(["before", "after", "it"]);
    stop();
  });

  test("while the database is away sending is a fault; listening waits and goes on when it is back", async () => {
    const server = await startPostgres();
    afterThisTest(() => server.close());
    const store = await openPostgres(server.url);
    afterThisTest(() => store.close());
    const heard: string[] = [];
    await store.signals.listen("a", (payload) => void heard.push(payload)).ready();
    const isBack = new Promise<void>((resolve) => void store.signals.onLost(resolve));
    await server.kill();
    await expect(store.signals.send("a", "lost")).rejects.toThrow(
      expect.objectContaining({ kind: "unavailable", code: "store_unavailable" }),
    );
    const late = store.signals.listen("b", (payload) => void heard.push(payload));
    await server.start();
    await Promise.all([late.ready(), isBack]);
    await store.signals.send("b", "b");
    await store.signals.send("a", "a");
    await expect.poll(() => heard).toEqual(["b", "a"]);
  });
});

describePostgres("STORE_URL=postgres://…", () => {
  async function run(args: readonly string[], env: Record<string, string>) {
    const ran = await postern(args, {
      env: { POSTERN_HOME: temporaryFolder(), ...env },
      cwd: temporaryFolder(),
    });
    return { ...ran, all: ran.stdout + ran.stderr };
  }

  test("without POSTERN_SECRETS_KEY nothing starts: exit code 78, and how to make one", async () => {
    const { code, all } = await run(["serve"], {
      STORE_URL: "postgres://me:hunter2hunter2@db.example/postern",
    });
    expect(all).toContain(
      "POSTERN_SECRETS_KEY: got nothing, expected the key that all nodes on PostgreSQL share",
    );
    expect(all).not.toContain("hunter2");
    expect(code).toBe(78);
  });

  test("a URL that makes no sense is refused without showing its password", async () => {
    for (const url of [
      "mysql://me:hunter2hunter2@db/x",
      "postgres://me:hunter2@hunter2/x@",
      "postgres://:hunter2hunter2@db/x",
    ]) {
      const { code, all } = await run(["serve"], { STORE_URL: url, POSTERN_SECRETS_KEY: KEY });
      expect(all).toContain("STORE_URL: got");
      expect(all).not.toContain("hunter2");
      expect(code).toBe(78);
    }
  });

  test("a schema in which every role could make functions that Postern runs is refused", async () => {
    const url = await freshDatabase(afterThisTest);
    const apart = `${url}&options=${encodeURIComponent("-c search_path=apart,public")}`;
    await execute(url, "CREATE SCHEMA apart");
    await execute(url, "GRANT CREATE ON SCHEMA public TO PUBLIC");
    const refusal = "REVOKE CREATE ON SCHEMA public FROM PUBLIC";
    for (const STORE_URL of [url, apart])
      for (const command of ["doctor", "serve"]) {
        const { code, all } = await run([command], { STORE_URL, POSTERN_SECRETS_KEY: KEY });
        expect([code, all]).toEqual([command === "serve" ? 78 : 1, expect.stringContaining(refusal)]);
      }
    await execute(url, refusal);
    expect((await run(["doctor"], { STORE_URL: apart, POSTERN_SECRETS_KEY: KEY })).all).not.toContain(
      refusal,
    );
  });

  test("the password shows nowhere: not in config, in doctor, or in an error", async () => {
    const url = new URL(await freshDatabase(afterThisTest));
    const env = { STORE_URL: url.href, POSTERN_SECRETS_KEY: KEY };
    const config = await run(["config"], env);
    expect(config.all).toContain(`postgres://postern:***@127.0.0.1:${url.port}${url.pathname}`);
    const doctor = await run(["doctor"], env);
    expect(doctor.all).toMatch(/PostgreSQL 18, test_\w+ at 127\.0\.0\.1:\d+, answers in [\d.]+ ms/);
    const refused = await run(["doctor"], {
      ...env,
      STORE_URL: Object.assign(new URL(url), { pathname: "/nowhere" }).href,
    });
    expect(refused.all).toContain("there is no database nowhere at 127.0.0.1");
    const started = await run(["serve"], {
      ...env,
      STORE_URL: Object.assign(new URL(url), { port: "1" }).href,
    });
    expect(started.all).toContain("the database at 127.0.0.1:1 does not answer");
    for (const { all } of [config, doctor, refused, started]) expect(all).not.toContain(url.password);
  });

  test("a node with another key does not start: exit code 78, and why", async () => {
    const url = await freshDatabase(afterThisTest);
    await (await openPostgres(url)).close();
    const { code, all } = await run(["serve"], { STORE_URL: url, POSTERN_SECRETS_KEY: KEY });
    expect(all).toContain("POSTERN_SECRETS_KEY is not the key that the database");
    expect(code).toBe(78);
  });
});
