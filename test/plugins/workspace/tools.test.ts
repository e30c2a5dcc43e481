/** The agent's tools for the workspace, and what searching finds. */

import { expect, test } from "vitest";
import { MODEL } from "../../../kernel/kit/turns.ts";
import { temporaryFolder } from "../../support/home.ts";
import { byPerson, callTool, openWorkspace, toolsOf, writing } from "../../support/services/workspace.ts";

test("the model writes, reads by lines, edits, moves and removes, in one set of its turn", async () => {
  const { workspace } = await openWorkspace();
  const call = (name: string, params: object) => callTool(workspace, `workspace_${name}`, params);
  expect((await call("write", { path: "/a/list.md", text: "one\ntwo\nthree" })).said).toEqual({
    path: "/a/list.md",
    version: 1,
    bytes: 13,
  });
  await call("write", { path: "/a/list.md", text: "four\n", append: true });
  expect((await call("read", { path: "a/list.md", from_line: 2, to_line: 3 })).said).toMatchObject({
    text: "two\nthree\n",
    from_line: 2,
    to_line: 3,
    lines: 4,
  });
  expect((await call("edit", { path: "/a/list.md", old: "two", new: "2" })).said).toMatchObject({
    version: 3,
  });
  expect((await call("move", { path: "/a/list.md", to: "/b.md" })).said).toEqual({
    from: "/a/list.md",
    to: "/b.md",
  });
  expect((await call("read", { path: "/b.md" })).said.text).toBe("one\n2\nthree\nfour\n");
  expect((await call("list", {})).said.entries).toMatchObject([
    { path: "/a", folder: true },
    { path: "/b.md", bytes: 17 },
  ]);
  expect((await call("remove", { path: "/b.md" })).said).toEqual({ path: "/b.md", removed: true });
  const { items } = await workspace.log("ann");
  expect(items).toMatchObject([{ id: "turn-1", writer: { kind: "model", thread: "t" } }]);
});

test("an edit is refused where the text stands there twice or not at all, and binary in words", async () => {
  const { workspace } = await openWorkspace();
  const png = Buffer.from("\x89PNG\r\n\x1a\n0000", "latin1");
  await workspace.apply(
    "ann",
    [writing("/a.txt", "x y x\n"), { op: "write", path: "/p.txt", data: png }],
    byPerson,
  );
  const edit = (path: string, old: string) => callTool(workspace, "workspace_edit", { path, old, new: "z" });
  expect(await edit("/a.txt", "x")).toMatchObject({ status: "error", code: "text_not_unique" });
  expect(await edit("/a.txt", "q")).toMatchObject({ status: "error", code: "text_not_found" });
  expect(await edit("/p.txt", "PNG")).toMatchObject({
    code: "not_text",
    message: "/p.txt is not text but image/png of 12 bytes, which cannot be read or edited here.",
  });
  expect(await edit("/none.txt", "x")).toMatchObject({ code: "workspace_not_found" });
  // The beginning of one finding overlaps the other.
  await workspace.apply("ann", [writing("/b.txt", "aaa")], byPerson);
  expect(await edit("/b.txt", "aa")).toMatchObject({ code: "text_not_unique" });
  expect(await callTool(workspace, "workspace_move", { path: "/a.txt", to: "/b.txt" })).toMatchObject({
    code: "workspace_exists",
  });
  expect(await workspace.versions("ann", "/a.txt")).toHaveLength(1);
});

test("twenty appends at once are all done, in the order of the calls, in the store and below a mount", async () => {
  const { workspace } = await openWorkspace();
  await workspace.mount({ name: "notes", folder: temporaryFolder(), isEverybodys: true, isWritable: true });
  const tool = toolsOf(workspace).find(({ name }) => name === "workspace_write");
  const lines = Array.from({ length: 20 }, (_, at) => `line ${at}\n`);
  for (const path of ["/log.txt", "/notes/log.txt"]) {
    const outcomes = await Promise.all(
      lines.map((text) =>
        tool?.run({ path, text, append: true }, { user: "ann", thread: "t", turn: "turn-1" }),
      ),
    );
    expect(outcomes.filter((outcome) => outcome?.status !== "ok")).toEqual([]);
    expect(Buffer.from((await workspace.read("ann", path))?.data ?? []).toString()).toBe(lines.join(""));
  }
});

