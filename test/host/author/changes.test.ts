import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { watchFolder } from "../../../host/author/changes.ts";
import { temporaryFolder } from "../../support/home.ts";

/** Watches a folder with `tool.ts` and `src/part.ts`; counts the changes that were seen. */
function watched() {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "src"));
  const path = (...parts: string[]) => join(folder, ...parts);
  writeFileSync(path("tool.ts"), "1");
  writeFileSync(path("src", "part.ts"), "1");
  const changes = watchFolder(folder, new Set(["dist"]));
  onTestFinished(() => changes.end());
  let seen = 0;
  const all = (async () => {
    while (await changes.next()) seen++;
  })();
  const next = async (count: number) => {
    await expect.poll(() => seen).toBe(count);
  };
  return { path, changes, next, all, seen: () => seen };
}

test("a save by rename is seen, and so is every in-place write after it", async () => {
  const { path, next } = watched();
  for (const [at, file] of [path("tool.ts"), path("src", "part.ts")].entries()) {
    writeFileSync(`${file}.swap`, "2");
    renameSync(`${file}.swap`, file);
    await next(3 * at + 1);
    writeFileSync(file, "3");
    await next(3 * at + 2);
    writeFileSync(file, "4");
    await next(3 * at + 3);
  }
});

test("files in folders that came later, were moved in or were made again are seen", async () => {
  const { path, next } = watched();
  mkdirSync(path("lib", "deep"), { recursive: true });
  await next(1);
  writeFileSync(path("lib", "deep", "new.ts"), "1");
  await next(2);
  writeFileSync(path("lib", "deep", "new.ts"), "2");
  await next(3);
  renameSync(path("lib"), path("moved"));
  await next(4);
  writeFileSync(path("moved", "deep", "new.ts"), "3");
  await next(5);
  rmSync(path("src"), { recursive: true });
  mkdirSync(path("src"));
  await next(6);
  writeFileSync(path("src", "part.ts"), "2");
  await next(7);
});

test("what a build writes is no change, and ending ends the wait", async () => {
  const { path, next, changes, all, seen } = watched();
  mkdirSync(path("dist"));
  writeFileSync(path("dist", "tool.wasm"), "1");
  symlinkSync(path(), path("src", "loop"));
  await next(1);
  writeFileSync(path("dist", "tool.wasm"), "2");
  writeFileSync(path("tool.ts"), "2");
  await next(2);
  changes.end();
  await all;
  expect(seen()).toBe(2);
});
