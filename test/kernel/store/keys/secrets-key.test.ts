import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadKeys } from "../../../../kernel/store/keys/secrets-key.ts";
import { openStore } from "../../../../kernel/store/sqlite/store.ts";
import type { Migration } from "../../../../kernel/vocabulary/store.ts";
import { temporaryFolder } from "../../../support/home.ts";

function openIn(home: string) {
  const store = openStore(join(home, "store.sqlite"), { secretsKey: () => loadKeys(home, undefined) });
  onTestFinished(() => store.close());
  return store;
}

test("a purpose has the same key at every start, and another home or purpose another", async () => {
  const [home, other] = [temporaryFolder(), temporaryFolder()];
  const first = await openIn(home).keyFor("one");
  expect(first).toHaveLength(32);
  expect(await openIn(home).keyFor("one")).toEqual(first);
  expect(await openIn(home).keyFor("two")).not.toEqual(first);
  expect(await openIn(other).keyFor("one")).not.toEqual(first);
});

test("a migration can be code, runs once, and leaves nothing behind where it fails", async () => {
  const store = openIn(temporaryFolder());
  let runs = 0;
  const fill: Migration = async (tx) => {
    runs++;
    await tx.run("INSERT INTO words VALUES (?)", "made");
  };
  const steps: Migration[] = ["CREATE TABLE words (word TEXT)", fill];
  await store.tables("words", steps);
  const sql = await store.tables("words", steps);
  expect(runs).toBe(1);
  const broken: Migration = async (tx) => {
    await tx.run("INSERT INTO words VALUES (?)", "half");
    throw new Error("broken");
  };
  await expect(store.tables("words", [...steps, broken])).rejects.toThrow("broken");
  expect(await sql.all("SELECT word FROM words")).toEqual([{ word: "made" }]);
});
