/** A service whose PostgreSQL is out of reach, slow, read-only, full or out of connections. */
import { randomBytes } from "node:crypto";
import { chownSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { serveUnderAttack } from "../support/processes/attacked.ts";
import { canMount, smallDisk } from "../support/processes/disks.ts";
import { describePostgres, execute, freshDatabase } from "../support/processes/postgres/database.ts";
import { findBinaries, startPostgres } from "../support/processes/postgres/server.ts";
import { describeWhere } from "../support/run/needs.ts";
import { startTcpProxy } from "../support/servers/tcp-proxy.ts";
import { afterThisTest } from "../support/undo.ts";

/** A database whose owner is no superuser: limits of connections are for others alone. */
async function ownedDatabase() {
  const url = new URL(await freshDatabase(afterThisTest));
  const name = url.pathname.slice(1);
  const proxy = await startTcpProxy(Number(url.port));
  const run = (sql: string) => execute(url.href, sql);
  await run(`CREATE ROLE ${name} LOGIN PASSWORD '~its-owner'`);
  afterThisTest(() =>
    run(`REASSIGN OWNED BY ${name} TO CURRENT_USER; DROP OWNED BY ${name}; DROP ROLE ${name}`),
  );
  await run(`ALTER DATABASE ${name} OWNER TO ${name}`);
  // What is set for a role counts from its next connection on.
  const set = (sql: string) =>
    run(
      `ALTER ROLE ${name} ${sql}; SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${name}'`,
    );
  const way = Object.assign(new URL(url), { port: proxy.port, username: name, password: "~its-owner" });
  way.searchParams.set("sslmode", "disable");
  return { url: way.href, name, proxy, set };
}

describePostgres("a database in trouble", () => {
  test("is said in words, loses nothing that was acknowledged, and is over without a restart", async () => {
    const { url, name, proxy, set } = await ownedDatabase();
    const { host } = new URL(url);
    const env = { STORE_URL: url, POSTERN_SECRETS_KEY: Buffer.alloc(32, 7).toString("base64") };
    const { served, webhook, send } = await serveUnderAttack(afterThisTest, env);
    served.model.otherwise({ text: "Answered." });
    const { pid } = served.process;
    const acknowledged: string[] = [];
    const submit = async () => {
      const { status, json } = await webhook.post({ user_id: "ann", message: "hello" });
      if (status === 200) acknowledged.push(json.job_id);
      return status === 200 ? "kept" : `${status} ${json.error.code}`;
    };
    expect(await submit()).toBe("kept");
    const troubles = [
      ["503 store_unavailable", `the database at ${host} does not answer`, proxy.cut, proxy.mend],
      [
        "503 store_read_only",
        `the database ${name} at ${host} is read-only: STORE_URL must name the primary server`,
        () => set("SET default_transaction_read_only = on"),
        () => set("SET default_transaction_read_only = off"),
      ],
      [
        "503 store_busy",
        `PostgreSQL at ${host} has no connection left`,
        () => set("CONNECTION LIMIT 0"),
        () => set("CONNECTION LIMIT -1"),
      ],
    ] as const;
    const ready = async () => (await send("GET", "/ready")).status;
    for (const [refusal, words, begin, end] of troubles) {
      await begin();
      // Also where nobody writes.
      await expect.poll(ready).toBe(503);
      await served.process.printed(`not ready: store: ${words}`);
      await expect.poll(submit).toBe(refusal);
      expect((await send("GET", "/health")).status).toBe(200);
      await end();
      await expect.poll(submit).toBe("kept");
      await expect.poll(ready).toBe(200);
    }
    // Nothing moves on the way: whoever asks waits, and is answered when it does.
    proxy.hold();
    const waiting = submit();
    proxy.release();
    expect(await waiting).toBe("kept");
    expect(served.process.pid).toBe(pid);
    await served.restart("SIGKILL");
    for (const id of acknowledged)
      await expect.poll(async () => (await webhook.get(`/jobs/${id}`)).json.status).toBe("completed");
  });
});

describeWhere(findBinaries() !== undefined && canMount(), "PostgreSQL, and root that may mount")(
  "a full disk of PostgreSQL",
  () => {
    test("is said in words, makes the service not ready, and is over when there is room", async () => {
      const server = await startPostgres();
      afterThisTest(server.close);
      const disk = smallDisk("48m");
      const place = join(disk.folder, "tables");
      mkdirSync(place);
      const [{ data } = { data: "" }] = await execute<{ data: string }>(
        server.url,
        "SELECT current_setting('data_directory') AS data",
      );
      // Whoever PostgreSQL runs as: as root it does not.
      const { uid, gid } = statSync(data);
      for (const folder of [disk.folder, place]) chownSync(folder, uid, gid);
      await execute(server.url, `CREATE TABLESPACE small LOCATION '${place}'`);
      await execute(server.url, "CREATE DATABASE full_one TABLESPACE small");
      const url = Object.assign(new URL(server.url), { pathname: "/full_one" }).href;
      const env = { STORE_URL: url, POSTERN_SECRETS_KEY: Buffer.alloc(32, 7).toString("base64") };
      const { served, webhook, send } = await serveUnderAttack(afterThisTest, env);
      served.model.otherwise({ text: "Answered." });
      const acknowledged: string[] = [];
      const submit = async () => {
        // What is stored in fewer bytes would find a place for long.
        const message = randomBytes(10_000).toString("hex");
        const { status, json } = await webhook.post({ user_id: "ann", message });
        if (status === 200) acknowledged.push(json.job_id);
        return status === 200 ? "kept" : `${status} ${json.error.code}`;
      };
      const ready = async () => (await send("GET", "/ready")).status;
      expect(await submit()).toBe("kept");
      expect(await ready()).toBe(200);
      disk.fill();
      await expect.poll(submit).toBe("503 store_full");
      expect(await ready()).toBe(503);
      await served.process.printed(
        `not ready: store: the disk of PostgreSQL at ${new URL(url).host} is full. Free some space`,
      );
      expect((await send("GET", "/health")).status).toBe(200);
      disk.free();
      await expect.poll(ready).toBe(200);
      expect(await submit()).toBe("kept");
      for (const id of acknowledged)
        await expect.poll(async () => (await webhook.get(`/jobs/${id}`)).json.status).toBe("completed");
    });
  },
);
