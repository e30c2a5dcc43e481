/** Components as Postern brings them: compressed. */
import { appendFileSync, copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { zstdCompress } from "node:zlib";
import { expect, test } from "vitest";
import { MAX_COMPONENT_BYTES } from "../../../host/compile/capabilities-section.ts";
import { COMPONENTS, findComponentFile, readComponentFile } from "../../../host/compile/component-file.ts";
import { fileSource } from "../../../host/sources/local.ts";
import { temporaryFolder } from "../../support/home.ts";
import { afterThisTest } from "../../support/undo.ts";

/** A place for a component of ours. */
function ours(name: string): string {
  const wasm = join(COMPONENTS, "convert", "dist", `${name}-${process.pid}.wasm`);
  afterThisTest(() => rmSync(`${wasm}.zst`, { force: true }));
  return wasm;
}

test("a component is read from its file, and ours from the compressed one, whatever lies where it was built", async () => {
  const wasm = join(temporaryFolder(), "hello.wasm");
  expect(findComponentFile(wasm)).toBeUndefined();
  await expect(readComponentFile(wasm)).rejects.toThrow(`no such file or directory, open '${wasm}'`);
  writeFileSync(wasm, "built");
  writeFileSync(`${wasm}.zst`, "something else");
  expect(findComponentFile(wasm)).toBe(wasm);
  expect(String(await readComponentFile(wasm))).toBe("built");
  const own = ours("small");
  const packed = join(COMPONENTS, "convert", "dist", "convert.wasm");
  copyFileSync(`${packed}.zst`, `${own}.zst`);
  expect(findComponentFile(own)).toBe(`${own}.zst`);
  expect((await readComponentFile(own)).subarray(0, 4)).toEqual(Buffer.from("\0asm"));
});

test("one that is damaged, or larger than any component may be, is refused and not held in memory", async () => {
  const path = ours("large");
  const install = () =>
    fileSource.fetch({ kind: "file", path }, { progress: () => {}, capabilitiesText: "{}" });
  writeFileSync(`${path}.zst`, await promisify(zstdCompress)(Buffer.alloc(MAX_COMPONENT_BYTES + 1)));
  await expect(install()).rejects.toThrow(`${path} cannot be read: Cannot create a Buffer larger than`);
  const whole = readFileSync(join(COMPONENTS, "convert", "dist", "convert.wasm.zst"));
  writeFileSync(`${path}.zst`, whole.subarray(0, -10));
  await expect(install()).rejects.toThrow(`${path} cannot be read`);
  appendFileSync(`${path}.zst`, Buffer.alloc(10));
  await expect(install()).rejects.toThrow(`${path} cannot be read`);
});
