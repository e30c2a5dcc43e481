/** A real component with folders of the real workspace: it reads and writes there, and nowhere else. */
import { expect, test } from "vitest";
import type { Origin } from "../../kernel/plugin.ts";
import { openUpstream } from "../support/servers/upstream.ts";
import { fixture } from "../support/tools/components.ts";
import { capabilities, open, type Step } from "../support/tools/reporter.ts";
import { install, NOTHING, toolHost } from "../support/tools/tool-host.ts";
import { afterThisTest } from "../support/undo.ts";

test("a tool reads and writes what it was granted, and the change says who made it", async () => {
  const { host, workspace, put, text, run } = await open();
  await put("/reports/may.csv", "a;b");
  await put("/reports/2026/june.csv", "c;d");
  const { outcome, receipt } = await run([
    ["list", "/reports"],
    ["read", "/reports/may.csv"],
    ["read", "/reports/2026/june.csv", 1, 2],
    ["stat", "/output"],
    ["list", "/output"],
    ["write", "/output/deep/sum.txt", "total"],
    ["writeAt", "/output/deep/sum.txt", 5, ": 12"],
    ["read", "/output/deep/sum.txt"],
    ["list", "/output"],
    ["stat", "/output/none"],
  ]);
  expect(outcome.status === "ok" && JSON.parse(outcome.output)).toEqual([
    ["folder /reports/2026 0", "file /reports/may.csv 3"],
    "a;b",
    ";d",
    ["folder", 0],
    [],
    null,
    null,
    "total: 12",
    ["folder /output/deep 0"],
    null,
  ]);
  expect(await text("/output/deep/sum.txt")).toBe("total: 12");
  expect(receipt?.files).toEqual({
    read: ["/reports/may.csv", "/reports/2026/june.csv", "/output/deep/sum.txt"],
    written: ["/output/deep/sum.txt"],
  });
  const [version] = await workspace.versions("ada", "/output/deep/sum.txt");
  expect(version).toMatchObject({
    change: "created",
    writer: { kind: "tool", tool: "reporter", channel: "web", thread: "t1", turn: "u1" },
    origins: [{ kind: "tool", name: "reporter" }],
  });
  const tool = await host.catalog.find("reporter");
  expect(tool?.description).toContain('{"refused":"this tool has no files here"}');
  const { grants } = await host.describe(tool as NonNullable<typeof tool>);
  expect(grants).toContain("may read the folder reports of the workspace");
  expect(grants).toContain("may read and write the folder output of the workspace");
});

test("what is outside of the granted folders is refused in words, however it is spelled", async () => {
  const { put, text, call } = await open();
  for (const path of ["/secret.txt", "/reports2/x", "/reports/a"]) await put(path, "kept");
  const outside = (path: string) => ({
    refused: `${path} is not in a folder that this tool was granted`,
  });
  const bad = (path: string, why: string) => ({ refused: `${JSON.stringify(path)} is no path: ${why}` });
  const dots = 'a part of it is empty, "." or ".."';
  expect(
    await call([
      ["read", "/secret.txt"],
      ["read", "/reports2/x"],
      ["list", "/"],
      ["stat", "/"],
      ["read", "/reports/../secret.txt"],
      ["read", "/reports//a"],
      ["read", "reports/a"],
      ["read", "ada:/secret.txt"],
      ["read", "/reports/a\u0000"],
      ["read", "/reports\\..\\secret.txt"],
      ["read", "/reports/%2e%2e/secret.txt"],
      ["write", "/reports/a", "changed"],
      ["remove", "/reports/a"],
      ["move", "/reports/a", "/output/a"],
      ["move", "/output/a", "/reports/b"],
      ["remove", "/output"],
      ["read", "/reports"],
      ["write", `/output/${"x".repeat(3000)}`, ""],
      ["write", `/output${"/x".repeat(60)}`, ""],
      ["write", "/output/\u202etxt.exe", ""],
    ]),
  ).toEqual([
    outside("/secret.txt"),
    outside("/reports2/x"),
    outside("/"),
    outside("/"),
    bad("/reports/../secret.txt", dots),
    bad("/reports//a", dots),
    bad("reports/a", "it does not begin with a slash"),
    bad("ada:/secret.txt", "it does not begin with a slash"),
    bad("/reports/a\u0000", "it has a character that no path has"),
    bad("/reports\\..\\secret.txt", "it has a character that no path has"),
    { refused: "there is no /reports/%2e%2e/secret.txt" },
    { refused: "this tool may only read /reports/a" },
    { refused: "this tool may only read /reports/a" },
    { refused: "this tool may only read /reports/a" },
    { refused: "this tool may only read /reports/b" },
    { refused: "/output is what the tool was granted" },
    { refused: "/reports is a folder, not a file" },
    { refused: "a path has at most 2000 bytes" },
    bad(`/output${"/x".repeat(60)}`.slice(0, 100), "it has more than 50 levels"),
    { refused: expect.stringContaining("cannot be seen or changes the direction") },
  ]);
  expect(await text("/reports/a")).toBe("kept");
  expect(await call([["read", "/reports/a"]], { user: "bob" })).toEqual([
    { refused: "there is no /reports/a" },
  ]);
});

