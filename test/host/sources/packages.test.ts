/** Folders and archives of strangers, read file by file. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { strToU8, zipSync } from "fflate";
import { describe, expect, test } from "vitest";
import { readFolder } from "../../../host/sources/folder-files.ts";
import { readZip } from "../../../host/sources/zip.ts";
import { temporaryFolder } from "../../support/home.ts";

const BOUNDS = { maxBytes: 100_000, maxEntries: 20 };
const read = (zip: Uint8Array, bounds = BOUNDS) => readZip(zip, "a.zip", bounds);
const LINK = 0o120777 << 16;

/** The zip with one field of its first entry in the directory changed. */
function withField(zip: Uint8Array, field: number, value: number): Uint8Array {
  const bytes = Buffer.from(zip);
  bytes.writeUInt32LE(value >>> 0, bytes.indexOf(Buffer.from([0x50, 0x4b, 1, 2])) + field);
  return bytes;
}

describe("a zip file", () => {
  const small = zipSync({
    "pdf/SKILL.md": strToU8("Do it. ".repeat(100)),
    "pdf/a/b.bin": [new Uint8Array([0, 1]), { level: 0 }],
  });

  test("gives its files by their path, packed or not", async () => {
    const files = await read(small);
    expect([...files.keys()]).toEqual(["pdf/SKILL.md", "pdf/a/b.bin"]);
    expect(Buffer.from(files.get("pdf/SKILL.md") ?? "").toString()).toBe("Do it. ".repeat(100));
    expect(files.get("pdf/a/b.bin")).toEqual(Buffer.from([0, 1]));
  });

  test.for([
    ["unpacks to more than is read", zipSync({ bomb: new Uint8Array(50_000_000) }), /more than 100000 bytes/],
    [
      "says it is smaller than it is",
      withField(zipSync({ bomb: new Uint8Array(50_000_000) }), 24, 10),
      /more than 100000/,
    ],
    [
      "has too many entries",
      zipSync(Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`${n}`, strToU8("")]))),
      /20 entries/,
    ],
    ["has an entry that leads out", zipSync({ "../up": strToU8("x") }), /leads out/],
    ["has an absolute entry", zipSync({ "/etc/passwd": strToU8("x") }), /leads out/],
    ["has a link", zipSync({ a: [strToU8("/etc/passwd"), { os: 3, attrs: LINK }] }), /is a link/],
    ["has a wrong sum", withField(small, 16, 1), /damaged/],
    ["is encrypted", withField(small, 8, 1), /encrypted/],
    ["ends early", small.slice(0, -30), /damaged/],
    ["is something else", strToU8("PK but no zip"), /damaged/],
  ] as const)("that %s is refused", async ([, zip, why]) => {
    await expect(read(zip)).rejects.toThrow(why);
  });
});

describe("a folder", () => {
  const folderWith = (files: Readonly<Record<string, string>>) => {
    const folder = temporaryFolder();
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(folder, path, ".."), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    return folder;
  };

  test("gives its files without hidden ones", async () => {
    const folder = folderWith({ "SKILL.md": "x", "scripts/a.js": "y", ".git/config": "z" });
    expect([...(await readFolder(folder, BOUNDS)).keys()].sort()).toEqual(["SKILL.md", "scripts/a.js"]);
  });

  test("with a link, too many files or too many bytes is refused", async () => {
    const linked = folderWith({ "SKILL.md": "x" });
    symlinkSync("/etc/passwd", join(linked, "notes.md"));
    await expect(readFolder(linked, BOUNDS)).rejects.toThrow(/"notes.md" is a link/);
    const many = folderWith(Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`f${n}`, ""])));
    await expect(readFolder(many, BOUNDS)).rejects.toThrow(/more than 20 files/);
    await expect(readFolder(folderWith({ a: "x".repeat(200_000) }), BOUNDS)).rejects.toThrow(/100000 bytes/);
    await expect(readFolder("/no/such/folder", BOUNDS)).rejects.toThrow(/cannot be read/);
  });
});
