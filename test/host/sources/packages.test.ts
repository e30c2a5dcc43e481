/** Folders and archives of strangers, read file by file. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { strToU8, zipSync } from "fflate";
import { describe, expect, test } from "vitest";
import { createNetwork } from "../../../host/broker/network.ts";
import { createDownloads } from "../../../host/sources/download.ts";
import { readFolder } from "../../../host/sources/folder-files.ts";
import { readReference } from "../../../host/sources/local.ts";
import { createRegistryAccess } from "../../../host/sources/oci/access.ts";
import { sha256 } from "../../../host/sources/oci/manifest.ts";
import { createSources } from "../../../host/sources/sources.ts";
import { readZip } from "../../../host/sources/zip.ts";
import { temporaryFolder } from "../../support/home.ts";
import { startNpmPackages } from "../../support/servers/npm-packages.ts";
import { openUpstream } from "../../support/servers/upstream.ts";
import { tarball } from "../../support/tarball.ts";
import { afterThisTest } from "../../support/undo.ts";

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

describe("a package", () => {
  const ZIP = Buffer.from(zipSync({ "pdf/SKILL.md": strToU8("x"), "__MACOSX/junk": strToU8("y") }));
  const TARBALL = tarball([{ path: "pdf/SKILL.md", data: "x" }]);
  const layerOf = (bytes: Buffer, mediaType = "application/vnd.oci.image.layer.v1.tar+gzip") => ({
    mediaType,
    digest: sha256(bytes),
    size: bytes.length,
  });
  const manifestOf = (...layers: object[]) => Buffer.from(JSON.stringify({ schemaVersion: 2, layers }));

  /** Sources of a machine that may reach one server, which has these files. */
  async function sourcesWith(answers: Readonly<Record<string, Buffer>>) {
    const npm = await startNpmPackages();
    const server = await openUpstream(({ path }, response) => {
      const found = answers[path];
      if (found === undefined) response.writeHead(404).end("{}");
      else response.end(found);
    });
    afterThisTest(server.close);
    const host = `127.0.0.1:${server.port}`;
    const privateHosts = new Set([host, npm.host]);
    const network = createNetwork({ privateHosts });
    afterThisTest(network.close);
    const downloads = createDownloads({ network });
    const logins = { find: async () => undefined };
    const openRegistry = createRegistryAccess({
      downloads,
      privateHosts,
      logins,
      dockerFolder: temporaryFolder(),
    });
    const folder = temporaryFolder();
    const sources = createSources({ downloads, openRegistry, folder, npmRegistry: npm.url });
    const bounds = { maxBytes: 100_000, maxFiles: 5 };
    const fetch = (what: string) =>
      sources.fetchPackage(readReference(what, folder), { bounds, progress: () => {} });
    return { npm, host, folder, fetch };
  }

  test("comes from a zip on disk or at an address, without what programs add to it", async () => {
    const { host, folder, fetch } = await sourcesWith({ "/pdf.zip": ZIP });
    writeFileSync(join(folder, "pdf.zip"), ZIP);
    for (const what of ["./pdf.zip", `http://${host}/pdf.zip`]) {
      const { files, origin } = await fetch(what);
      expect([[...files.keys()], origin.digest]).toEqual([["pdf/SKILL.md"], sha256(ZIP)]);
    }
    await expect(fetch(`http://${host}/none.zip`)).rejects.toThrow(/nothing at/);
    await expect(fetch("pdf")).rejects.toThrow(/name a folder, a .zip file/);
  });

  test("comes from npm with the registry's integrity, and only under its own name", async () => {
    const { npm, fetch } = await sourcesWith({});
    const entries = (name: string) => [
      { path: "package/package.json", data: JSON.stringify({ name, version: "1.0.0" }) },
      { path: "package/SKILL.md", data: "x" },
    ];
    npm.publish("pdf", "1.0.0", entries("pdf"));
    const { files, origin } = await fetch("npm:pdf");
    expect([[...files.keys()], origin]).toMatchObject([["package.json", "SKILL.md"], { version: "1.0.0" }]);
    npm.publish("pdf", "1.0.0", entries("other"));
    await expect(fetch("npm:pdf")).rejects.toThrow(/says that it is other@1.0.0/);
  });

  test("comes from a registry as the only layer of its manifest, and as no other", async () => {
    const manifests = "/v2/acme/pdf/manifests";
    const { host, fetch } = await sourcesWith({
      [`${manifests}/latest`]: manifestOf(layerOf(TARBALL)),
      [`${manifests}/two`]: manifestOf(layerOf(TARBALL), layerOf(TARBALL)),
      [`${manifests}/odd`]: manifestOf(layerOf(TARBALL, "text/plain")),
      [`${manifests}/huge`]: manifestOf({ ...layerOf(TARBALL), size: 1e9 }),
      [`/v2/acme/pdf/blobs/${sha256(TARBALL)}`]: TARBALL,
    });
    expect([...(await fetch(`oci://${host}/acme/pdf`)).files.keys()]).toEqual(["pdf/SKILL.md"]);
    await expect(fetch(`oci://${host}/acme/pdf:two`)).rejects.toThrow(/exactly one layer/);
    await expect(fetch(`oci://${host}/acme/pdf:odd`)).rejects.toThrow(/media type/);
    await expect(fetch(`oci://${host}/acme/pdf:huge`)).rejects.toThrow(/at most 100000/);
  });

  test("with more files than are read is refused", async () => {
    const { folder, fetch } = await sourcesWith({});
    for (let count = 0; count < 6; count++) writeFileSync(join(folder, `f${count}`), "");
    await expect(fetch(folder)).rejects.toThrow(/6 files; at most 5/);
  });
});