test("a call that ends with an error, throws or runs out of time writes nothing", async () => {
  const { host, put, text, call, run } = await open();
  await put("/output/a", "before");
  const write: Step[] = [
    ["write", "/output/a", "after"],
    ["write", "/output/b", "new"],
  ];
  expect(await call(write, {}, "No.")).toMatchObject({ code: "tool_error" });
  expect(await call(write, {}, "throw")).toMatchObject({ code: "threw" });
  await install(host, "reporter", await fixture("files.js"), capabilities({ limits: { timeout_secs: 2 } }));
  const { outcome, receipt } = await run([...write, ["spin"]]);
  expect(outcome).toMatchObject({ status: "error", code: "timeout" });
  expect(receipt?.files).toEqual({ read: [], written: [] });
  expect([await text("/output/a"), await text("/output/b")]).toEqual(["before", undefined]);
});

test("a file that somebody else changed meanwhile is not overwritten", async () => {
  const arrived = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const server = await openUpstream((_, response) => {
    arrived.resolve();
    void go.promise.then(() => response.end());
  });
  afterThisTest(server.close);
  const allowlist = [{ host: "127.0.0.1", path_prefix: "/", methods: ["GET"] }];
  const { put, text, call } = await open(capabilities({ http: { allowlist } }), "files.js", {
    privateHosts: new Set([`127.0.0.1:${server.port}`]),
  });
  await put("/output/a", "one");
  const slow = call([
    ["read", "/output/a"],
    ["wait", `http://127.0.0.1:${server.port}/`],
    // As it was when the call first looked.
    ["read", "/output/a"],
    ["write", "/output/a", "slow"],
    ["write", "/output/b", "slow"],
  ]);
  await arrived.promise;
  await put("/output/a", "two and more");
  go.resolve();
  expect(await slow).toMatchObject({ status: "error", code: "workspace_changed" });
  expect([await text("/output/a"), await text("/output/b")]).toEqual(["two and more", undefined]);
});

