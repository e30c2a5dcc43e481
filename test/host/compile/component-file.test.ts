/** Components as the published package has them: compressed. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { MAX_COMPONENT_BYTES } from "../../../host/compile/capabilities-section.ts";
import { findComponentFile, readComponentFile } from "../../../host/compile/component-file.ts";
import { fileSource } from "../../../host/sources/local.ts";
import { temporaryFolder } from "../../support/home.ts";

test("a component is read from its file, or from the compressed one where that is all there is", async () => {
  const wasm = join(temporaryFolder(), "hello.wasm");
  expect(findComponentFile(wasm)).toBeUndefined();
  await expect(readComponentFile(wasm)).rejects.toThrow(`no such file or directory, open '${wasm}'`);
  writeFileSync(`${wasm}.gz`, gzipSync("packed"));
  expect(String(await readComponentFile(wasm))).toBe("packed");
  writeFileSync(wasm, "built");
  expect(findComponentFile(wasm)).toBe(wasm);
  expect(String(await readComponentFile(wasm))).toBe("built");
});

test("one that is damaged, or larger than any component may be, is refused and not held in memory", async () => {
  const path = join(temporaryFolder(), "large.wasm");
  const install = () =>
    fileSource.fetch({ kind: "file", path }, { progress: () => {}, capabilitiesText: "{}" });
  writeFileSync(`${path}.gz`, gzipSync(Buffer.alloc(MAX_COMPONENT_BYTES + 1)));
  await expect(install()).rejects.toThrow(`${path} cannot be read: Cannot create a Buffer larger than`);
  writeFileSync(`${path}.gz`, gzipSync("packed").subarray(0, 10));
  await expect(install()).rejects.toThrow(`${path} cannot be read: unexpected end of file`);
});
