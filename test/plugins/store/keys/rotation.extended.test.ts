import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openVault } from "../../../../host/secrets/secrets.ts";
import { type Keys, seal, unseal } from "../../../../kernel/crypto/seal.ts";
import { createMask } from "../../../../kernel/mask/mask.ts";
import { createRing } from "../../../../plugins/store/keys/ring.ts";
import { reseal, survey } from "../../../../plugins/store/keys/rotation.ts";
import { loadKeys, parseKeys } from "../../../../plugins/store/keys/secrets-key.ts";
import { openStore } from "../../../../plugins/store/sqlite/store.ts";
import { SEALED, SETTING_TABLES } from "../../../../plugins/store/stored-settings/rows.ts";
import { temporaryFolder } from "../../../support/home.ts";
import { describeEngines } from "../../../support/processes/engines.ts";
import { runHere } from "../../../support/processes/in-process.ts";

const OLD = new Uint8Array(32).fill(7);
const NEW = new Uint8Array(32).fill(9);
const ring = (...keys: Keys) => createRing(() => keys);
const OLD_SECRETS = ring(OLD).derive("secrets");

const OWNED = [
  { owner: "settings", migrations: SETTING_TABLES, sealed: [SEALED] },
  {
    owner: "tools",
    migrations: [],
    sealed: [{ about: "secrets", purpose: "secrets", namespace: "secrets" }],
  },
];
const COUNT = 450;

describeEngines("sealing again", (_engine, fresh) => {
  test("stopped between two batches it leaves everything readable, goes on later, and the old key then opens nothing", async () => {
    const store = await (await fresh()).open();
    const sql = await store.tables("settings", SETTING_TABLES);
    const keyed = store.keyed<string>("secrets");
    const names = Array.from({ length: COUNT }, (_, index) => `tool/${index}`);
    await Promise.all(
      names.map((name) => keyed.set(name, seal(OLD_SECRETS, name, `value of ${name}`), 3_600_000)),
    );
    const settingKey = ring(OLD).derive("settings");
    await sql.run(
      "INSERT INTO settings (name, value, sealed, updated_at) VALUES ('A', ?, 1, ''), ('B', 'plain', 0, '')",
      seal(settingKey, "setting A", "stored"),
    );
    const both = ring(NEW, OLD);
    const opens = async (keys: ReturnType<typeof ring>) => {
      const found = await Promise.all(
        names.map(async (name) => {
          try {
            return unseal(keys.derive("secrets"), name, (await keyed.get(name)) ?? "") === `value of ${name}`;
          } catch {
            return false;
          }
        }),
      );
      return found.filter(Boolean).length;
    };

    for await (const _ of reseal(sql, OWNED, both)) break;
    expect(await opens(both)).toBe(COUNT);
    const half = await survey(sql, OWNED, both);
    const count = (part: "old" | "current") => half.reduce((sum, place) => sum + place[part], 0);
    expect(count("old")).toBeGreaterThan(0);
    expect(count("current")).toBeGreaterThan(0);

    let done = 0;
    for await (const sealed of reseal(sql, OWNED, both)) done = sealed;
    expect(done).toBe(count("old"));
    expect(await opens(ring(OLD))).toBe(0);
    expect(await opens(ring(NEW))).toBe(COUNT);
    const rows = await sql.all<{ value: string }>("SELECT value FROM settings ORDER BY name");
    expect(unseal(ring(NEW).derive("settings"), "setting A", rows[0]?.value ?? "")).toBe("stored");
    expect(rows[1]?.value).toBe("plain");
    // What expires still does.
    const kept = await sql.get<{ expires: number | string | null }>(
      "SELECT expires FROM keyed WHERE key = 'tool/1'",
    );
    expect(Number(kept?.expires)).toBeGreaterThan(Date.now());
    expect(await survey(sql, OWNED, ring(OLD))).toContainEqual(
      expect.objectContaining({ about: "secrets", current: 0, old: 0 }),
    );
  });

  test("a value that was set while it ran is not overwritten", async () => {
    const store = await (await fresh()).open();
    const sql = await store.tables("settings", SETTING_TABLES);
    const keyed = store.keyed<string>("secrets");
    await keyed.set("a", seal(OLD_SECRETS, "a", "first"));
    const both = ring(NEW, OLD);
    let isFirst = true;
    for await (const _ of reseal(sql, OWNED, both)) {
      if (isFirst) await keyed.set("a", seal(OLD_SECRETS, "a", "second"));
      isFirst = false;
    }
    expect(unseal(ring(NEW).derive("secrets"), "a", (await keyed.get("a")) ?? "")).toBe("second");
    const endless = async () => {
      await keyed.set("a", seal(OLD_SECRETS, "a", "third"));
      for await (const _ of reseal(sql, OWNED, both)) await keyed.set("a", seal(OLD_SECRETS, "a", "third"));
    };
    await expect(endless()).rejects.toThrow("A service still seals under the old key");
  });
});

test("rotate makes a key, seals everything under it beside a running service, and removes the old one when asked", async () => {
  const home = temporaryFolder();
  const file = join(home, "secrets.key");
  const run = (...args: string[]) =>
    runHere({ args, env: { POSTERN_HOME: home }, cwd: undefined, input: undefined });
  const store = openStore(join(home, "store.sqlite"), { secretsKey: () => loadKeys(home, undefined) });
  const keys = await loadKeys(home, undefined);
  const keyed = store.keyed<string>("secrets");
  const vault = await openVault({ keyed, key: keys.derive("secrets"), mask: createMask() });
  const { secrets, values } = vault.of({ tool: "probe", digest: "0", hostsOf: () => [] });
  await secrets.set("KEY", "a-very-private-value");
  const [old] = parseKeys(readFileSync(file, "utf8"), file);

  const dry = await run("secret", "rotate", "--dry-run");
  expect(dry).toMatchObject({ code: 0, stdout: expect.stringContaining("1 values would be sealed again") });
  expect(parseKeys(readFileSync(file, "utf8"), file)).toEqual([old]);

  const done = await run("secret", "rotate", "--json");
  expect(JSON.parse(done.stdout)).toMatchObject({ sealed_again: 1 });
  expect(parseKeys(readFileSync(file, "utf8"), file)).toEqual([expect.anything(), old]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  // The one that was open all the time.
  expect(await values.read("KEY")).toEqual({ value: "a-very-private-value" });
  await secrets.set("LATER", "another-private-value");

  const doctor = await run("doctor", "--json");
  expect(doctor.stdout).toContain("nothing stored is sealed under it any more");

  const removed = await run("secret", "rotate", "--remove-old");
  expect(removed.stdout).toContain("The old key was removed");
  expect(parseKeys(readFileSync(file, "utf8"), file)).toHaveLength(1);
  expect(await values.read("KEY")).toEqual({ value: "a-very-private-value" });

  await keyed.set("probe/LOST", seal(OLD_SECRETS, "probe/LOST", "x"));
  const refused = await run("secret", "rotate");
  expect(refused.code).toBe(78);
  expect(refused.stderr).toContain("No listed key opens probe/LOST");
  await store.close();
  for (const { stdout, stderr } of [dry, done, doctor, removed, refused])
    expect(stdout + stderr).not.toMatch(/private-value/);
});
