/** How much a user keeps, with a database that takes long to sum it up. */
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { defineTables, type KeptBytes } from "../../../kernel/kit/store.ts";
import { openStore } from "../../../plugins/store/sqlite/store.ts";
import { createUserStorage } from "../../../plugins/store/user-storage.ts";
import { moveTime } from "../../support/clock/moved-time.ts";
import { temporaryFolder } from "../../support/home.ts";

const MIGRATIONS = defineTables(
  ({ text, integer }) => `CREATE TABLE notes ("user" ${text} NOT NULL, bytes ${integer} NOT NULL)`,
);
const KEEPS: readonly KeptBytes[] = [
  { kind: "files", bytes: 'SELECT sum(bytes) FROM notes WHERE "user" = ?' },
];

/** Users may keep 100 bytes. */
async function open(sumMillis: number) {
  const store = openStore(join(temporaryFolder(), "store.sqlite"), { durability: "normal" });
  onTestFinished(() => store.close());
  const sql = await store.tables("notes", MIGRATIONS);
  const get: typeof sql.get = async (...query) => {
    await setTimeout(sumMillis);
    return sql.get(...query);
  };
  const tables = async () => [{ owner: "notes", migrations: MIGRATIONS, keeps: KEEPS }];
  const storage = createUserStorage({ tables: async () => ({ ...sql, get }) }, tables, 100);
  const keep = (bytes: number) => sql.run("INSERT INTO notes VALUES ('ann', ?)", bytes);
  return { storage, keep, clear: () => sql.run("DELETE FROM notes") };
}

test("who deletes something has room again, also if the sum takes long", async () => {
  const { storage, keep, clear } = await open(150);
  await keep(90);
  await expect(storage.take("ann", 50)).rejects.toMatchObject({ code: "storage_full" });
  await clear();
  await storage.take("ann", 50);
});

test("what takes long to store counts until it is stored", async () => {
  const clock = moveTime(onTestFinished);
  const { storage, keep } = await open(0);
  const release = await storage.hold("ann", 80);
  await clock.advance(120_000);
  const refused = expect(storage.take("ann", 50)).rejects.toMatchObject({ code: "storage_full" });
  await clock.advance(10_000);
  await refused;
  await keep(10);
  release();
  await storage.take("ann", 50);
});
