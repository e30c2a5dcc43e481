import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { createMemory } from "../../../plugins/memory/memory.ts";
import { MIGRATIONS } from "../../../plugins/memory/tables.ts";
import { openStore } from "../../../plugins/store/sqlite/store.ts";
import { temporaryFolder } from "../../support/home.ts";
import { openMemory, quiet, toolsOf } from "../../support/services/memory.ts";

describe("documents", () => {
  test("what is written is read again after a restart", async () => {
    const first = await openMemory();
    expect(await first.memory.write("ann", "notes/bike.md", "my bike is red")).toEqual({
      path: "notes/bike.md",
      version: 1,
    });
    await first.close();
    const { memory } = await openMemory(first.folder);
    expect(await memory.read("ann", "notes/bike.md")).toMatchObject({ text: "my bike is red", version: 1 });
    expect((await memory.search("ann", "what colour is my bike?"))[0]).toMatchObject({
      path: "notes/bike.md",
      snippet: "my bike is red",
    });
  });

  test("a document with very many words is found by each, until it is written without or removed", async () => {
    const { memory } = await openMemory();
    const words = Array.from({ length: 20_000 }, (_, at) => `w${at}x`);
    const found = async (word: string) => (await memory.search("ann", word)).map(({ path }) => path);
    await memory.write("ann", "all.md", words.join(" "));
    for (const word of ["w0x", "w9999x", "w19999x"]) expect(await found(word), word).toEqual(["all.md"]);
    await memory.write("ann", "all.md", words.slice(0, 10_000).join(" "));
    expect([await found("w9999x"), await found("w19999x")]).toEqual([["all.md"], []]);
    await memory.remove("ann", "all.md");
    expect([await found("w0x"), await found("w9999x")]).toEqual([[], []]);
    await memory.restore?.("ann", "all.md");
    expect(await found("w9999x")).toEqual(["all.md"]);
  });

  test("a long document whose last words cannot be indexed is written, and found by them later", async () => {
    const folder = temporaryFolder();
    const store = openStore(join(folder, "store.sqlite"), { durability: "normal" });
    onTestFinished(() => store.close());
    const sql = await store.tables("memory", MIGRATIONS);
    let left = Number.POSITIVE_INFINITY;
    const transaction: typeof sql.transaction = async (work) => {
      if (left-- <= 0) throw new Error("the disk is full");
      return sql.transaction(work);
    };
    const memory = await createMemory({
      store: { ...store, tables: async () => ({ ...sql, transaction }) },
      vectors: false,
      log: quiet,
    });
    const text = Array.from({ length: 9000 }, (_, at) => `w${at}x`).join(" ");
    const found = async (from: typeof memory) =>
      (await from.search("ann", "w8999x")).map(({ path }) => path).toSorted();
    left = 1;
    expect(await memory.write("ann", "a.md", text)).toEqual({ path: "a.md", version: 1 });
    expect(await found(memory)).toEqual([]);
    left = Number.POSITIVE_INFINITY;
    await expect.poll(() => found(memory)).toEqual(["a.md"]);
    left = 1;
    await memory.write("ann", "b.md", text);
    await memory.close();
    const { memory: restarted } = await openMemory(folder);
    await expect.poll(() => found(restarted)).toEqual(["a.md", "b.md"]);
    expect(await sql.all("SELECT rowid FROM memory_words WHERE rowid < ?", -31 * 2 ** 40)).toEqual([]);
  });

  test("earlier texts are kept as versions, and the same text again is no version", async () => {
    const { memory } = await openMemory();
    await memory.write("ann", "a.md", "one");
    expect((await memory.write("ann", "a.md", "two")).version).toBe(2);
    expect((await memory.write("ann", "a.md", "two")).version).toBe(2);
    expect((await memory.readVersion("ann", "a.md", 1))?.text).toBe("one");
    expect(await memory.readVersion("ann", "a.md", 9)).toBeUndefined();
    expect((await memory.read("ann", "a.md"))?.text).toBe("two");
  });

  test("a hundred versions are kept, the oldest go", async () => {
    const { memory } = await openMemory();
    for (let at = 1; at <= 103; at += 1) await memory.write("ann", "a.md", `text ${at}`);
    expect(await memory.readVersion("ann", "a.md", 3)).toBeUndefined();
    expect((await memory.readVersion("ann", "a.md", 4))?.text).toBe("text 4");
  });

  test("nobody reads, lists, finds or removes what is another's", async () => {
    const { memory } = await openMemory();
    await memory.write("ann", "secret.md", "the treasure is under the oak");
    await memory.write("bob", "mine.md", "an oak in my garden");
    expect(await memory.read("bob", "secret.md")).toBeUndefined();
    expect((await memory.tree("bob")).map(({ path }) => path)).toEqual(["mine.md"]);
    expect((await memory.search("bob", "treasure oak")).map(({ path }) => path)).toEqual(["mine.md"]);
    expect(await memory.remove("bob", "secret.md")).toBe(false);
    expect((await memory.read("ann", "secret.md"))?.text).toContain("treasure");
  });

  test("what is removed is gone from search and from the versions", async () => {
    const { memory } = await openMemory();
    await memory.write("ann", "a.md", "purple elephants");
    expect(await memory.remove("ann", "a.md")).toBe(true);
    expect(await memory.search("ann", "elephants")).toEqual([]);
    await memory.write("ann", "a.md", "new");
    expect((await memory.readVersion("ann", "a.md", 1))?.text).toBe("new");
  });

  test("what was removed can be restored for 30 days, with its versions, by its user", async () => {
    const { memory } = await openMemory();
    await memory.write("ann", "a.md", "purple elephants");
    await memory.write("ann", "a.md", "purple elephants and bikes");
    await memory.remove("ann", "a.md");
    expect(await memory.restore("bob", "a.md")).toBeUndefined();
    await memory.write("ann", "a.md", "junk");
    await expect(memory.restore("ann", "a.md")).rejects.toMatchObject({ code: "memory_exists" });
    await memory.remove("ann", "a.md");
    const [junk, first] = await memory.removed("ann");
    expect([junk, first]).toMatchObject([
      { path: "a.md", version: 1 },
      { path: "a.md", version: 2 },
    ]);
    expect(await memory.restore("ann", "a.md", first?.removedAt)).toEqual({ path: "a.md", version: 2 });
    expect(await memory.readVersion("ann", "a.md", 1)).toMatchObject({ text: "purple elephants" });
    expect(await memory.search("ann", "bikes")).toMatchObject([{ path: "a.md" }]);
    expect((await memory.write("ann", "a.md", "more")).version).toBe(3);

    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 31 * 24 * 60 * 60 * 1000 });
    onTestFinished(() => void vi.useRealTimers());
    expect(await memory.removed("ann")).toEqual([]);
    await memory.remove("ann", "a.md");
    expect(await memory.removed("ann")).toHaveLength(1);
    await memory.removeUser("ann");
    expect(await memory.restore("ann", "a.md")).toBeUndefined();
  });

  test.each([
    "",
    "  ",
    "/",
    "..",
    "../x",
    "a/../b",
    "a//b",
    "a/./b",
    "a\\b",
    "a\0b",
    "a\nb",
    "x".repeat(300),
    `${"a/".repeat(20)}b`,
    "\ud800",
  ])("the path %j is refused", async (path) => {
    const { memory } = await openMemory();
    await expect(memory.write("ann", path, "x")).rejects.toThrow(/memory path/);
  });

  test("a text that is too large is refused and says how large it may be", async () => {
    const { memory } = await openMemory();
    await expect(memory.write("ann", "a.md", "x".repeat(300_000))).rejects.toThrow(/256 KiB/);
  });
});

