/** `postern store copy|backup|restore`, with what a service has kept. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { beforeAll, expect, test } from "vitest";
import { temporaryFolder } from "../../support/home.ts";
import { type Attacked, serveUnderAttack } from "../../support/processes/attacked.ts";
import { postern, startPostern } from "../../support/processes/postern.ts";
import { describePostgres, execute, freshDatabase } from "../../support/processes/postgres/database.ts";
import { freePort } from "../../support/servers/port.ts";
import { afterThisFile, afterThisTest } from "../../support/undo.ts";

interface Copied {
  readonly tables: readonly { readonly table: string; readonly rows: number; readonly sha256: string }[];
}

const REMEMBERED = Uint8Array.of(0, 255, 10);

const later = afterThisFile();
let attacked: Attacked;
let home: string;

/** In a home of its own, with the first one's key, unless told otherwise. */
async function run(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const key = readFileSync(join(home, "secrets.key"), "utf8").trim();
  const given = { POSTERN_HOME: home, POSTERN_SECRETS_KEY: key, ...env };
  return await postern(["store", ...args], { env: given, cwd: temporaryFolder() });
}

async function copied(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Copied> {
  const { code, stdout, stderr } = await run([...args, "--json"], env);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as Copied;
}

const rowsOf = ({ tables }: Copied, name: string) => tables.find(({ table }) => table === name)?.rows;

/** What a service on that store answers for a search in threads and one in memory. */
async function found(env: Readonly<Record<string, string>>): Promise<unknown> {
  const port = await freePort();
  const service = startPostern(["serve"], {
    env: { GATEWAY_PORT: String(port), GATEWAY_AUTH_TOKEN: "~a-token-to-look-with-12345", ...env },
    cwd: temporaryFolder(),
  });
  await service.printed("ready in");
  const get = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { authorization: "Bearer ~a-token-to-look-with-12345" },
    });
    return await answer.json();
  };
  const answers = {
    threads: ((await get("/api/threads?q=elephants")) as { threads: unknown[] }).threads.length,
    memory: ((await get("/api/memory?q=giraffes")) as { results: unknown[] }).results.length,
    tools: ((await get("/api/tools")) as { tools: { name: string }[] }).tools.map(({ name }) => name),
  };
  service.kill("SIGTERM");
  await service.ended;
  return answers;
}

beforeAll(async () => {
  attacked = await serveUnderAttack(later);
  home = attacked.served.home;
  await attacked.install("notes", "echo.js");
  cpSync(join(home, "tools/notes"), join(home, "tools/.previous-notes"), { recursive: true });
  writeFileSync(join(home, "SOUL.md"), "Be kind.");
  mkdirSync(join(home, "skills", "tidy"), { recursive: true });
  writeFileSync(
    join(home, "skills", "tidy", "SKILL.md"),
    "---\nname: tidy\ndescription: Tidies up\n---\nPut things away.\n",
  );
  for (let count = 0; count < 3; count++)
    await attacked.send("POST", "/api/chat", { message: `Tell me of elephants, ${count}` });
  await attacked.send("PUT", "/api/memory/file?path=animals.md", { text: "Giraffes are tall." });
  await attacked.webhook.post({ user_id: "ann", message: "Hello" }, { prefer: "wait=60" });
  await attacked.send("POST", "/openai/v1/conversations", { items: [{ role: "user", content: "Hello" }] });
  const file = new FormData();
  file.set("purpose", "user_data");
  file.set("file", new Blob([Buffer.alloc(300_000, 7)]), "seven.bin");
  await attacked.send("POST", "/openai/v1/files", file);
  // More than is copied at once.
  const texts = [];
  for (const name of ["a.txt", "b.txt", "c.txt"]) {
    const form = new FormData();
    form.set("file", new Blob(["a line of text\n".repeat(300_000)]), name);
    texts.push(await attacked.send("POST", "/api/attachments", form));
  }
  const { id } = JSON.parse(texts[0]?.text ?? "");
  await attacked.send("POST", "/api/chat", { message: "Read this", attachments: [id] });
  const database = new DatabaseSync(join(home, "store.sqlite"));
  const remember = database.prepare("INSERT INTO tool_state VALUES ('notes', ?, 'seen/ä', ?)");
  for (const user of ["ann", "operator"]) remember.run(user, REMEMBERED);
  database.exec(`INSERT INTO tool_state_sizes SELECT "user", tool, 10 FROM tool_state`);
  database.close();
});

