/** `postern secret rotate` in a process of its own, killed in the middle of its work. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { expect, test } from "vitest";
import { type Keys, type SealingKey, seal, unseal } from "../../../../kernel/crypto/seal.ts";
import { createRing, ringOf } from "../../../../plugins/store/keys/ring.ts";
import { loadKeys, parseKeys } from "../../../../plugins/store/keys/secrets-key.ts";
import type { Store } from "../../../../plugins/store/services.ts";
import { openStore } from "../../../../plugins/store/sqlite/store.ts";
import { SETTING_TABLES } from "../../../../plugins/store/stored-settings/rows.ts";
import { temporaryFolder } from "../../../support/home.ts";
import { describeEngines } from "../../../support/processes/engines.ts";
import { postern, startPostern } from "../../../support/processes/postern.ts";
import { execute } from "../../../support/processes/postgres/database.ts";

const OLD = new Uint8Array(32).fill(7);
const NEW = new Uint8Array(32).fill(9);
const ring = (...keys: Keys) => createRing(() => keys);
const inText = (...keys: Keys) => keys.map((key) => Buffer.from(key).toString("base64")).join();

// Three batches.
const BATCH = 200;
const NAMES = Array.from({ length: 500 }, (_, index) => `tool/${1000 + index}`);
const SOON = { interval: 5 };

async function fill(store: Store, key: SealingKey) {
  const secretsKey = ringOf(key).derive("secrets");
  const keyed = store.keyed<string>("secrets");
  await Promise.all(NAMES.map((name) => keyed.set(name, seal(secretsKey, name, `value of ${name}`))));
  return {
    /** How many of them these keys open. */
    async opens(keys: ReturnType<typeof ring>): Promise<number> {
      const opened = NAMES.map(async (name) => {
        try {
          return unseal(keys.derive("secrets"), name, (await keyed.get(name)) ?? "") === `value of ${name}`;
        } catch {
          return false;
        }
      });
      return (await Promise.all(opened)).filter(Boolean).length;
    },
  };
}

/** What holds the command up at one value, in the middle of a transaction. */
interface Obstacle {
  /** Whether the command is at it; on SQLite, whether it is in some transaction that takes long. */
  isReached(): Promise<boolean>;
  clear(): Promise<void>;
}

/** Writing this value takes minutes. */
function slowDown(file: string, name: string): Obstacle {
  const database = new DatabaseSync(file, { timeout: 5000 });
  database.exec(`CREATE TRIGGER slow AFTER UPDATE ON keyed WHEN NEW.key = '${name}' BEGIN
    SELECT count(*) FROM keyed AS a, keyed AS b, keyed AS c, keyed AS d WHERE a.value || b.value < c.value || d.value;
  END; PRAGMA busy_timeout = 0`);
  return {
    async isReached() {
      try {
        database.exec("BEGIN IMMEDIATE; ROLLBACK");
        return false;
      } catch {
        // Others write, too, but not for so long.
        await sleep(200);
        try {
          database.exec("BEGIN IMMEDIATE; ROLLBACK");
          return false;
        } catch {
          return true;
        }
      }
    },
    async clear() {
      database.exec("PRAGMA busy_timeout = 5000; DROP TRIGGER slow");
      database.close();
    },
  };
}

/** Somebody else holds the row of this value. */
async function hold(url: string, name: string): Promise<Obstacle> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("BEGIN");
  await client.query("SELECT 1 FROM keyed WHERE key = $1 FOR UPDATE", [name]);
  return {
    isReached: async () =>
      (
        await execute(
          url,
          "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'UPDATE keyed%'",
        )
      ).length > 0,
    clear: () => client.end(),
  };
}

