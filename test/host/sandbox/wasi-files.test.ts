import { expect, test } from "vitest";
import { type Caller, createImports } from "../../../host/sandbox/inside/imports.ts";
import type { Descriptor } from "../../../host/sandbox/inside/wasi/descriptor.ts";
import type { FileRequest } from "../../../host/sandbox/protocol.ts";

/** A call that answers every question about files, and keeps what it was asked. */
function openCall(content: string) {
  const asked: FileRequest[] = [];
  const refused = async () => ({ ok: false, error: "not here" }) as const;
  const caller: Caller = {
    secrets: [],
    settings: {},
    http: refused,
    state: refused,
    inner: refused,
    log: () => {},
    file: async (request) => {
      asked.push(request);
      const body = Buffer.from(request.op === "read" ? content : "");
      const isFile = request.path.endsWith(".txt");
      const entry = {
        path: request.path,
        bytes: 5,
        updatedAt: "",
        kind: isFile ? "file" : "folder",
      } as const;
      return { ok: true, body, entries: [entry] };
    },
  };
  return { caller, asked };
}

function openGuest() {
  const imports = createImports([{ path: "/notes", access: "write" }]);
  const { getDirectories } = imports.interfaces["wasi:filesystem/preopens"] as {
    getDirectories(): [Descriptor, string][];
  };
  const openFolder = (): Descriptor => getDirectories()[0]?.[0] as Descriptor;
  const openFile = (folder: Descriptor) => folder.openAt({}, "a.txt", {}, { read: true, write: true });
  return { imports, openFolder, openFile };
}

const OVER = { payload: "access" };
const FAILED = { payload: { tag: "last-operation-failed" } };

test("a descriptor that outlives its call is refused, and the next call is not asked for its file", async () => {
  const { imports, openFolder, openFile } = openGuest();
  imports.begin(openCall("first").caller);
  const folder = openFolder();
  const file = await openFile(folder);
  const stream = file.readViaStream(0n);
  expect(Buffer.from(await stream.blockingRead(2n)).toString()).toBe("fi");
  const writer = file.appendViaStream();
  imports.end();

  const assertRefused = async () => {
    await expect(folder.statAt({}, "a.txt")).rejects.toMatchObject(OVER);
    await expect(folder.readDirectory()).rejects.toMatchObject(OVER);
    await expect(folder.unlinkFileAt("a.txt")).rejects.toMatchObject(OVER);
    await expect(openFile(folder)).rejects.toMatchObject(OVER);
    await expect(file.read(5n, 0n)).rejects.toMatchObject(OVER);
    await expect(file.setSize(0n)).rejects.toMatchObject(OVER);
    await expect(file.sync()).rejects.toMatchObject(OVER);
    expect(() => file.write(Buffer.from("x"), 0n)).toThrow(expect.objectContaining(OVER));
    expect(() => writer.write(Buffer.from("x"))).toThrow(
      expect.objectContaining({ payload: expect.objectContaining(FAILED.payload) }),
    );
    // Not even what was read ahead: it is the first user's.
    await expect(stream.blockingRead(3n)).rejects.toMatchObject(FAILED);
    await expect(file.readViaStream(0n).blockingRead(5n)).rejects.toMatchObject(FAILED);
  };
  await assertRefused();

  const second = openCall("second");
  imports.begin(second.caller);
  await assertRefused();
  expect(second.asked).toEqual([]);
  const own = await openFile(openFolder());
  expect(Buffer.from((await own.read(6n, 0n))[0]).toString()).toBe("second");
});

test("a folder that was opened at the start belongs to the first call", async () => {
  const { imports, openFolder, openFile } = openGuest();
  const folder = openFolder();
  await expect(openFile(folder)).rejects.toMatchObject(OVER);
  imports.begin(openCall("first").caller);
  expect(Buffer.from((await (await openFile(folder)).read(5n, 0n))[0]).toString()).toBe("first");
  imports.end();
  imports.begin(openCall("second").caller);
  await expect(openFile(folder)).rejects.toMatchObject(OVER);
});

test.each([
  "../other/",
  "../",
  "..//",
  "./../other/",
  "a/../../other/",
  "a.txt/../../other/",
  "../notes-of-bob/",
  "/other/",
  "//other/",
])("a path with a slash at its end leaves the folder no more than one without: %s", async (path) => {
  const { imports, openFolder } = openGuest();
  const { caller, asked } = openCall("text");
  imports.begin(caller);
  const folder = openFolder();
  const read = { read: true };
  const tries: (() => unknown)[] = [
    () => folder.openAt({}, path, {}, read),
    () => folder.openAt({}, path, { create: true }, { read: true, write: true }),
    () => folder.openAt({}, path, { directory: true }, read),
    () => folder.statAt({}, path),
    () => folder.createDirectoryAt(path),
    () => folder.removeDirectoryAt(path),
    () => folder.unlinkFileAt(path),
    () => folder.renameAt("a.txt", folder, path),
    () => folder.renameAt(path, folder, "a.txt"),
  ];
  for (const attempt of tries)
    await expect((async () => attempt())()).rejects.toMatchObject({ payload: expect.any(String) });
  expect(asked).toEqual([]);
});

test("a slash at the end of a path within the folder names the same as without", async () => {
  const { imports, openFolder } = openGuest();
  const { caller, asked } = openCall("text");
  imports.begin(caller);
  const folder = openFolder();
  await folder.statAt({}, "sub/");
  await folder.statAt({}, "sub/../sub/");
  expect([...new Set(asked.map(({ path }) => path))]).toEqual(["/notes/sub"]);
});
