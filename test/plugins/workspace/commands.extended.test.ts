/** `postern workspace …` as it is typed, and what becomes of files when a store is copied. */
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../support/home.ts";
import { postern } from "../../support/processes/postern.ts";
import { describePostgres, freshDatabase } from "../../support/processes/postgres/database.ts";
import { afterThisTest } from "../../support/undo.ts";

function home() {
  const cwd = temporaryFolder();
  const env = { POSTERN_HOME: join(cwd, "home"), LOG_LEVEL: "error", MEMORY_VECTORS: "false" };
  const run = (words: string, input?: string, more: Record<string, string> = {}) =>
    postern(words.split(" "), { env: { ...env, ...more }, cwd, ...(input !== undefined && { input }) });
  return { cwd, env, run };
}

test("files are put, listed, compared, moved, removed and undone", async () => {
  const { cwd, run } = home();
  writeFileSync(join(cwd, "may.csv"), "a,b\n1,2\n");
  expect((await run("workspace put may.csv /reports/")).stdout).toBe("Wrote /reports/may.csv, version 1.\n");
  expect((await run("workspace put - /reports/may.csv --expect 1", "a,b\n1,3\n")).code).toBe(0);
  const stale = await run("workspace put may.csv /reports/may.csv --expect 1");
  expect(stale).toMatchObject({ code: 1, stderr: expect.stringContaining("has changed since you read it") });
  expect((await run("workspace ls --deep")).stdout).toMatch(/\/reports\/may\.csv +8 +2 /);
  expect((await run("workspace diff /reports/may.csv")).stdout).toContain("-1,2\n+1,3\n");
  expect((await run("workspace cat /reports/may.csv --version 1")).stdout).toBe("a,b\n1,2\n");
  await run("workspace mv /reports/may.csv /m.csv");
  await run("workspace rm /m.csv");
  const { changes } = JSON.parse((await run("workspace log --json")).stdout);
  expect(changes[0].changes).toMatchObject([{ path: "/m.csv", change: "removed" }]);
  expect((await run(`workspace undo ${changes[0].id}`)).stdout).toContain("created /m.csv");
  expect((await run(`workspace undo ${changes[0].id}`)).code).toBe(1);
  expect((await run("workspace get /m.csv copy.csv")).code).toBe(0);
  expect(readFileSync(join(cwd, "copy.csv"), "utf8")).toBe("a,b\n1,3\n");
  expect((await run("workspace get /m.csv copy.csv")).code).toBe(2);
  mkdirSync(join(cwd, "notes"));
  writeFileSync(join(cwd, "notes", "x.md"), "hello\n");
  expect((await run("workspace mount notes --as notes --read-only")).code).toBe(2);
  expect((await run("workspace mount notes --as notes --user ann --everybody")).code).toBe(2);
  expect(await run("workspace mount . --as all")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("cannot be mounted: it is, contains or lies in the service's home"),
  });
  expect((await run("workspace mount notes --as theirs --everybody --writable")).stdout).toContain(
    "as /theirs for everybody, writable",
  );
  expect((await run("workspace unmount theirs")).code).toBe(1);
  expect((await run("workspace unmount theirs --everybody")).code).toBe(0);
  expect((await run("workspace mount notes --as notes")).stdout).toContain(
    "as /notes for operator, read-only",
  );
  expect((await run("workspace cat /notes/x.md")).stdout).toBe("hello\n");
  expect(await run("workspace rm /notes/x.md")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("can only be read"),
  });
  expect((await run("workspace unmount notes")).code).toBe(0);
  expect((await run("workspace ls --user ann")).stdout).toBe("There are no files here yet.\n");
  const used = JSON.parse((await run("usage --user operator --json")).stdout);
  expect(JSON.stringify(used)).toContain("workspace");
});

test("a folder that an earlier build mounted is named by doctor if it may not be mounted now", async () => {
  const { env, run } = home();
  await run("workspace put - /a.txt", "a");
  const file = new DatabaseSync(join(env.POSTERN_HOME, "store.sqlite"));
  file
    .prepare('INSERT INTO workspace_mounts (name, "user", machine, folder, read_only) VALUES (?, ?, ?, ?, 0)')
    .run("old", "", hostname(), realpathSync(env.POSTERN_HOME));
  file.close();
  expect((await run("doctor")).stdout).toMatch(
    /mount old.*home is off: it is, contains or lies in the service's home/,
  );
  expect((await run("workspace mounts")).stdout).toContain("none: The mounted folder old is off");
  expect((await run("workspace cat /old/secrets.key --user ann")).code).toBe(1);
  expect((await run("workspace unmount old --everybody")).code).toBe(0);
});

describePostgres("a workspace in a store of SQLite", () => {
  test("goes to PostgreSQL and back, and into a backup, with its versions", async () => {
    const { cwd, env, run } = home();
    writeFileSync(join(cwd, "big.txt"), "a line\n".repeat(500_000));
    await run("workspace put big.txt");
    await run("workspace put - /big.txt", "small\n");
    const url = await freshDatabase(afterThisTest);
    const key = { POSTERN_SECRETS_KEY: "07".repeat(32) };
    const copied = await run(
      `store copy sqlite://${join(env.POSTERN_HOME, "store.sqlite")} ${url}`,
      undefined,
      key,
    );
    expect(copied).toMatchObject({ code: 0 });
    const there = { ...key, STORE_URL: url, POSTERN_HOME: temporaryFolder() };
    expect((await run("workspace cat /big.txt", undefined, there)).stdout).toBe("small\n");
    expect((await run("workspace cat /big.txt --version 1", undefined, there)).stdout).toHaveLength(
      3_500_000,
    );
    // The database numbers what comes next after what was copied.
    expect((await run("workspace put - /more.txt", "more\n", there)).code).toBe(0);
    const back = join(cwd, "back.sqlite");
    expect((await run(`store copy ${url} sqlite://${back}`, undefined, key)).code).toBe(0);
    expect((await run("workspace cat /more.txt", undefined, { STORE_URL: `sqlite://${back}` })).stdout).toBe(
      "more\n",
    );
    expect((await run(`store backup ${join(cwd, "kept.sqlite")}`)).code).toBe(0);
  });
});