describeEngines("a rotation that is killed", (engine, fresh) => {
  test("in any batch leaves every value readable; the next run finishes, and then the old key opens none", async () => {
    const place = await fresh();
    const store = await place.open();
    const { opens } = await fill(store, OLD);
    const sql = await store.tables("settings", SETTING_TABLES);
    await sql.run(
      "INSERT INTO settings (name, value, sealed, updated_at) VALUES ('OPENAI_API_KEY', ?, 1, '')",
      seal(ring(OLD).derive("settings"), "setting OPENAI_API_KEY", "stored"),
    );
    const env = {
      POSTERN_HOME: join(temporaryFolder(), "home"),
      STORE_URL: place.url,
      POSTERN_SECRETS_KEY: inText(NEW, OLD),
    };
    const both = ring(NEW, OLD);
    const file = place.url.replace("sqlite://", "");
    const rotated: number[] = [];
    for (const name of [NAMES[0], NAMES[99], NAMES[250], NAMES[499]] as string[]) {
      const obstacle = engine === "sqlite" ? slowDown(file, name) : await hold(place.url, name);
      const child = startPostern(["secret", "rotate"], { env });
      // In the batch of this value: those before it are there.
      const before = Math.floor(NAMES.indexOf(name) / BATCH) * BATCH;
      await expect
        .poll(async () => (await obstacle.isReached()) && (await opens(ring(NEW))) === before, SOON)
        .toBe(true);
      child.kill("SIGKILL");
      expect(await child.ended).toBe(137);
      await obstacle.clear();
      expect(await opens(both)).toBe(NAMES.length);
      rotated.push(await opens(ring(NEW)));
      expect(await opens(ring(OLD))).toBe(NAMES.length - (rotated.at(-1) ?? 0));
    }
    // A batch that was under way is as it was before; those before it stay.
    expect(rotated).toEqual([0, 0, 200, 400]);

    const dry = await postern(["secret", "rotate", "--dry-run", "--json"], { env });
    const { places } = JSON.parse(dry.stdout) as Dry;
    expect(places.flatMap(({ unreadable }) => unreadable)).toEqual([]);
    expect(places.reduce((sum, { old }) => sum + old, 0)).toBe(100);

    // At moments that nobody chose.
    await fill(store, OLD);
    for (const millis of [500, 900, 1300]) {
      const child = startPostern(["secret", "rotate"], { env });
      await sleep(millis);
      child.kill("SIGKILL");
      await child.ended;
      expect(await opens(both)).toBe(NAMES.length);
    }

    const done = await postern(["secret", "rotate"], { env, alone: true });
    expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining("values were sealed again") });
    expect(await opens(ring(OLD))).toBe(0);
    expect(await opens(ring(NEW))).toBe(NAMES.length);
    const row = await sql.get<{ value: string }>("SELECT value FROM settings WHERE name = 'OPENAI_API_KEY'");
    const setting = (keys: ReturnType<typeof ring>) =>
      unseal(keys.derive("settings"), "setting OPENAI_API_KEY", row?.value ?? "");
    expect(setting(ring(NEW))).toBe("stored");
    expect(() => setting(ring(OLD))).toThrow();
    const again = await postern(["secret", "rotate"], { env });
    expect(again.stdout).toContain("0 values were sealed again");
  });
});

interface Dry {
  readonly places: readonly { readonly old: number; readonly unreadable: readonly string[] }[];
}

test("with the key in secrets.key: both keys are in it after the kill, and no third is made", async () => {
  const home = temporaryFolder();
  const keyFile = join(home, "secrets.key");
  const file = join(home, "store.sqlite");
  const store = openStore(file, { secretsKey: () => loadKeys(home, undefined) });
  const { opens } = await fill(store, await loadKeys(home, undefined));
  const keys = () => parseKeys(readFileSync(keyFile, "utf8"), keyFile) as Keys;
  const [old] = keys();
  const env = { POSTERN_HOME: home };
  const obstacle = slowDown(file, NAMES[250] ?? "");
  const child = startPostern(["secret", "rotate"], { env });
  await expect
    .poll(async () => (await obstacle.isReached()) && (await opens(ring(keys()[0]))) === BATCH, SOON)
    .toBe(true);
  child.kill("SIGKILL");
  await child.ended;
  await obstacle.clear();
  const both = keys();
  expect(both).toEqual([expect.anything(), old]);
  expect(await opens(ring(...both))).toBe(NAMES.length);
  expect(await opens(ring(both[0]))).toBe(200);

  const early = await postern(["secret", "rotate", "--remove-old"], { env });
  expect(early.stderr).toContain("300 values are still sealed under the old key");
  expect((await postern(["secret", "rotate"], { env, alone: true })).stdout).toContain("300 values were");
  expect(keys()).toEqual(both);
  expect((await postern(["secret", "rotate", "--remove-old"], { env })).code).toBe(0);
  expect(keys()).toEqual([both[0]]);
  expect(await opens(ring(old))).toBe(0);
  expect(await opens(ring(...keys()))).toBe(NAMES.length);
  await store.close();
});
