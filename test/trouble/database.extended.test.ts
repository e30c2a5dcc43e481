/** A service whose PostgreSQL is out of reach, slow, read-only or out of connections. */
import { expect, test } from "vitest";
import { serveUnderAttack } from "../support/processes/attacked.ts";
import { describePostgres, execute, freshDatabase } from "../support/processes/postgres/database.ts";
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
  return { url: way.href, proxy, set };
}

describePostgres("a database in trouble", () => {
  test("is said in words, loses nothing that was acknowledged, and is over without a restart", async () => {
    const { url, proxy, set } = await ownedDatabase();
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
      ["503 store_unavailable", proxy.cut, proxy.mend],
      [
        "503 store_read_only",
        () => set("SET default_transaction_read_only = on"),
        () => set("SET default_transaction_read_only = off"),
      ],
      ["503 store_busy", () => set("CONNECTION LIMIT 0"), () => set("CONNECTION LIMIT -1")],
    ] as const;
    for (const [refusal, begin, end] of troubles) {
      await begin();
      await expect.poll(submit).toBe(refusal);
      expect((await send("GET", "/health")).status).toBe(200);
      await end();
      await expect.poll(submit).toBe("kept");
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