test("what is read carries the file's origins, which an edit and an appended line keep", async () => {
  const { workspace } = await openWorkspace();
  const mail = { kind: "tool", name: "mail" } as const;
  const page = { kind: "page", name: "https://example.org" } as const;
  const heard = (...origins: readonly (typeof mail | typeof page)[]) => ({ originsOf: async () => origins });
  await callTool(workspace, "workspace_write", { path: "/letter.txt", text: "Dear Ann,\n" }, heard(mail));
  // Yesterday's letter is a stranger's today.
  const today = { turn: "turn-2", thread: "another", ...heard() };
  const read = await callTool(workspace, "workspace_read", { path: "/letter.txt" }, today);
  expect(read.origins).toEqual([{ kind: "file", name: "/letter.txt" }, mail]);
  expect(read.said.written_from).toBe("tool mail; not the user's own words");
  await callTool(workspace, "workspace_edit", { path: "/letter.txt", old: "Ann", new: "Bob" }, heard(page));
  expect((await workspace.find("ann", "/letter.txt"))?.origins).toEqual([mail, MODEL, page]);
  await callTool(workspace, "workspace_write", { path: "/letter.txt", text: "PS", append: true }, heard());
  await callTool(workspace, "workspace_move", { path: "/letter.txt", to: "/l.txt" }, heard());
  expect((await workspace.find("ann", "/l.txt"))?.origins).toEqual([mail, MODEL, page]);
  const found = await callTool(workspace, "workspace_search", { words: "dear" }, today);
  expect(found.origins).toEqual([{ kind: "file", name: "/l.txt" }, mail, page]);
  await workspace.apply("ann", [writing("/hers.txt", "1")], byPerson);
  await callTool(workspace, "workspace_move", { path: "/hers.txt", to: "/moved.txt" }, heard());
  expect((await workspace.find("ann", "/moved.txt"))?.origins).toBeUndefined();
  const own = await callTool(workspace, "workspace_write", { path: "/own.txt", text: "mine" }, heard());
  expect([own.origins, (await workspace.find("ann", "/own.txt"))?.origins]).toEqual([undefined, [MODEL]]);
});

test("of a file of a million lines some are read, within bounds", async () => {
  const { workspace } = await openWorkspace();
  const text = Array.from({ length: 1_000_000 }, (_, at) => `line ${at + 1}`).join("\n");
  await workspace.apply("ann", [writing("/long.txt", text)], byPerson);
  const { said } = await callTool(workspace, "workspace_read", {
    path: "/long.txt",
    from_line: 777_777,
    to_line: 777_778,
  });
  expect(said).toMatchObject({ text: "line 777777\nline 777778\n", lines: 1_000_000 });
  const all = await callTool(workspace, "workspace_read", { path: "/long.txt", to_line: 1_000_000 });
  expect(all.said).toMatchObject({ cut: true, from_line: 1 });
  expect(all.said.text.length).toBeLessThanOrEqual(60_000);
  const beyond = await callTool(workspace, "workspace_read", { path: "/long.txt", from_line: 2_000_000 });
  expect(beyond).toMatchObject({ code: "no_such_line", message: "/long.txt has 1000000 lines." });
  const one = await callTool(workspace, "workspace_search", { pattern: "^line 99999[89]$" });
  expect(one.said).toEqual({
    results: [
      { path: "/long.txt", line: 999_998, text: "line 999998" },
      { path: "/long.txt", line: 999_999, text: "line 999999" },
    ],
  });
});

test("searching finds words in any case and patterns, in a folder, and says where there is more", async () => {
  const { workspace } = await openWorkspace();
  await workspace.apply(
    "ann",
    [
      writing("/a/one.txt", "Red Bike\nblue car\nthe BIKE is red\n"),
      writing("/b/two.txt", "red bikes\r\n"),
      { op: "write", path: "/c.bin", data: Buffer.from("red bike\0") },
    ],
    byPerson,
  );
  const search = async (query: object) => workspace.search("ann", query);
  expect(await search({ words: "bike RED" })).toEqual({
    hits: [
      { path: "/a/one.txt", line: 1, text: "Red Bike" },
      { path: "/a/one.txt", line: 3, text: "the BIKE is red" },
      { path: "/b/two.txt", line: 1, text: "red bikes" },
    ],
    isComplete: true,
  });
  expect((await search({ words: "bike", folder: "/b" })).hits).toHaveLength(1);
  expect(await search({ pattern: "b[lu]+e \\w+", limit: 1 })).toMatchObject({
    hits: [{ line: 2 }],
    isComplete: true,
  });
  expect(await search({ words: "red", limit: 2 })).toMatchObject({ hits: [{}, {}], isComplete: false });
  await expect(search({ pattern: "(a)\\1" })).rejects.toMatchObject({ code: "bad_pattern" });
  await expect(search({ pattern: "(unclosed" })).rejects.toMatchObject({ code: "bad_pattern" });
  await expect(search({ words: " " })).rejects.toMatchObject({ code: "bad_pattern" });
});