describePostgres("a store of SQLite", () => {
  test("goes to PostgreSQL and back with equal digests, and is found and used there", async () => {
    const url = await freshDatabase(afterThisTest);
    const there = await copied(["copy", `sqlite://${join(home, "store.sqlite")}`, url]);
    expect(rowsOf(there, "threads")).toBe(5);
    expect(rowsOf(there, "memory_documents")).toBe(1);
    expect(rowsOf(there, "response_conversation_items")).toBe(1);
    expect(rowsOf(there, "response_file_parts")).toBe(3);
    expect([rowsOf(there, "attachments"), rowsOf(there, "uploads")]).toEqual([1, 2]);
    expect(await execute(url, `SELECT tool, "user", key, value FROM tool_state ORDER BY "user"`)).toEqual(
      ["ann", "operator"].map((user) => ({
        tool: "notes",
        user,
        key: "seen/ä",
        value: Buffer.from(REMEMBERED),
      })),
    );
    for (const table of ["tools", "previous_tools"])
      expect(await execute(url, `SELECT name FROM ${table}`)).toEqual([{ name: "notes" }]);
    expect(await execute(url, "SELECT path FROM home_files ORDER BY path")).toEqual([
      { path: "SOUL.md" },
      { path: "skills/tidy/SKILL.md" },
    ]);
    const key = readFileSync(join(home, "secrets.key"), "utf8").trim();
    const elsewhere = join(temporaryFolder(), "home");
    const onPostgres = { POSTERN_HOME: elsewhere, POSTERN_SECRETS_KEY: key, STORE_URL: url };
    expect(await found(onPostgres)).toEqual({ threads: 3, memory: 1, tools: ["notes"] });

    const back = join(temporaryFolder(), "home");
    mkdirSync(back, { mode: 0o700 });
    const here = await copied(["copy", url, `sqlite://${join(back, "store.sqlite")}`]);
    const unchanged = [
      "threads",
      "turns",
      "turn_items",
      "jobs",
      "memory_documents",
      "memory_versions",
      "response_conversations",
      "response_conversation_items",
      "response_files",
      "response_file_parts",
      "keyed",
      "tool_state",
      "tool_state_sizes",
    ];
    for (const name of unchanged)
      expect(here.tables.find(({ table }) => table === name)).toEqual(
        there.tables.find(({ table }) => table === name),
      );
    expect(readFileSync(join(back, "SOUL.md"), "utf8")).toBe("Be kind.");
    for (const file of ["tools/notes/component.wasm", "tools/.previous-notes/component.wasm"])
      expect(readFileSync(join(back, file))).toEqual(readFileSync(join(home, file)));
    expect(await found({ POSTERN_HOME: back, POSTERN_SECRETS_KEY: key })).toEqual({
      threads: 3,
      memory: 1,
      tools: ["notes"],
    });
  });

  test("is not copied over what is there, unless that is wanted, and a copy that fails leaves nothing", async () => {
    const url = await freshDatabase(afterThisTest);
    const from = `sqlite://${join(home, "store.sqlite")}`;
    await copied(["copy", from, url]);
    const refused = await run(["copy", from, url]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("--replace") });
    await copied(["copy", from, url, "--replace"]);
    expect(await execute(url, "SELECT count(*)::int AS count FROM threads")).toEqual([{ count: 5 }]);
    const unknown = await run(["copy", "mysql://x/y", url]);
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("sqlite://<file>") });
    expect(unknown.stderr).not.toContain(new URL(url).password);
  });

  test("is not led out of the home by what somebody has put into the database", async () => {
    const url = await freshDatabase(afterThisTest);
    await copied(["copy", `sqlite://${join(home, "store.sqlite")}`, url]);
    const folder = temporaryFolder();
    for (const hostile of [
      "UPDATE tools SET name = '../../escaped'",
      "DELETE FROM tools; INSERT INTO home_files VALUES ('../escaped', 'echo owned', '')",
    ]) {
      await execute(url, hostile);
      mkdirSync(join(folder, "home"), { recursive: true, mode: 0o700 });
      const led = await run(["copy", url, `sqlite://${join(folder, "home", "store.sqlite")}`, "--replace"]);
      expect(led).toMatchObject({ code: 1, stderr: expect.stringContaining("escaped") });
      expect(readdirSync(folder)).toEqual(["home"]);
    }
  });

  test("is backed up to one file that brings everything back, on either engine", async () => {
    const folder = temporaryFolder();
    const file = join(folder, "all.backup");
    await copied(["backup", file]);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(existsSync(`${file}.partial`)).toBe(false);
    expect(readFileSync(file).includes(readFileSync(join(home, "webui-token")))).toBe(false);
    expect((await run(["backup", file])).code).toBe(2);

    const url = await freshDatabase(afterThisTest);
    const elsewhere = join(temporaryFolder(), "home");
    await copied(["restore", file], { POSTERN_HOME: elsewhere, STORE_URL: url });
    expect(await execute(url, "SELECT name FROM tools")).toEqual([{ name: "notes" }]);
    const fromPostgres = join(folder, "postgres.backup");
    await copied(["backup", fromPostgres], { POSTERN_HOME: elsewhere, STORE_URL: url });
    const last = join(temporaryFolder(), "home");
    const restored = await copied(["restore", fromPostgres], { POSTERN_HOME: last });
    expect(rowsOf(restored, "threads")).toBe(5);
    expect([rowsOf(restored, "tool_state"), rowsOf(restored, "tool_state_sizes")]).toEqual([2, 2]);
    expect(readFileSync(join(last, "skills/tidy/SKILL.md"), "utf8")).toContain("Put things away.");
    expect(existsSync(join(last, "tools/notes/component.wasm"))).toBe(true);
  });
});

