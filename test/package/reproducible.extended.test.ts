/** Whoever packs the same sources gets the same bytes. */
import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { componentize } from "componentize-qjs";
import { expect, test } from "vitest";
import { compareFiles, partsOf } from "../../.package/compare.ts";
import { ROOT } from "../support/clone.ts";
import { temporaryFolder } from "../support/home.ts";
import { packPostern } from "../support/processes/packed.ts";

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

test("two packs, in two folders, with another clock, time zone and locale, have the same digest", {
  timeout: TIMEOUT,
}, async () => {
  const one = await packPostern();
  const other = await packPostern(undefined, {
    TZ: "Asia/Tokyo",
    LC_ALL: "tr_TR.UTF-8",
    HOME: temporaryFolder(),
    NODE_OPTIONS: `--import=${EARLIER}`,
  });
  expect(compareFiles(unpack(one), unpack(other))).toEqual([]);
  expect(hash("sha256", readFileSync(one))).toBe(hash("sha256", readFileSync(other)));
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