test("a pattern that would backtrack without end takes linear time, and the main thread goes on", async () => {
  const { workspace } = await openWorkspace();
  await workspace.apply("ann", [writing("/a.txt", `${"a".repeat(200_000)}!`)], byPerson);
  let ticks = 0;
  const timer = setInterval(() => ticks++, 1);
  const { hits, isComplete } = await workspace.search("ann", { pattern: "^(a+)+$" });
  clearInterval(timer);
  expect({ hits, isComplete }).toEqual({ hits: [], isComplete: true });
  expect(ticks).toBeGreaterThan(0);
});

test("the model takes back what an answer changed, after the person agreed, and is told of conflicts", async () => {
  const { workspace } = await openWorkspace();
  await callTool(workspace, "workspace_write", { path: "/a.txt", text: "first" });
  await workspace.apply("ann", [writing("/a.txt", "mine")], byPerson);
  const later = { turn: "turn-2" };
  expect((await callTool(workspace, "workspace_undo", {}, later)).said).toMatchObject({
    undone: false,
    changed_since: [{ path: "/a.txt", by: "page" }],
  });
  expect((await callTool(workspace, "workspace_undo", { conflicts: "overwrite" }, later)).said).toMatchObject(
    {
      undone: true,
      paths: ["/a.txt"],
    },
  );
  expect(await workspace.find("ann", "/a.txt")).toBeUndefined();
  expect(await callTool(workspace, "workspace_undo", {}, later)).toMatchObject({
    code: "workspace_not_found",
  });
});

test("the person is shown what a write, an addition and an edit changed, and the model is not", async () => {
  const { workspace } = await openWorkspace();
  const call = async (name: string, params: object) =>
    callTool(workspace, name, { path: "/a.md", ...params });
  const made = await call("workspace_write", { text: "one\ntwo\n" });
  expect(made).toMatchObject({ change: { path: "/a.md", added: 2, removed: 0, lines: ["+ one", "+ two"] } });
  expect(made.said).toEqual({ path: "/a.md", version: 1, bytes: 8 });
  expect(await call("workspace_edit", { old: "two", new: "three" })).toMatchObject({
    change: { added: 1, removed: 1, lines: ["  one", "- two", "+ three"] },
  });
  expect(await call("workspace_write", { text: "four", append: true })).toMatchObject({
    change: { added: 1, removed: 0, lines: ["  one", "  three", "+ four"] },
  });
  expect(await call("workspace_write", { text: "one\n" })).toMatchObject({
    change: { added: 0, removed: 2, lines: ["  one", "- three", "- four"] },
  });
  expect(await call("workspace_edit", { old: "none", new: "x" })).not.toHaveProperty("change");
});

test("a token with a scope, which may be for writing alone, does not show what the file held", async () => {
  const { workspace } = await openWorkspace();
  await workspace.apply("ann", [writing("/a.md", "what only Ann knows\n")], byPerson);
  const params = { path: "/a.md", text: "more", append: true };
  const made = await callTool(workspace, "workspace_write", params, { user: "ann", isScoped: true });
  expect(made.said).toMatchObject({ version: 2 });
  expect(JSON.stringify(made)).not.toContain("only Ann");
});

test("what is kept of a change is bounded, and what is too long or no text is not compared", async () => {
  const { workspace } = await openWorkspace();
  const write = (path: string, text: string) => callTool(workspace, "workspace_write", { path, text });
  const long = await write("/long.md", "x".repeat(5000));
  expect(long).toMatchObject({ change: { added: 1, isCut: true, lines: [`+ ${"x".repeat(298)}…`] } });
  const many = await write("/many.md", Array.from({ length: 1000 }, (_, at) => `${at}\n`).join(""));
  expect(many).toMatchObject({ change: { added: 1000, isCut: true } });
  expect((many as { change?: { lines: unknown[] } }).change?.lines).toHaveLength(200);
  expect((await write("/large.md", "x".repeat(300_000))).change).toBeUndefined();
  await workspace.apply("ann", [writing("/bytes.md", "")], byPerson);
  const data = Buffer.from([0xff, 0xfe, 0, 1]);
  await workspace.apply("ann", [{ op: "write", path: "/bytes.md", data }], byPerson);
  expect((await write("/bytes.md", "text")).change).toBeUndefined();
});
