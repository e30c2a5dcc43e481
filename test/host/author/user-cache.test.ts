/** The folder that all homes of a user share: code from it is run, so it must be that user's alone. */
import { chmodSync, chownSync, mkdirSync, statSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openUserCache } from "../../../host/author/build/toolchain.ts";
import { temporaryFolder } from "../../support/home.ts";

test("it is made for its owner alone", () => {
  const caches = temporaryFolder();
  expect(openUserCache(caches)).toBe(join(caches, "postern"));
  expect(statSync(join(caches, "postern")).mode & 0o777).toBe(0o700);
});

test("one that others may write to is not used, and neither is a link or somebody else's", () => {
  const others = temporaryFolder();
  mkdirSync(join(others, "postern"));
  chmodSync(join(others, "postern"), 0o770);
  expect(openUserCache(others)).toBeUndefined();

  const linked = temporaryFolder();
  symlinkSync(temporaryFolder(), join(linked, "postern"));
  expect(openUserCache(linked)).toBeUndefined();

  if (process.getuid?.() !== 0) return;
  const foreign = temporaryFolder();
  mkdirSync(join(foreign, "postern"), { mode: 0o700 });
  chownSync(join(foreign, "postern"), 12_345, 12_345);
  expect(openUserCache(foreign)).toBeUndefined();
});

test("a path that is not absolute stands for none, as the convention has it", () => {
  expect([join(homedir(), ".cache", "postern"), undefined]).toContain(openUserCache("relative"));
});
