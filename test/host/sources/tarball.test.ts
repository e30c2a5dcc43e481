/** Tarballs of npm packages, read in memory. */
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { readTarball } from "../../../host/sources/npm/tarball.ts";
import { record, type TarEntry, tarball } from "../../support/tarball.ts";

const LIMITS = { maxBytes: 1024 * 1024, maxEntries: 20 };
const read = (bytes: Uint8Array, limits = LIMITS) => readTarball(bytes, "npm:hello@1.0.0", limits);

async function textsOf(entries: readonly TarEntry[]): Promise<Record<string, string>> {
  const files = await read(tarball(entries));
  return Object.fromEntries([...files].map(([path, data]) => [path, Buffer.from(data).toString()]));
}

describe("a package's tarball", () => {
  test("gives its files by their path, without the folder around them", async () => {
    const entries = [
      { path: "package/", type: "5" },
      { path: "package/package.json", data: "{}" },
      { path: "./package/dist/hello.wasm", data: "\0asm" },
      { path: "other/empty", data: "" },
    ];
    expect(await textsOf(entries)).toEqual({ "package.json": "{}", "dist/hello.wasm": "\0asm", empty: "" });
  });

  test("may have long paths, in each of the three ways there are", async () => {
    const long = `package/${"a".repeat(120)}`;
    const entries = [
      { path: "x", type: "x", data: record("path", `${long}/1`) + record("mtime", "1.5") },
      { path: "package/cut", data: "one" },
      { path: "././@LongLink", type: "L", data: `${long}/2\0` },
      { path: "package/cut", data: "two" },
      { path: "3", prefix: long, data: "three" },
      { path: "g", type: "g", data: record("comment", "of a commit") },
      { path: "package/last", data: "four" },
    ];
    const name = "a".repeat(120);
    expect(await textsOf(entries)).toEqual({
      [`${name}/1`]: "one",
      [`${name}/2`]: "two",
      [`${name}/3`]: "three",
      last: "four",
    });
  });

  test("may lack the empty blocks at its end", async () => {
    const files = await read(tarball([{ path: "package/a", data: "1" }], false));
    expect([...files.keys()]).toEqual(["a"]);
  });

  test.each<[string, readonly TarEntry[], string]>([
    [
      "a symbolic link",
      [{ path: "package/a", type: "2", link: "/etc/passwd" }],
      'its entry "package/a" is a link',
    ],
    ["a hard link", [{ path: "package/a", type: "1", link: "../a" }], "is a link"],
    ["a device", [{ path: "package/a", type: "3" }], 'neither a file nor a folder (type "3")'],
    ["a path out of the package", [{ path: "package/../../a" }], "leads out of the package"],
    ["an absolute path", [{ path: "/package/a" }], "leads out of the package"],
    ["a backslash", [{ path: "package\\..\\a" }], "leads out of the package"],
    [
      "a long path out of the package",
      [{ path: "x", type: "x", data: record("path", "package/../../a") }, { path: "package/a" }],
      "leads out of the package",
    ],
    ["two entries of one name", [{ path: "package/a" }, { path: "./package/a" }], 'two entries named "a"'],
    ["a size beyond its end", [{ path: "package/a", size: 100_000 }], "it ends early"],
    [
      "a header that is too large",
      [{ path: "x", type: "x", data: record("path", "a".repeat(70_000)) }],
      "at most 65536 are read",
    ],
    ["a damaged header", [{ path: "x", type: "x", data: "12 pa" }], "one of its headers is damaged"],
    [
      "a path for all entries",
      [{ path: "g", type: "g", data: record("path", "package/b") }, { path: "package/a" }],
      "all its entries at once",
    ],
    [
      "a size that is no number",
      [{ path: "x", type: "x", data: record("size", "-1") }, { path: "package/a" }],
      "damaged",
    ],
    [
      "too many entries",
      Array.from({ length: 21 }, (_, at) => ({ path: `package/${at}` })),
      "it has more than 20 entries",
    ],
  ])("is refused with %s", async (_what, entries, why) => {
    const refused = expect(read(tarball(entries))).rejects;
    await refused.toThrow(why);
    await refused.toThrow(/^npm:hello@1\.0\.0 cannot be used: /);
  });

  test("is refused where it unpacks to more than is read, whatever its size", async () => {
    const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024));
    expect(bomb.length).toBeLessThan(100_000);
    await expect(read(bomb)).rejects.toThrow("it unpacks to more than 1048576 bytes");
  });

  test("is refused where it is no tarball, or not all of one", async () => {
    await expect(read(Buffer.from("<html>"))).rejects.toThrow("it is not a complete gzip file");
    const whole = tarball([{ path: "package/a", data: "1" }]);
    await expect(read(whole.subarray(0, whole.length - 20))).rejects.toThrow(
      "it is not a complete gzip file",
    );
    await expect(read(gzipSync(Buffer.alloc(600, "x")))).rejects.toThrow("it is not a tar file");
  });
});