test("a backup that is damaged or sealed under another key, or for a store in use, is refused and changes nothing", async () => {
  const folder = temporaryFolder();
  const file = join(folder, "all.backup");
  const sealed = await postern(["config", "set", "ANTHROPIC_API_KEY"], {
    env: { POSTERN_HOME: home },
    input: "a-key-that-is-sealed",
  });
  expect(sealed).toMatchObject({ code: 0 });
  await copied(["backup", file]);
  const other = {
    POSTERN_HOME: join(folder, "home"),
    POSTERN_SECRETS_KEY: Buffer.alloc(32, 1).toString("hex"),
  };
  expect(await run(["restore", file], other)).toMatchObject({
    code: 78,
    stderr: expect.stringContaining("sealed under another key"),
  });
  expect(await run(["restore", file])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("stop it first"),
  });
  const elsewhere = { POSTERN_HOME: join(folder, "home") };
  const target = `sqlite://${join(home, "store.sqlite")}`;
  expect(await run(["copy", `sqlite://${file}`, target, "--replace"], elsewhere)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("stop it first"),
  });
  const older = join(folder, "older.backup");
  cpSync(file, older);
  using database = new DatabaseSync(older);
  database.exec("DELETE FROM migrations WHERE owner = 'schema'");
  expect(await run(["restore", older], elsewhere)).toMatchObject({
    code: 78,
    stderr: expect.stringContaining("was made by an older Postern"),
  });
  truncateSync(file, Math.floor(statSync(file).size / 2));
  expect(await run(["restore", file], { POSTERN_HOME: join(folder, "home") })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("is not a usable backup"),
  });
  expect(existsSync(join(folder, "home", "store.sqlite"))).toBe(false);
});