test("folders are made, moved and removed, and seen so by the same call", async () => {
  const { workspace, put, text, call } = await open(
    capabilities({ files: [{ path: "/", access: "write" }] }),
  );
  await put("/a/one.txt", "1");
  await put("/a/deep/two.txt", "2");
  expect(
    await call([
      ["write", "/a/three.txt", "3"],
      ["move", "/a", "/b"],
      ["list", "/"],
      ["list", "/b"],
      ["read", "/b/deep/two.txt"],
      ["write", "/b/three.txt", "three"],
      ["write", "/b/one.txt", "one"],
      ["stat", "/a/one.txt"],
      ["folder", "/a"],
      ["list", "/a"],
      ["remove", "/b"],
      ["remove", "/b/deep/two.txt"],
      ["remove", "/b/deep"],
      ["move", "/b/one.txt", "/b/three.txt"],
      ["move", "/b", "/b/inside"],
      ["folder", "/b/one.txt"],
      ["write", "/b/one.txt/x", ""],
      ["write", "/temporary", "final"],
      ["move", "/temporary", "/final"],
      ["remove", "/none"],
    ]),
  ).toEqual([
    null,
    null,
    ["folder /b 0"],
    ["folder /b/deep 0", "file /b/one.txt 1", "file /b/three.txt 1"],
    "2",
    null,
    null,
    null,
    null,
    [],
    { refused: "the folder /b is not empty" },
    null,
    null,
    { refused: "there is a /b/three.txt already" },
    { refused: "/b cannot be moved into itself" },
    { refused: "/b/one.txt is a file" },
    { refused: "/b/one.txt is a file, not a folder" },
    null,
    null,
    { refused: "there is no /none" },
  ]);
  const { items } = await workspace.list("ada", "/", { deep: true });
  expect(items.map(({ path }) => path)).toEqual(["/a", "/b", "/b/one.txt", "/b/three.txt", "/final"]);
  expect([await text("/b/one.txt"), await text("/b/three.txt"), await text("/final")]).toEqual([
    "one",
    "three",
    "final",
  ]);
  const [set] = (await workspace.log("ada")).items;
  await workspace.undo("ada", set?.id ?? "", { writer: { kind: "page" } });
  const before = await workspace.list("ada", "/", { deep: true });
  expect(before.items.map(({ path }) => path)).toEqual(["/a", "/a/deep", "/a/deep/two.txt", "/a/one.txt"]);
});

test("what a call read is in what it says and writes", async () => {
  const { put, run, workspace } = await open();
  const letter: Origin[] = [{ kind: "outside", name: "mallory@example.org" }];
  await put("/reports/own.txt", "mine");
  await put("/reports/letter.txt", "theirs", letter);
  const { outcome: clean } = await run([["read", "/reports/own.txt"]]);
  expect(clean).not.toHaveProperty("origins");
  // A name can be a stranger's word, too.
  expect((await run([["list", "/reports"]])).outcome).toMatchObject({
    origins: [{ kind: "file" }, ...letter],
  });
  const steps: Step[] = [
    ["read", "/reports/letter.txt"],
    ["write", "/output/copy.txt", "theirs"],
  ];
  const read = [{ kind: "file", name: "/reports/letter.txt" }, ...letter];
  expect((await run(steps)).outcome).toMatchObject({ status: "ok", origins: read });
  expect((await run(steps, {}, "theirs")).outcome).toMatchObject({ status: "error", origins: read });
  expect(await workspace.find("ada", "/output/copy.txt")).toMatchObject({
    origins: [{ kind: "tool", name: "reporter" }, ...read],
  });
});

