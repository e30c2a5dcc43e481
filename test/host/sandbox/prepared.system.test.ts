/** In a clone, the code of a tool's process is bundled once, and again when it has changed. */
import { execFileSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { prepared } from "../../../host/sandbox/prepared.ts";
import { temporaryFolder } from "../../support/home.ts";

test("a bundle is used until its sources change; then a new one is made, and the old one stays", () => {
  const folder = temporaryFolder();
  const [child, worker, cache] = [join(folder, "child.ts"), join(folder, "worker.ts"), join(folder, "cache")];
  writeFileSync(child, `import { word } from "./worker.ts";\nconsole.log(word satisfies string);`);
  writeFileSync(worker, `export const word: string = "first";`);
  const first = prepared([child, worker], cache);
  expect(run(first)).toBe("first");
  expect(prepared([child, worker], cache)).toBe(first);
  writeFileSync(worker, `export const word: string = "another";`);
  expect(run(prepared([child, worker], cache))).toBe("another");
  expect(run(first)).toBe("first");
  expect(readdirSync(cache)).toHaveLength(3);
});

test("where no bundle can be written the sources run as they are", () => {
  const folder = temporaryFolder();
  const [child, cache] = [join(folder, "child.ts"), join(folder, "cache")];
  writeFileSync(child, "");
  writeFileSync(cache, "not a folder");
  expect(prepared([child], cache)).toBe(child);
});

const run = (file: string) => execFileSync(process.execPath, [file], { encoding: "utf8" }).trim();