describe("the model's tools", () => {
  const context = { user: "ann", thread: "t" };
  const open = async () => {
    const { memory } = await openMemory();
    return async (name: string, params: object) => {
      const outcome = await toolsOf(memory)
        .find((tool) => tool.name === name)
        ?.run(params, context);
      return outcome?.status === "ok" ? JSON.parse(outcome.output) : outcome;
    };
  };

  test("write, append, read, read a version, search and list", async () => {
    const run = await open();
    expect(await run("memory_write", { path: "/todo.md", text: "milk" })).toEqual({
      path: "todo.md",
      version: 1,
    });
    expect(await run("memory_write", { path: "todo.md", text: "bread", append: true })).toEqual({
      path: "todo.md",
      version: 2,
    });
    expect(await run("memory_read", { path: "todo.md" })).toMatchObject({ text: "milk\nbread", version: 2 });
    expect(await run("memory_read", { path: "todo.md", version: 1 })).toMatchObject({ text: "milk" });
    expect(await run("memory_search", { query: "bread" })).toMatchObject({
      results: [{ path: "todo.md", snippet: "milk\nbread" }],
    });
    expect(await run("memory_tree", {})).toMatchObject({ documents: [{ path: "todo.md", bytes: 10 }] });
    expect(await run("memory_tree", { prefix: "notes/" })).toEqual({ documents: [] });
  });

  test("a document is forgotten only once", async () => {
    const run = await open();
    await run("memory_write", { path: "a.md", text: "x" });
    expect(await run("memory_remove", { path: "a.md" })).toEqual({ path: "a.md", removed: true });
    expect(await run("memory_remove", { path: "a.md" })).toMatchObject({
      status: "error",
      code: "no_document",
    });
  });

  test("what cannot be done is an outcome that says why", async () => {
    const run = await open();
    expect(await run("memory_read", { path: "none.md" })).toMatchObject({
      status: "error",
      code: "no_document",
    });
    expect(await run("memory_write", { path: "../etc/passwd", text: "x" })).toMatchObject({
      status: "error",
      code: "bad_path",
    });
  });
});
