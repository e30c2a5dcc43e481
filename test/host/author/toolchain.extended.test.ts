/** What building needs beyond the service: its lock file, and how the published package fetches it. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { fetchPackages, LOADER } from "../../../host/author/build/fetch.ts";
import { lockOf, type PackageLock } from "../../../host/author/build/lock.ts";
import { installedToolchain, PACKAGES } from "../../../host/author/build/toolchain.ts";
import { ROOT } from "../../../kernel/package.ts";
import { temporaryFolder } from "../../support/home.ts";
import { describeWhere } from "../../support/run/needs.ts";
import { type Registry, startRegistry } from "../../support/servers/registry.ts";

const OURS = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as PackageLock;

test("the toolchain's lock has our versions and integrity, all that they need, and nothing else", () => {
  const { packages } = lockOf(PACKAGES, OURS);
  expect(Object.values(PACKAGES).every((version) => /^\d+\.\d+\.\d+$/.test(version))).toBe(true);
  expect(packages[""]?.dependencies).toEqual(PACKAGES);
  const paths = Object.keys(packages).filter((path) => path !== "");
  for (const path of paths) {
    expect(packages[path]?.integrity).toMatch(/^sha512-/);
    expect(packages[path]).toMatchObject({ version: OURS.packages[path]?.version });
    for (const name of Object.keys(packages[path]?.dependencies ?? {}))
      expect(paths.filter((other) => other.endsWith(`node_modules/${name}`))).not.toEqual([]);
  }
  expect(paths).toContain("node_modules/@bytecodealliance/jco-transpile");
  expect(paths).not.toContain("node_modules/koa");
  expect(paths).not.toContain("node_modules/vitest");
});

test("a clone builds with the packages that are installed in it", async () => {
  const { load, compiler } = installedToolchain();
  expect(await load("@bytecodealliance/jco")).toHaveProperty("componentNew");
  expect(compiler).toBe(join(ROOT, "node_modules", "typescript", "bin", "tsc"));
});

afterEach(() => vi.unstubAllEnvs());

/** A lock of one package, which needs another, and what is said while it is fetched. */
async function prepare({
  integrity,
  script,
  folder = join(temporaryFolder(), "toolchain", "new"),
}: {
  readonly integrity?: string;
  readonly script?: string;
  readonly folder?: string;
} = {}) {
  const registry = await startRegistry();
  const sums = publishPair(registry, script);
  vi.stubEnv("npm_config_registry", registry.url);
  vi.stubEnv("npm_config_cache", temporaryFolder());
  vi.stubEnv("npm_config_fetch_retries", "0");
  const lock = JSON.stringify({
    lockfileVersion: 3,
    packages: {
      "": { dependencies: { "maker-of-things": "1.0.0" } },
      "node_modules/maker-of-things": {
        version: "1.0.0",
        integrity: integrity ?? sums.maker,
        hasInstallScript: true,
        dependencies: { "part-of-things": "^1.0.0" },
      },
      "node_modules/part-of-things": { version: "1.0.0", integrity: sums.part },
    },
  });
  const said: string[] = [];
  return {
    folder,
    lock,
    said,
    fetch: () => fetchPackages({ folder, lock, progress: (line) => said.push(line) }),
  };
}

function publishPair({ publish }: Registry, script = "export { part } from 'part-of-things';") {
  const part = publish(
    { name: "part-of-things", version: "1.0.0", type: "module", exports: { import: "./index.js" } },
    { "index.js": "export const part = 'the part';" },
  );
  const maker = publish(
    {
      name: "maker-of-things",
      version: "1.0.0",
      type: "module",
      exports: { import: "./index.js" },
      dependencies: { "part-of-things": "^1.0.0" },
      scripts: { install: "echo ran > ran" },
    },
    { "index.js": script },
  );
  return { part, maker };
}

const DAY = 24 * 3600;

/** As if nobody had used it since. */
function age(path: string, seconds: number): void {
  const then = Date.now() / 1000 - seconds;
  utimesSync(path, then, then);
}

