/** What holds of the workspace on either engine, with two nodes on one store. */
import { randomBytes, randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import type { Sql } from "../../../kernel/plugin.ts";
import type { Change, Edit } from "../../../plugins/workspace/services.ts";
import { MIGRATIONS } from "../../../plugins/workspace/tables.ts";
import { createWorkspace, type OpenWorkspace } from "../../../plugins/workspace/workspace.ts";
import type { StorePlace } from "../../support/processes/engines.ts";
import { afterThisFile, type Later } from "../../support/undo.ts";

const bytes = (text: string) => Buffer.from(text);
const write = (path: string, text: string, more: object = {}): Edit => ({
  op: "write",
  path,
  data: bytes(text),
  ...more,
});
const byPerson: Change = { writer: { kind: "page" } };
const inTurn = (turn: string): Change => ({ writer: { kind: "model", turn, thread: "t" } });

async function* pieces(...chunks: readonly Uint8Array[]) {
  yield* chunks;
}

/** `isLarge`: only what takes long. */
export function workspaceContract(fresh: (later?: Later) => Promise<StorePlace>, isLarge = false): void {
  const later = afterThisFile();
  let workspace: OpenWorkspace;
  let elsewhere: OpenWorkspace;
  let sql: Sql;
  beforeAll(async () => {
    const place = await fresh(later);
    const [one, other] = [await place.open(), await place.open()];
    sql = await one.tables("workspace", MIGRATIONS);
    workspace = await createWorkspace({ store: one, maxMb: 40, home: import.meta.dirname });
    elsewhere = await createWorkspace({ store: other, maxMb: 40, home: import.meta.dirname });
  });
  const someone = () => randomUUID();
  const read = async (user: string, path: string, version?: number) => {
    const found = await workspace.read(user, path, { version });
    return found && Buffer.from(found.data).toString();
  };
  const paths = async (user: string, folder = "/") =>
    (await workspace.list(user, folder, { deep: true })).items.map(({ path }) => path);
  /** The sums that are kept are those that counting gives. */
  const assertCounted = async (user: string) => {
    const kept = await workspace.usage(user);
    const counted = await sql.get<{ bytes: number; files: number }>(
      `SELECT CAST((SELECT coalesce(sum(bytes), 0) FROM workspace_contents WHERE "user" = ?)
         + 256 * ((SELECT count(*) FROM workspace_versions WHERE "user" = ?) + (SELECT count(*) FROM workspace_sets WHERE "user" = ?)) AS BIGINT) AS bytes,
        (SELECT count(*) FROM workspace_entries WHERE "user" = ? AND content IS NOT NULL) AS files`,
      ...[user, user, user, user],
    );
    expect({ bytes: kept.bytes, files: kept.files }).toEqual(counted);
  };

  if (isLarge) {
    test("a moved folder keeps what is in it, over thousands of files, and is undone", async () => {
      const ann = someone();
      const edits = Array.from({ length: 900 }, (_, at) => write(`/many/${at % 7}/${at}.txt`, `${at}`));
      await workspace.apply(ann, edits, byPerson);
      const turn = randomUUID();
      await workspace.apply(ann, [{ op: "move", path: "/many", to: "/else/where" }], inTurn(turn));
      expect(await paths(ann, "/else/where")).toHaveLength(907);
      expect(await read(ann, "/else/where/3/10.txt")).toBe("10");
      expect(await workspace.find(ann, "/many")).toBeUndefined();
      expect((await workspace.log(ann, { turn })).items[0]).toMatchObject({ isCut: true });
      await workspace.undo(ann, turn, byPerson);
      expect(await paths(ann, "/many")).toHaveLength(907);
      expect(await workspace.find(ann, "/else")).toBeUndefined();
      await expect(
        workspace.apply(ann, [{ op: "move", path: "/many", to: "/many/1/x" }], byPerson),
      ).rejects.toMatchObject({ code: "bad_path" });
      await assertCounted(ann);
    });
    return;
  }

  test("what one node writes another lists, reads, moves and removes, and all versions stay", async () => {
    const ann = someone();
    const [written] = await workspace.apply(ann, [write("/reports/may.csv", "a,b\n1,2\n")], byPerson);
    expect(written).toMatchObject({
      path: "/reports/may.csv",
      kind: "file",
      bytes: 8,
      mime: "text/csv",
      version: 1,
    });
    expect(await elsewhere.find(ann, "reports/may.csv")).toEqual(written);
    expect((await elsewhere.list(ann, "/")).items).toMatchObject([{ path: "/reports", kind: "folder" }]);
    await elsewhere.apply(ann, [{ op: "move", path: "/reports/may.csv", to: "/old/may.csv" }], byPerson);
    expect(await paths(ann)).toEqual(["/old", "/old/may.csv", "/reports"]);
    await elsewhere.apply(ann, [{ op: "remove", path: "/old" }], byPerson);
    expect(await paths(ann)).toEqual(["/reports"]);
    expect(await read(ann, "/old/may.csv")).toBeUndefined();
    expect(await read(ann, "/old/may.csv", 1)).toBe("a,b\n1,2\n");
    expect(await workspace.versions(ann, "/old/may.csv")).toMatchObject([
      { version: 2, change: "removed" },
      { version: 1, change: "moved", bytes: 8 },
    ]);
    expect(await workspace.find(someone(), "/reports/may.csv")).toBeUndefined();
    await assertCounted(ann);
  });

  test("edits are made together or not at all", async () => {
    const ann = someone();
    const edits = [write("/a.txt", "a"), write("/b/c.txt", "c"), { op: "remove", path: "/nothing" } as const];
    await expect(workspace.apply(ann, edits, byPerson)).rejects.toMatchObject({
      code: "workspace_not_found",
      message: expect.stringContaining("/nothing"),
    });
    expect(await paths(ann)).toEqual([]);
    expect((await workspace.log(ann)).items).toEqual([]);
    expect(await workspace.usage(ann)).toMatchObject({ bytes: 0, files: 0 });
  });

  test("of those who write what they read at once, one does and the others are told", async () => {
    const ann = someone();
    const nodes = [workspace, elsewhere, workspace, elsewhere];
    const writes = await Promise.allSettled(
      nodes.map((node, at) => node.apply(ann, [write("/a.md", `${at}`, { expected: 0 })], byPerson)),
    );
    expect(writes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(writes.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { code: "workspace_changed" },
    });
    const free = await Promise.all(
      nodes.map((node, at) => node.apply(ann, [write("/a.md", `again ${at}`)], byPerson)),
    );
    expect(free.map(([entry]) => entry?.version).toSorted()).toEqual([2, 3, 4, 5]);
    expect(await workspace.versions(ann, "/a.md")).toHaveLength(5);
    await assertCounted(ann);
  });

  test("two names that differ only by case or form cannot both be there", async () => {
    const ann = someone();
    await workspace.apply(ann, [write("/Straße/é.txt", "1")], byPerson);
    for (const path of ["/STRASSE/é.txt", "/straße/x.txt", "/Straße/E\u0301.TXT"])
      await expect(workspace.apply(ann, [write(path, "2")], byPerson)).rejects.toMatchObject({
        code: "workspace_exists",
      });
    expect(await read(ann, "/Straße/e\u0301.txt")).toBe("1");
    await workspace.apply(ann, [{ op: "move", path: "/Straße", to: "/STRASSE" }], byPerson);
    expect(await paths(ann)).toEqual(["/STRASSE", "/STRASSE/é.txt"]);
    await expect(
      workspace.apply(ann, [write("/STRASSE", "a file where a folder is")], byPerson),
    ).rejects.toMatchObject({ code: "workspace_exists" });
    await expect(workspace.apply(ann, [write("/STRASSE/é.txt/below", "1")], byPerson)).rejects.toMatchObject({
      code: "workspace_exists",
    });
  });

  test("a large file comes in parts, is read in parts, and leaves nothing where it breaks off", async () => {
    const ann = someone();
    const data = randomBytes(3_500_000);
    const chunks = Array.from({ length: 35 }, (_, at) => data.subarray(at * 100_000, (at + 1) * 100_000));
    const entry = await workspace.upload(ann, "/big.bin", pieces(...chunks), byPerson);
    expect(entry).toMatchObject({ bytes: data.length, version: 1, mime: "application/octet-stream" });
    expect(Buffer.compare((await elsewhere.read(ann, "/big.bin"))?.data ?? bytes(""), data)).toBe(0);
    const part = await workspace.read(ann, "/big.bin", { offset: 1_048_570, length: 20 });
    expect(Buffer.from(part?.data ?? []).equals(data.subarray(1_048_570, 1_048_590))).toBe(true);
    const streamed: Uint8Array[] = [];
    for await (const piece of (await workspace.stream(ann, "/big.bin"))?.data ?? []) streamed.push(piece);
    expect(Buffer.concat(streamed).equals(data)).toBe(true);
    // The same content again, by the other way in, is kept once.
    await workspace.apply(ann, [{ op: "write", path: "/same.bin", data }], byPerson);
    const { bytes: used } = await workspace.usage(ann);
    expect(used).toBeLessThan(data.length + 10_000);
    async function* broken() {
      yield data;
      throw new Error("the sender went away");
    }
    await expect(workspace.upload(ann, "/big.bin", broken(), byPerson)).rejects.toThrow("went away");
    expect(await workspace.usage(ann)).toMatchObject({ bytes: used });
    expect(await workspace.versions(ann, "/big.bin")).toHaveLength(1);
    await assertCounted(ann);
  });

  test("the quota counts old versions, refuses in words, and lets people make room", async () => {
    const ann = someone();
    const fill = (at: number) =>
      workspace.upload(ann, "/a.bin", pieces(randomBytes(12_000_000)), byPerson, at);
    for (const at of [0, 1, 2]) await fill(at);
    const before = await workspace.usage(ann);
    await expect(fill(3)).rejects.toMatchObject({
      code: "workspace_full",
      message: expect.stringContaining("40 MB"),
    });
    expect(await workspace.usage(ann)).toEqual(before);
    await expect(
      workspace.upload(someone(), "/b.bin", pieces(new Uint8Array(26_000_000)), byPerson),
    ).rejects.toMatchObject({ code: "file_too_large" });
    await workspace.apply(ann, [{ op: "remove", path: "/a.bin" }], byPerson);
    await workspace.sweep(new Date(Date.now() + 1000).toISOString());
    expect(await workspace.usage(ann)).toMatchObject({ bytes: 0, files: 0 });
    await fill(0);
    await assertCounted(ann);
  });

  test("a turn's changes are one set that is undone, and the undo too", async () => {
    const ann = someone();
    await workspace.apply(
      ann,
      [write("/keep.md", "one"), write("/old/x.txt", "x"), write("/old/y.txt", "y")],
      byPerson,
    );
    const turn = randomUUID();
    await workspace.apply(ann, [write("/keep.md", "two"), write("/new/made.txt", "made")], inTurn(turn));
    await elsewhere.apply(ann, [{ op: "remove", path: "/old" }], inTurn(turn));
    await workspace.apply(
      ann,
      [{ op: "move", path: "/keep.md", to: "/moved.md" }, write("/tmp", "t")],
      inTurn(turn),
    );
    await workspace.apply(ann, [{ op: "remove", path: "/tmp" }], inTurn(turn));
    const after = ["/moved.md", "/new", "/new/made.txt"];
    expect(await paths(ann)).toEqual(after);
    const [set, ...others] = (await workspace.log(ann, { turn })).items;
    expect(others).toEqual([]);
    expect(set).toMatchObject({ id: turn, writer: { kind: "model", turn } });
    expect(set?.changes).toEqual([
      { path: "/keep.md", change: "moved", to: "/moved.md", before: 1, after: 1 },
      { path: "/new/made.txt", change: "created", before: 0, after: 1 },
      { path: "/old/x.txt", change: "removed", before: 1, after: 0 },
      { path: "/old/y.txt", change: "removed", before: 1, after: 0 },
    ]);
    const undone = await workspace.undo(ann, turn, byPerson);
    expect(undone).toMatchObject({ conflicts: [], set: { undoes: turn, writer: { kind: "page" } } });
    expect(await paths(ann)).toEqual(["/keep.md", "/old", "/old/x.txt", "/old/y.txt"]);
    expect(await read(ann, "/keep.md")).toBe("one");
    expect((await workspace.log(ann, { turn })).items[0]?.undoneBy).toBe(undone.set?.id);
    await expect(workspace.undo(ann, turn, byPerson)).rejects.toMatchObject({ code: "workspace_undone" });
    const again = await elsewhere.undo(ann, undone.set?.id ?? "", byPerson);
    expect(again.conflicts).toEqual([]);
    expect(await paths(ann)).toEqual(after);
    expect(await read(ann, "/moved.md")).toBe("two");
    // And the turn's set stands again, and can be undone once more.
    expect((await workspace.undo(ann, turn, byPerson)).conflicts).toEqual([]);
    expect(await read(ann, "/keep.md")).toBe("one");
    await assertCounted(ann);
  });

  test("an undo that would overwrite what somebody changed later says so, and then does as it is told", async () => {
    const ann = someone();
    const turn = randomUUID();
    await workspace.apply(ann, [write("/a.txt", "a"), write("/b.txt", "b")], byPerson);
    await workspace.apply(ann, [write("/a.txt", "model"), write("/b.txt", "model")], inTurn(turn));
    await workspace.apply(ann, [write("/a.txt", "mine")], { writer: { kind: "cli" } });
    const refused = await workspace.undo(ann, turn, byPerson);
    expect(refused).toMatchObject({ conflicts: [{ path: "/a.txt", by: { kind: "cli" } }] });
    expect(refused.set).toBeUndefined();
    expect([await read(ann, "/a.txt"), await read(ann, "/b.txt")]).toEqual(["mine", "model"]);
    const skipped = await workspace.undo(ann, turn, byPerson, "skip");
    expect(skipped.set?.changes).toMatchObject([{ path: "/b.txt", change: "written" }]);
    expect([await read(ann, "/a.txt"), await read(ann, "/b.txt")]).toEqual(["mine", "b"]);
    await workspace.undo(ann, skipped.set?.id ?? "", byPerson);
    await workspace.undo(ann, turn, byPerson, "overwrite");
    expect([await read(ann, "/a.txt"), await read(ann, "/b.txt")]).toEqual(["a", "b"]);
    // A change between two of the turn's own is somebody else's as well.
    const other = randomUUID();
    await workspace.apply(ann, [write("/a.txt", "m1")], inTurn(other));
    await workspace.apply(ann, [write("/a.txt", "between")], byPerson);
    await workspace.apply(ann, [write("/a.txt", "m2")], inTurn(other));
    expect((await workspace.undo(ann, other, byPerson)).conflicts).toMatchObject([{ by: { kind: "page" } }]);
  });

  test("a version is restored, with its origins", async () => {
    const ann = someone();
    const origins = [{ kind: "page", name: "https://example.org" }] as const;
    await workspace.apply(ann, [write("/a.txt", "theirs", { origins })], inTurn(randomUUID()));
    await workspace.apply(ann, [write("/a.txt", "mine")], byPerson);
    expect((await workspace.find(ann, "/a.txt"))?.origins).toBeUndefined();
    expect(await workspace.restore(ann, "/a.txt", 1, byPerson)).toMatchObject({ version: 3, origins });
    expect(await read(ann, "/a.txt")).toBe("theirs");
    expect(
      (await workspace.apply(ann, [{ op: "move", path: "/a.txt", to: "/b.txt" }], byPerson))[0],
    ).toMatchObject({
      origins,
    });
    await expect(workspace.restore(ann, "/a.txt", 77, byPerson)).rejects.toMatchObject({
      code: "workspace_not_kept",
    });
  });

  test("named workspaces are trees of their own", async () => {
    const ann = someone();
    await workspace.apply(ann, [write("garden:/plan.md", "plan"), write("/plan.md", "own")], byPerson);
    expect(await workspace.roots(ann)).toEqual([{ name: "garden", kind: "named", isReadOnly: false }]);
    expect((await workspace.list(ann, "/")).items.map(({ path }) => path)).toEqual(["/plan.md"]);
    expect((await workspace.list(ann, "garden:/")).items.map(({ path }) => path)).toEqual([
      "garden:/plan.md",
    ]);
    await expect(workspace.list(ann, "nothing:/")).rejects.toMatchObject({ code: "workspace_not_found" });
  });

  test("lists come in pages", async () => {
    const ann = someone();
    await workspace.apply(
      ann,
      ["a", "b", "c/d", "e"].map((name) => write(`/${name}`, name)),
      byPerson,
    );
    const first = await workspace.list(ann, "/", { limit: 3 });
    expect(first).toMatchObject({ items: [{ path: "/a" }, { path: "/b" }, { path: "/c" }], next: "/c" });
    const next = await workspace.list(ann, "/", { limit: 3, after: first.next ?? "" });
    expect(next.items.map(({ path }) => path)).toEqual(["/e"]);
    expect(next.next).toBeUndefined();
  });

  test("a removed user leaves nothing", async () => {
    const ann = someone();
    await workspace.apply(ann, [write("/a/b.txt", "1"), write("garden:/x", "2")], byPerson);
    await workspace.apply(ann, [write("/a/b.txt", "3")], byPerson);
    await workspace.removeUser(ann);
    for (const table of ["entries", "versions", "sets", "contents", "accounts"])
      expect(await sql.all(`SELECT 1 FROM workspace_${table} WHERE "user" = ?`, ann)).toEqual([]);
  });

  test("what is given to another user keeps its versions, beside what that one has", async () => {
    const [ann, bob] = [someone(), someone()];
    await workspace.apply(
      ann,
      [write("/notes/a.md", "ann"), write("/only.md", "same"), write("g:/x", "ann")],
      byPerson,
    );
    await workspace.apply(ann, [write("/notes/a.md", "ann 2")], byPerson);
    await workspace.apply(
      bob,
      [write("/notes/a.md", "bob"), write("/b.md", "same"), write("g:/x", "bob")],
      byPerson,
    );
    await sql.transaction((tx) => workspace.giveUser(tx, ann, bob));
    expect(await paths(bob)).toEqual([
      "/b.md",
      "/notes",
      "/notes-2",
      "/notes-2/a.md",
      "/notes/a.md",
      "/only.md",
    ]);
    expect(await read(bob, "/notes-2/a.md")).toBe("ann 2");
    expect(await read(bob, "/notes-2/a.md", 1)).toBe("ann");
    expect([await read(bob, "/only.md"), await read(bob, "g-2:/x")]).toEqual(["same", "ann"]);
    expect(await paths(ann)).toEqual([]);
    await assertCounted(bob);
  });
}
