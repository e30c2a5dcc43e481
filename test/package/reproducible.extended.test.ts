/** Whoever packs the same sources gets the same bytes. */
import { execFile, execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { chownSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { componentize } from "componentize-qjs";
import { expect, test } from "vitest";
import { compareFiles, partsOf } from "../../.package/compare.ts";
import { NAMES } from "../../components/build.ts";
import { ROOT } from "../support/clone.ts";
import { temporaryFolder } from "../support/home.ts";
import { packedPostern, packPostern } from "../support/processes/packed.ts";

/** Loaded into each Node that packs: its clock is a year behind. */
const EARLIER = `data:text/javascript,${encodeURIComponent(
  "const { Date } = globalThis, now = () => Date.now() - 365 * 86_400_000; globalThis.Date = class extends Date { constructor(...given) { super(...(given.length > 0 ? given : [now()])); } static now = now; };",
)}`;

function unpack(tarball: string): string {
  const folder = temporaryFolder();
  execFileSync("tar", ["-xzf", tarball, "-C", folder]);
  return folder;
}

/** A package takes half a minute to build, or many where the machine has other work. */
const TIMEOUT = 1_800_000;

/** Nobody, as most systems have it, where we may act for them and they may read the clone. */
const NOBODY = canRunAs(65_534) ? 65_534 : undefined;

function canRunAs(uid: number): boolean {
  try {
    const reads = [join(ROOT, "node_modules/esbuild/package.json"), process.execPath].map((file) => [
      "-r",
      file,
    ]);
    for (const args of reads) execFileSync("test", args, { uid, gid: uid, cwd: "/", stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

test("two packs, in two folders, by two users, with another clock, time zone, locale and umask, have the same digest", {
  timeout: TIMEOUT,
}, async () => {
  const one = await packedPostern();
  const home = temporaryFolder();
  if (NOBODY !== undefined) chownSync(home, NOBODY, NOBODY);
  const usual = process.umask(0o077);
  const variables = {
    TZ: "Asia/Tokyo",
    LC_ALL: "tr_TR.UTF-8",
    HOME: home,
    npm_config_cache: join(home, "cache"),
    NODE_OPTIONS: `--import=${EARLIER}`,
  };
  const other = await packPostern(undefined, variables, NOBODY).finally(() => process.umask(usual));
  expect(compareFiles(unpack(one), unpack(other))).toEqual([]);
  expect(hash("sha256", readFileSync(one))).toBe(hash("sha256", readFileSync(other)));
});

test("the committed components are what their sources, the toolchain and the lock file make", {
  timeout: TIMEOUT,
}, async () => {
  const args = [join(ROOT, "components/build.ts"), "--check"];
  const { stderr } = await promisify(execFile)(process.execPath, args);
  expect(stderr.match(/: the same/g)).toHaveLength(NAMES.length);
});

test("two builds of a component differ in nothing but the memory it starts from", {
  timeout: TIMEOUT,
}, async () => {
  const build = async (options = {}) => {
    const jsSource = readFileSync(join(ROOT, "test/fixtures/components/js/echo.js"), "utf8");
    const given = { witPath: join(ROOT, "wit/tool.wit"), world: "sandboxed-tool", sync: true, jsSource };
    return partsOf((await componentize({ ...given, ...options })).component);
  };
  const parts = await build();
  expect(parts.length).toBeGreaterThan(50);
  expect(await build()).toEqual(parts);
  expect(await build({ optSize: true })).not.toEqual(parts);
});
