/** BACKUP_EVERY on PostgreSQL, from the service that makes a backup to a new database that it is restored into. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { expect, test } from "vitest";
import { digestOf } from "../../../../host/catalog/catalog.ts";
import { openVault } from "../../../../host/secrets/secrets.ts";
import { createMask } from "../../../../kernel/mask/mask.ts";
import { readNote } from "../../../../plugins/store/copy/backup.ts";
import { createRing } from "../../../../plugins/store/keys/ring.ts";
import type { Store } from "../../../../plugins/store/services.ts";
import { temporaryFolder } from "../../../support/home.ts";
import { openPostgres } from "../../../support/processes/engines.ts";
import { postern } from "../../../support/processes/postern.ts";
import { describePostgres, execute, freshDatabase } from "../../../support/processes/postgres/database.ts";
import { bootAgent, message, scriptedModel } from "../../../support/services/agent.ts";
import { createTurnedClock } from "../../../support/services/turned-clock.ts";
import { fixture } from "../../../support/tools/components.ts";
import { install, NOTHING, toolHost } from "../../../support/tools/tool-host.ts";
import { afterThisTest } from "../../../support/undo.ts";

const KEY = new Uint8Array(32).fill(7);
const POSTERN_SECRETS_KEY = Buffer.from(KEY).toString("base64");
const FIRST = "postern-20261116T080000Z.backup";
const THIRD = "postern-20261117T090002Z.backup";

/** Nobody reads that table until it is released. */
async function lock(url: string, table: string) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
  afterThisTest(() => client.end());
  return () => client.query("ROLLBACK");
}

/** Without what SQLite has beside one that is being written. */
const backupsIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => !/-(?:wal|shm|journal)$/.test(name))
    .sort();

/** The connections that wait for somebody's lock. */
const waiting = (url: string) =>
  execute<{ pid: number }>(
    url,
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
  );

/** Returns the secrets of a tool. */
async function secretsIn(store: Store) {
  const key = createRing(() => [KEY]).derive("secrets");
  const vault = await openVault({ keyed: store.keyed("secrets"), key, mask: createMask() });
  return vault.of({ tool: "echo", digest: "0", hostsOf: () => [] });
}

/** What a service on this store has. */
async function contentsOf(STORE_URL: string | undefined, home?: string) {
  const variables = { ...(STORE_URL && { STORE_URL }), POSTERN_SECRETS_KEY };
  const kernel = await bootAgent({ variables, ...(home !== undefined && { home }) });
  const threads = kernel.service("threads");
  const [thread] = (await threads.list("ann")).items;
  const { items } = await threads.turns("ann", thread?.id ?? "");
  const { values } = await secretsIn(kernel.service("store"));
  const secret = await values.read("TOKEN");
  await kernel.stop();
  return {
    asked: items.map(({ input }) => (input.type === "message" ? input.text : input.type)),
    secret,
  };
}

describePostgres("a scheduled backup of a database", () => {
  test("is taken, verified, replaces the older one only then, and can be restored", async () => {
    const STORE_URL = await freshDatabase(afterThisTest);
    const clock = createTurnedClock("2026-11-16T08:00:00Z");
    const variables = { STORE_URL, POSTERN_SECRETS_KEY, BACKUP_EVERY: "24h", BACKUP_KEEP: "1" };
    const model = await scriptedModel();
    const kernel = await bootAgent({ model, clock, variables });
    const folder = join(kernel.home, "backups");
    const said = (text: string) => kernel.logged.filter((line) => line.includes(text)).length;
    const written = () => said("backup written and verified");
    const say = async (text: string, thread?: string) => {
      const input = message(text);
      const turn = await kernel
        .service("agent")
        .run({ user: "ann", channel: "test", input, ...(thread !== undefined && { thread }) });
      await turn.record;
      return turn.thread;
    };
    await expect.poll(written).toBe(1);
    expect(backupsIn(folder)).toEqual([FIRST]);
    expect(readNote(join(folder, FIRST))).toMatchObject({ version: expect.any(String) });

    const thread = await say("Tell me of elephants");
    await (await secretsIn(kernel.service("store"))).secrets.set("TOKEN", "a-private-value");
    const tools = await toolHost({}, temporaryFolder(), await openPostgres(STORE_URL));
    const component = await fixture("echo.js");
    await install(tools, "echo", component, NOTHING);

    // The database ends the connection in the middle of the second.
    const release = await lock(STORE_URL, "memory_documents");
    clock.turnTo("2026-11-17T08:00:01Z");
    await expect.poll(() => waiting(STORE_URL)).toHaveLength(1);
    expect(backupsIn(folder)).toEqual([FIRST, expect.stringMatching(/\.backup\.partial$/)]);
    for (const { pid } of await waiting(STORE_URL))
      await execute(STORE_URL, `SELECT pg_terminate_backend(${pid})`);
    await expect.poll(() => said('"code":"backup_failed"')).toBe(1);
    await release();
    expect(backupsIn(folder)).toEqual([FIRST]);
    const doctor = await postern(["doctor", "--json"], { env: { ...variables, POSTERN_HOME: kernel.home } });
    expect(JSON.parse(doctor.stdout).findings).toContainEqual(
      expect.objectContaining({
        name: "backups",
        warning: true,
        detail: expect.stringMatching(
          new RegExp(
            `^the last one failed \\(the database at .* does not answer.*; the last good one is .*${FIRST}`,
          ),
        ),
      }),
    );

    // An hour later it is tried again. While it is read, the older one is still there.
    // A turn reads memory too: it must be over before the lock, or its query is the one that waits.
    await say("And of giraffes", thread);
    const releaseAgain = await lock(STORE_URL, "memory_documents");
    clock.turnTo("2026-11-17T09:00:02Z");
    await expect.poll(() => waiting(STORE_URL)).toHaveLength(1);
    expect(backupsIn(folder)).toEqual([FIRST, `${THIRD}.partial`]);
    expect(readNote(join(folder, FIRST))).toMatchObject({ version: expect.any(String) });
    await releaseAgain();
    await expect.poll(written).toBe(2);
    expect(backupsIn(folder)).toEqual([THIRD]);
    const file = join(folder, THIRD);
    expect(readNote(file)).toMatchObject({ version: expect.any(String) });
    expect(await execute(STORE_URL, "SELECT error, good_file FROM store_backups")).toEqual([
      { error: null, good_file: file },
    ]);
    await kernel.stop();

    const expected = {
      asked: ["Tell me of elephants", "And of giraffes"],
      secret: { value: "a-private-value" },
    };
    const another = await freshDatabase(afterThisTest);
    const intoDatabase = await postern(["store", "restore", file], {
      env: { POSTERN_HOME: join(temporaryFolder(), "home"), STORE_URL: another, POSTERN_SECRETS_KEY },
    });
    expect(intoDatabase).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("rows were read again and are the same."),
    });
    expect(await contentsOf(another)).toEqual(expected);
    const [tool] = await execute<{ component: Uint8Array }>(
      another,
      "SELECT component FROM tools WHERE name = 'echo'",
    );
    expect(digestOf(tool?.component ?? new Uint8Array())).toBe(digestOf(component));

    const home = join(temporaryFolder(), "home");
    const intoFile = await postern(["store", "restore", file], {
      env: { POSTERN_HOME: home, POSTERN_SECRETS_KEY },
    });
    expect(intoFile.code).toBe(0);
    expect(await contentsOf(undefined, home)).toEqual(expected);
    expect(existsSync(join(home, "tools", "echo", "component.wasm"))).toBe(true);
  });
});
