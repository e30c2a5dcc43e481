/** Folders of the machine in the workspace: what is read and changed there, and what is not. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { MountOwner } from "../../../plugins/workspace/services.ts";
import { createWorkspace } from "../../../plugins/workspace/workspace.ts";
import { temporaryFolder } from "../../support/home.ts";
import { byPerson, callTool, openWorkspace, writing } from "../../support/services/workspace.ts";

const EVERYBODYS = { isEverybodys: true, isWritable: true } as const;

async function mounted(options: MountOwner & { readonly isWritable?: boolean } = EVERYBODYS) {
  const { workspace, store, folder: home } = await openWorkspace();
  const folder = temporaryFolder();
  writeFileSync(join(folder, "plan.md"), "old plan\n");
  mkdirSync(join(folder, "deep"));
  writeFileSync(join(folder, "deep", "x.txt"), "x marks it\n");
  await workspace.mount({ name: "notes", folder, ...options });
  const on = (name: string) => readFileSync(join(folder, name), "utf8");
  const read = async (path: string) =>
    Buffer.from((await workspace.read("ann", path))?.data ?? []).toString();
  return { workspace, store, home, folder, on, read };
}

const inTurn = (turn: string) => ({ writer: { kind: "model", turn, thread: "t" } }) as const;

test("a mounted folder is listed, read and searched like the rest", async () => {
  const { workspace, read } = await mounted();
  await workspace.apply("ann", [writing("/own.txt", "mine")], byPerson);
  expect((await workspace.list("ann", "/")).items.map(({ path }) => path)).toEqual(["/notes", "/own.txt"]);
  expect((await workspace.list("ann", "/notes", { deep: true })).items).toMatchObject([
    { path: "/notes/deep", kind: "folder" },
    { path: "/notes/deep/x.txt", kind: "file", bytes: 11 },
    { path: "/notes/plan.md", mime: "text/markdown" },
  ]);
  expect(await workspace.find("ann", "/notes/plan.md")).toMatchObject({
    version: 1,
    bytes: 9,
    mime: "text/markdown",
  });
  expect(await read("/notes/plan.md")).toBe("old plan\n");
  expect((await workspace.search("ann", { words: "marks" })).hits).toMatchObject([
    { path: "/notes/deep/x.txt", line: 1 },
  ]);
  expect((await workspace.search("ann", { words: "plan", folder: "/notes/deep" })).hits).toEqual([]);
  expect(await workspace.roots("ann")).toEqual([{ name: "notes", kind: "mount", isReadOnly: false }]);
  expect(await workspace.find("ann", "/notes/none/x")).toBeUndefined();
  // Who wrote it is not known: it counts as somebody else's.
  const shown = await callTool(workspace, "workspace_read", { path: "/notes/plan.md" });
  expect(shown.origins).toEqual([{ kind: "file", name: "/notes/plan.md" }]);
});

test("what the agent changes is kept first, and undone on the disk", async () => {
  const { workspace, folder, on } = await mounted();
  const call = (name: string, params: object) => callTool(workspace, `workspace_${name}`, params);
  await call("edit", { path: "/notes/plan.md", old: "old", new: "new" });
  await call("write", { path: "/notes/made/here.txt", text: "made" });
  await call("remove", { path: "/notes/deep/x.txt" });
  expect([on("plan.md"), on("made/here.txt")]).toEqual(["new plan\n", "made"]);
  expect(existsSync(join(folder, "deep/x.txt"))).toBe(false);
  expect(
    (await workspace.versions("ann", "/notes/plan.md")).map(({ version, writer }) => [version, writer.kind]),
  ).toEqual([
    [2, "model"],
    [1, "outside"],
  ]);
  const [set, ...others] = (await workspace.log("ann")).items;
  expect(others).toEqual([]);
  expect(set?.changes).toEqual([
    { path: "/notes/deep/x.txt", change: "removed", before: 1, after: 0 },
    { path: "/notes/made/here.txt", change: "created", before: 0, after: 1 },
    { path: "/notes/plan.md", change: "written", before: 1, after: 2 },
  ]);
  const undone = await workspace.undo("ann", "turn-1", byPerson);
  expect(undone).toMatchObject({ conflicts: [], set: { undoes: "turn-1" } });
  expect([on("plan.md"), on("deep/x.txt"), existsSync(join(folder, "made/here.txt"))]).toEqual([
    "old plan\n",
    "x marks it\n",
    false,
  ]);
  await workspace.undo("ann", undone.set?.id ?? "", byPerson);
  expect([on("plan.md"), on("made/here.txt")]).toEqual(["new plan\n", "made"]);
  await workspace.restore("ann", "/notes/plan.md", 1, byPerson);
  expect(on("plan.md")).toBe("old plan\n");
  expect(readdirSync(folder).filter((name) => name.startsWith("."))).toEqual([]);
});

test("a change made outside is never overwritten, and an undo names it", async () => {
  const { workspace, folder, on, read } = await mounted();
  const entry = await workspace.find("ann", "/notes/plan.md");
  writeFileSync(join(folder, "plan.md"), "typed by hand\n");
  for (const more of [{}, { expected: entry?.version }])
    await expect(
      workspace.apply("ann", [writing("/notes/plan.md", "by the model", more)], inTurn("a")),
    ).rejects.toMatchObject({ code: "workspace_changed" });
  await expect(
    workspace.apply("ann", [{ op: "remove", path: "/notes/plan.md" }], inTurn("a")),
  ).rejects.toMatchObject({
    code: "workspace_changed",
  });
  expect(on("plan.md")).toBe("typed by hand\n");
  // Once it has been read, it may be changed.
  expect(await read("/notes/plan.md")).toBe("typed by hand\n");
  await workspace.apply("ann", [writing("/notes/plan.md", "by the model\n")], inTurn("b"));
  writeFileSync(join(folder, "plan.md"), "by hand again\n");
  const refused = await workspace.undo("ann", "b", byPerson);
  expect(refused).toMatchObject({ conflicts: [{ path: "/notes/plan.md", by: { kind: "outside" } }] });
  expect([refused.set, on("plan.md")]).toEqual([undefined, "by hand again\n"]);
  await workspace.undo("ann", "b", byPerson, "overwrite");
  expect(on("plan.md")).toBe("typed by hand\n");
  // What it replaced is kept as well.
  const versions = await workspace.versions("ann", "/notes/plan.md");
  const again = versions.find(
    ({ writer, bytes }) => writer.kind === "outside" && bytes === 14 && versions.length > 0,
  );
  expect(again).toBeDefined();
  const kept = await workspace.read("ann", "/notes/plan.md", { version: 4 });
  expect(Buffer.from(kept?.data ?? []).toString()).toBe("by hand again\n");
});

test("nothing leads out of it: links, swapped folders and special files are refused in words", async () => {
  const { workspace, folder } = await mounted();
  const outside = temporaryFolder();
  writeFileSync(join(outside, "secret.txt"), "secret");
  symlinkSync(join(outside, "secret.txt"), join(folder, "file-link"));
  symlinkSync(outside, join(folder, "folder-link"));
  const server = createServer().listen(join(folder, "socket"));
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  expect((await workspace.list("ann", "/notes")).items.map(({ path }) => path)).toEqual([
    "/notes/deep",
    "/notes/plan.md",
  ]);
  for (const path of ["/notes/file-link", "/notes/folder-link/secret.txt", "/notes/socket"]) {
    await expect(workspace.read("ann", path)).rejects.toMatchObject({ code: "workspace_mount" });
    await expect(workspace.apply("ann", [writing(path, "mine")], byPerson)).rejects.toMatchObject({
      code: "workspace_mount",
    });
    await expect(workspace.apply("ann", [{ op: "remove", path }], byPerson)).rejects.toMatchObject({
      code: "workspace_mount",
    });
  }
  await expect(
    workspace.apply("ann", [writing("/notes/folder-link/new", "1")], byPerson),
  ).rejects.toMatchObject({
    code: "workspace_mount",
  });
  expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("secret");
  expect(readdirSync(outside)).toEqual(["secret.txt"]);
  expect((await workspace.search("ann", { words: "secret" })).hits).toEqual([]);
  // The mounted folder itself turns into a link.
  renameSync(folder, `${folder}-away`);
  symlinkSync(outside, folder);
  onTestFinished(() => {
    rmSync(folder);
    rmSync(`${folder}-away`, { recursive: true });
  });
  await expect(workspace.read("ann", "/notes/secret.txt")).rejects.toMatchObject({ code: "workspace_mount" });
  expect((await workspace.roots("ann"))[0]?.problem).toContain("has become a link");
});

test("names that differ by case are listed and only read; those that are no UTF-8 are listed as such", async () => {
  const { workspace, folder, on } = await mounted();
  writeFileSync(join(folder, "PLAN.md"), "other");
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/caf`), Buffer.from([0xe9])]), "1");
  writeFileSync(join(folder, "a\u202eb"), "1");
  writeFileSync(join(folder, "e\u0301.txt"), "in another form");
  const { items } = await workspace.list("ann", "/notes");
  expect(items.map(({ path, isReadOnly = false }) => [path, isReadOnly])).toEqual([
    ["/notes/PLAN.md", true],
    ["/notes/a\u202eb", true],
    ["/notes/caf\\xe9", true],
    ["/notes/deep", false],
    ["/notes/plan.md", true],
    ["/notes/é.txt", false],
  ]);
  expect((await workspace.find("ann", "/notes/plan.md"))?.isReadOnly).toBe(true);
  await expect(workspace.apply("ann", [writing("/notes/plan.md", "mine")], byPerson)).rejects.toMatchObject({
    code: "workspace_exists",
  });
  await expect(workspace.apply("ann", [writing("/notes/Deep/y", "mine")], byPerson)).rejects.toMatchObject({
    code: "workspace_exists",
  });
  expect(on("plan.md")).toBe("old plan\n");
  await expect(workspace.read("ann", "/notes/caf\\xe9")).rejects.toMatchObject({ code: "bad_path" });
  await workspace.apply("ann", [writing("/notes/é.txt", "kept form")], byPerson);
  expect(on("e\u0301.txt")).toBe("kept form");
});

test("read-only, another's, a vanished and another machine's mount say so", async () => {
  const { workspace, store, home, folder } = await mounted({ user: "ann" });
  for (const edit of [writing("/notes/a", "1"), { op: "remove", path: "/notes/plan.md" } as const])
    await expect(workspace.apply("ann", [edit], byPerson)).rejects.toMatchObject({
      code: "workspace_read_only",
    });
  expect(await workspace.find("bob", "/notes/plan.md")).toBeUndefined();
  const elsewhere = await createWorkspace({ store, maxMb: 500, home, machine: "box2" });
  onTestFinished(elsewhere.close);
  await expect(elsewhere.read("ann", "/notes/plan.md")).rejects.toMatchObject({
    message: expect.stringMatching(/^The folder notes is on the machine .*, and this is box2/),
  });
  expect((await elsewhere.roots("ann"))[0]?.problem).toContain("is on the machine");
  // The rest of the workspace goes on.
  await elsewhere.apply("ann", [writing("/own.txt", "mine")], byPerson);
  expect((await elsewhere.search("ann", { words: "mine" })).hits).toHaveLength(1);
  rmSync(folder, { recursive: true });
  await expect(workspace.read("ann", "/notes/plan.md")).rejects.toMatchObject({ code: "workspace_mount" });
  expect((await workspace.roots("ann"))[0]?.problem).toContain("not there any more");
  await expect(workspace.mount({ name: "own.txt", folder: temporaryFolder() })).rejects.toMatchObject({
    code: "workspace_mount",
  });
  await expect(
    workspace.mount({ name: "notes", folder: temporaryFolder(), isEverybodys: true }),
  ).rejects.toMatchObject({
    code: "workspace_exists",
  });
  expect(await workspace.unmount("notes", { user: "ann" })).toBe(true);
  expect(await workspace.find("ann", "/notes/plan.md")).toBeUndefined();
});

test("a mount is read-only and the operator's own, unless it says otherwise", async () => {
  const { workspace, read } = await mounted({});
  expect(await workspace.mounts()).toMatchObject([{ user: "operator", isReadOnly: true }]);
  expect((await workspace.read("operator", "/notes/plan.md"))?.entry.isReadOnly).toBe(true);
  expect(await read("/notes/plan.md")).toBe("");
  await expect(
    workspace.apply("operator", [writing("/notes/plan.md", "new")], byPerson),
  ).rejects.toMatchObject({ code: "workspace_read_only" });
  // An empty variable on the command line names nobody, and so not everybody.
  await expect(workspace.mount({ name: "more", folder: temporaryFolder(), user: "" })).rejects.toMatchObject({
    code: "workspace_mount",
  });
  expect(await workspace.unmount("notes", { isEverybodys: true })).toBe(false);
  expect(await workspace.unmount("notes")).toBe(true);
});

test("files are moved to, from and below a mount, and undone", async () => {
  const { workspace, folder, on, read } = await mounted();
  await workspace.apply("ann", [writing("/own.txt", "mine")], byPerson);
  const move = (path: string, to: string) => workspace.apply("ann", [{ op: "move", path, to }], inTurn("m"));
  await move("/own.txt", "/notes/own.txt");
  await move("/notes/plan.md", "/plan.md");
  await move("/notes/deep/x.txt", "/notes/y.txt");
  expect([on("own.txt"), await read("/plan.md"), on("y.txt")]).toEqual([
    "mine",
    "old plan\n",
    "x marks it\n",
  ]);
  expect(existsSync(join(folder, "plan.md"))).toBe(false);
  await expect(move("/notes/deep", "/deep")).rejects.toMatchObject({ code: "workspace_mount" });
  await expect(
    workspace.apply("ann", [writing("/notes/1", "1"), writing("/2", "2")], byPerson),
  ).rejects.toMatchObject({
    code: "too_many_edits",
  });
  await workspace.undo("ann", "m", byPerson);
  expect([await read("/own.txt"), on("plan.md"), on("deep/x.txt")]).toEqual([
    "mine",
    "old plan\n",
    "x marks it\n",
  ]);
  await workspace.apply("ann", [{ op: "remove", path: "/notes/deep" }], inTurn("r"));
  expect(existsSync(join(folder, "deep"))).toBe(false);
  await workspace.undo("ann", "r", byPerson);
  expect(on("deep/x.txt")).toBe("x marks it\n");
});
