/** `postern/tool-host` from the packed package, in projects outside of the clone: its README's example, CommonJS and a bundle. */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { installPacked } from "../../support/processes/packed.ts";

const PAGE = readFileSync(new URL("../../../host/library/README.md", import.meta.url), "utf8");
const [, EXAMPLE = ""] = /```js\n\/\/ file: example\.mjs\n([\s\S]*?)```/.exec(PAGE) ?? [];
const OUTPUT = /^\{.*42\.16.*\}\n\[ 'convert' \]\n$/;

test("the README's example, a CommonJS program and a bundle run from the packed package and end by themselves", async () => {
  const { folder } = await installPacked();
  const run = async (name: string) =>
    (await promisify(execFile)(process.execPath, [name], { cwd: folder, env: {} })).stdout;

  writeFileSync(join(folder, "example.mjs"), EXAMPLE);
  expect(await run("example.mjs")).toMatch(OUTPUT);

  const inFunction = EXAMPLE.replace(/import (.*) from (".*");/, "const $1 = require($2);");
  writeFileSync(join(folder, "example.cjs"), `(async () => {${inFunction}})();`);
  expect(await run("example.cjs")).toMatch(OUTPUT);

  await build({
    entryPoints: [join(folder, "example.mjs")],
    outfile: join(folder, "bundle.mjs"),
    ...{ bundle: true, platform: "node", format: "esm", external: ["postern"] },
  });
  expect(await run("bundle.mjs")).toMatch(OUTPUT);

  const loaded = `const before = process.moduleLoadList.length;
    await import("postern/tool-host");
    console.log(process.moduleLoadList.slice(before).join());`;
  writeFileSync(join(folder, "loaded.mjs"), loaded);
  // The network, SQLite and processes come with the first host.
  expect(await run("loaded.mjs")).not.toMatch(/sqlite|child_process|undici|NativeModule net\b/);
});
