/** The log of SQLite is copied into the store's file by a thread, and begins anew. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createCheckpoints } from "../../../plugins/store/sqlite/checkpoints.ts";
import { connect } from "../../../plugins/store/sqlite/connection.ts";
import { openDatabase } from "../../../plugins/store/sqlite/database.ts";
import { temporaryFolder } from "../../support/home.ts";

const MIB = 2 ** 20;
const TEXT = "x".repeat(MIB);

async function opened() {
  const file = join(temporaryFolder(), "store.sqlite");
  const database = openDatabase(file);
  await database.run("CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT)");
  const write = async (count: number) => {
    for (let left = count; left > 0; left--) await database.run("INSERT INTO texts (text) VALUES (?)", TEXT);
  };
  return { file, database, write, size: (end = "") => statSync(`${file}${end}`).size };
}

test("after 32 MB the log is copied beside those who write, and what follows goes where it began", async () => {
  const { file, database, write, size } = await opened();
  onTestFinished(database.close);
  const other = connect(file, false);
  onTestFinished(() => other.connection.close());
  const pagesInLog = () => other.get<{ log: number }>("PRAGMA wal_checkpoint(NOOP)", [])?.log ?? 0;
  await write(30);
  expect(size()).toBeLessThan(2 * MIB);
  for (let round = 1; round <= 3; round++) {
    await write(33);
    while (size() < round * 31 * MIB) await setImmediate();
    // The thread ends after that, and the next commit has the rest copied.
    for (; pagesInLog() > 2000; await setImmediate())
      await database.run("INSERT INTO texts (text) VALUES ('')");
  }
  expect(size("-wal")).toBeLessThan(80 * MIB);
});

test("a store that is closed while its log is copied has everything, and leaves no log", async () => {
  const { file, database, write } = await opened();
  await write(36);
  await database.close();
  expect(existsSync(`${file}-wal`)).toBe(false);
  const again = openDatabase(file);
  onTestFinished(again.close);
  expect(await again.get("SELECT count(*) AS count, sum(length(text)) AS length FROM texts")).toEqual({
    count: 36,
    length: 36 * MIB,
  });
});

test("where there can be no thread the log is copied all the same", async () => {
  const file = join(temporaryFolder(), "store.sqlite");
  const writer = connect(file, false);
  onTestFinished(() => writer.connection.close());
  writer.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE texts (text TEXT)");
  const checkpoints = createCheckpoints(file, writer, join(file, "nothing.ts"));
  for (let count = 0; count < 33; count++) writer.run("INSERT INTO texts (text) VALUES (?)", [TEXT]);
  checkpoints.look();
  await checkpoints.close();
  expect(statSync(file).size).toBeLessThan(MIB);
  checkpoints.look();
  expect(statSync(file).size).toBeGreaterThan(32 * MIB);
});