test("a guest of wasi:filesystem finds its folders open, and nothing beside them", async () => {
  const { put, text, call, run } = await open(capabilities(), "filesystem.js");
  await put("/reports/may.csv", "a;b;c");
  await put("/secret.txt", "kept");
  await put("/output/old.txt", "old text");
  expect(await call([["preopens"]])).toEqual([
    [
      ["/reports", { read: true }],
      ["/output", { read: true, mutateDirectory: true }],
    ],
  ]);
  expect(
    await call([
      ["readAll", "/reports", "may.csv"],
      ["readAt", "/reports", "may.csv", 2, 100],
      ["names", "/reports", "."],
      ["stat", "/reports", "may.csv"],
      ["readAll", "/reports", "../secret.txt"],
      ["readAll", "/reports", "/secret.txt"],
      ["readAll", "/reports", "none/../may.csv"],
      ["readAll", "/reports", "none"],
      ["open", "/reports", "may.csv", {}, { write: true }],
      ["open", "/reports", "new.csv", { create: true }, { write: true }],
      ["open", "/reports", "may.csv", { directory: true }, { read: true }],
      ["unlink", "/reports", "may.csv"],
      ["mkdir", "/reports", "x"],
    ]),
  ).toEqual([
    "a;b;c",
    ["b;c", true],
    [["regular-file", "may.csv"]],
    ["regular-file", "5"],
    { refused: "not-permitted" },
    { refused: "not-permitted" },
    "a;b;c",
    { refused: "no-entry" },
    { refused: "read-only" },
    { refused: "read-only" },
    { refused: "not-directory" },
    { refused: "read-only" },
    { refused: "read-only" },
  ]);
  const { outcome, receipt } = await run([
    ["mkdir", "/output", "deep"],
    ["mkdir", "/output", "deep"],
    ["write", "/output", "deep/new.txt", 0, ["one ", "two"]],
    ["readAll", "/output", "deep/new.txt"],
    ["append", "/output", "old.txt", [" and", " more"]],
    ["size", "/output", "old.txt", 6],
    ["readAll", "/output", "old.txt"],
    ["rename", "/output", "deep/new.txt", "old.txt"],
    ["readAll", "/output", "old.txt"],
    ["rmdir", "/output", "deep"],
    ["unlink", "/output", "."],
    ["rmdir", "/output", "old.txt"],
    ["symlink", "/output", "old.txt", "link"],
    ["readlink", "/output", "old.txt"],
    ["fill", "/output", "large", 25_000_001],
    ["unlink", "/output", "large"],
  ]);
  expect(outcome.status === "ok" ? JSON.parse(outcome.output) : outcome).toEqual([
    null,
    { refused: "exist" },
    null,
    "one two",
    null,
    null,
    "old te",
    null,
    "one two",
    null,
    { refused: "is-directory" },
    { refused: "not-directory" },
    { refused: "unsupported" },
    { refused: "invalid" },
    ["file-too-large", 23],
    null,
  ]);
  // The two folders are open, too: the one that it was given is dropped when it has been asked.
  for (let call_ = 0; call_ < 2; call_++)
    expect(await call([["many", "/output", "old.txt", 200]])).toEqual([[expect.any(Number), "quota"]]);
  expect(receipt?.files?.written).toContain("/output/old.txt");
  expect(await text("/output/old.txt")).toBe("one two");
});

test("a tool that was granted no folder has none, as before", async () => {
  const { call } = await open(NOTHING, "filesystem.js");
  expect(await call([["preopens"]])).toEqual([[]]);
});

test("a component that uses files and whose file does not say so is refused", async () => {
  const host = await toolHost();
  await expect(host.examine(await fixture("files.js"), NOTHING)).rejects.toMatchObject({
    code: "foreign_import",
    message: expect.stringContaining(
      "postern:tool/files@0.1.0, and its capabilities file does not ask for files",
    ),
  });
});

test("where the workspace is off, the call fails and says so", async () => {
  const { host, call } = await open(capabilities(), "files.js", { workspace: undefined });
  const { grants } = await host.examine(await fixture("files.js"), capabilities());
  expect(grants).toContain("asks for files of the workspace, which is off; gets none");
  expect(await call([["list", "/output"]])).toMatchObject({
    code: "no_workspace",
    message: expect.stringContaining("the workspace is off here"),
  });
});

test("a recording is played with files of its own, and writes nowhere", async () => {
  const { host, text } = await open();
  const candidate = await host.examine(await fixture("files.js"), capabilities());
  const play = async (files: unknown) => {
    const steps: Step[] = [
      ["read", "/reports/a"],
      ["write", "/output/a", "x"],
    ];
    const recording = JSON.stringify({ params: { steps }, files, exchanges: [] });
    const [answered] = await host.replay(candidate, [{ name: "a.json", text: recording }]);
    return answered;
  };
  expect(await play({ "/reports/a": { body: "recorded" } })).toMatchObject({ ok: true });
  expect(await play([])).toMatchObject({
    ok: false,
    detail: expect.stringContaining("its files are not an object of paths"),
  });
  expect(await text("/output/a")).toBeUndefined();
});