test("npm fetches it by the lock, runs no install script, and toolchains that nobody uses go", async () => {
  const { folder, said, fetch } = await prepare();
  const parent = join(folder, "..");
  for (const [name, days] of [["old", 31] as const, ["in-use", 1] as const]) {
    mkdirSync(join(parent, name), { recursive: true });
    age(join(parent, name), days * DAY);
  }
  await fetch();
  const { default: load } = await import(pathToFileURL(join(folder, LOADER)).href);
  expect(await load("maker-of-things")).toMatchObject({ part: "the part" });
  expect(existsSync(join(folder, "node_modules", "maker-of-things", "ran"))).toBe(false);
  expect(readdirSync(parent)).toEqual(["in-use", "new"]);
  expect(said[0]).toContain(`into ${folder} (once, about 340 MB): maker-of-things@1.0.0`);
  expect(said[1]).toMatch(/^fetched in \d+ s$/);
});

test("two builds at once that both fetch it end with one whole toolchain", async () => {
  const { folder, fetch } = await prepare();
  await Promise.all([fetch(), fetch()]);
  expect(readdirSync(join(folder, ".."))).toEqual(["new"]);
  expect(existsSync(join(folder, "node_modules", "part-of-things", "index.js"))).toBe(true);
});

test("a package that is not the one of the lock is refused, and nothing is left", async () => {
  const { folder, fetch } = await prepare({ integrity: `sha512-${"A".repeat(86)}==` });
  await expect(fetch()).rejects.toMatchObject({
    kind: "unavailable",
    code: "no_toolchain",
    message: expect.stringContaining("EINTEGRITY"),
  });
  expect(readdirSync(join(folder, ".."))).toEqual([]);
});

test("without a network the message says why, and what to do", async () => {
  const { folder, fetch } = await prepare();
  vi.stubEnv("npm_config_registry", "http://127.0.0.1:9");
  await expect(fetch()).rejects.toMatchObject({
    message: expect.stringMatching(
      /ECONNREFUSED.*Check the network and try again\. To build offline, copy /s,
    ),
  });
  expect(existsSync(folder)).toBe(false);
});

test("without npm the message says so", async () => {
  const { fetch } = await prepare();
  vi.stubEnv("PATH", temporaryFolder());
  await expect(fetch()).rejects.toThrow("npm does not run here");
});

test("what npm fetched and Node cannot load is thrown away, and the message says so", async () => {
  const { folder, fetch } = await prepare({ script: "export { other } from 'undeclared-thing';" });
  await expect(fetch()).rejects.toMatchObject({
    code: "no_toolchain",
    message: expect.stringMatching(/fetched but cannot be loaded, and was removed: .*'undeclared-thing'/),
  });
  expect(readdirSync(join(folder, ".."))).toEqual([]);
});

test("a fetch that is cut in the middle leaves nothing that a later one would use", async () => {
  const { folder, lock, fetch } = await prepare();
  // It accepts connections, reads what is sent and never answers.
  const server = createServer((socket) => void socket.on("error", () => {}).resume()).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const script = `import { fetchPackages } from ${JSON.stringify(join(ROOT, "host/author/build/fetch.ts"))};
    await fetchPackages({ folder: process.argv[1], lock: process.argv[2], progress: console.log });`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script, folder, lock], {
    env: { ...process.env, npm_config_registry: `http://127.0.0.1:${port}` },
    detached: true,
  });
  await once(server, "connection");
  process.kill(-(child.pid ?? 0), "SIGKILL");
  await once(child, "close");
  const [draft = ""] = readdirSync(join(folder, ".."));
  expect(draft).toMatch(/\.draft$/);
  age(join(folder, "..", draft), 2 * 3600);
  await fetch();
  expect(readdirSync(join(folder, ".."))).toEqual(["new"]);
});

function canMount(): boolean {
  try {
    execFileSync("unshare", ["-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

describeWhere(canMount(), "root that may mount")("on a full disk", () => {
  test("the message says so, and nothing is left", async () => {
    const disk = temporaryFolder();
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=16k", "tmpfs", disk]);
    onTestFinished(() => void execFileSync("umount", [disk]));
    const { folder, fetch } = await prepare({
      script: `export const part = "the part"; // ${"x".repeat(100_000)}`,
      folder: join(disk, "toolchain", "new"),
    });
    await expect(fetch()).rejects.toMatchObject({
      code: "no_toolchain",
      message: expect.stringMatching(/ENOSPC.*Make room for 400 MB and try again/s),
    });
    expect(readdirSync(join(folder, ".."))).toEqual([]);
  });
});
