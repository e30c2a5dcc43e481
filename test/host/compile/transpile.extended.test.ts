import { hash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { inspect } from "../../../host/compile/component.ts";
import { knownOutline, prepare } from "../../../host/compile/transpile.ts";
import { fixture } from "../../support/tools/components.ts";

let cache: string;
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), "postern-cache-"));
});
afterEach(() => rmSync(cache, { recursive: true }));

async function sourceOfOne(memoryMb = 64) {
  const bytes = await fixture("smuggler.wat");
  return {
    sha256: hash("sha256", bytes),
    read: async () => bytes,
    cache: join(cache, "components"),
    memoryMb,
  };
}

async function prepareOne(memoryMb = 64): Promise<readonly string[]> {
  const steps: string[] = [];
  const entry = await prepare({
    ...(await sourceOfOne(memoryMb)),
    onProgress: (step) => steps.push(step),
  });
  expect(entry.modules.length).toBeGreaterThan(0);
  return steps;
}

const entries = () => readdirSync(join(cache, "components"));

test("a component is transpiled once, with progress, and then comes from the cache", async () => {
  expect(await prepareOne()).not.toEqual([]);
  expect(await prepareOne()).toEqual([]);
  expect(entries()).toHaveLength(1);
});

test("another memory limit is another entry", async () => {
  await prepareOne(64);
  expect(await prepareOne(32)).not.toEqual([]);
  expect(entries()).toHaveLength(2);
});

test("installs at the same time leave one sound entry and no drafts", async () => {
  await Promise.all([prepareOne(), prepareOne(), prepareOne()]);
  expect(entries()).toHaveLength(1);
  expect(await prepareOne()).toEqual([]);
});

test.each(["glue.js", "component.core.wasm", "manifest.json"])(
  "a damaged %s is noticed, and the entry made again",
  async (name) => {
    await prepareOne();
    const file = join(cache, "components", entries()[0] ?? "", name);
    const content = readFileSync(file);
    writeFileSync(file, content.subarray(0, content.length / 2));
    expect(await prepareOne()).not.toEqual([]);
    expect(await prepareOne()).toEqual([]);
  },
);

test("what a prepared component imports and exports is known without reading it again, unless that was damaged", async () => {
  const source = await sourceOfOne();
  expect(await knownOutline(source)).toBeUndefined();
  await prepareOne();
  const outline = await knownOutline(source);
  expect(outline).toMatchObject({ wit: expect.stringContaining("postern:tool/tool@") });
  expect(await inspect(await source.read(), outline)).toEqual(await inspect(await source.read()));
  const file = join(cache, "components", entries()[0] ?? "", "outline.json");
  writeFileSync(file, readFileSync(file, "utf8").replace("postern:tool/tool@", "evil:tool/tool@"));
  expect(await knownOutline(source)).toBeUndefined();
});

test("a component that is refused leaves nothing behind", async () => {
  const bytes = await fixture("wrong-types.wit");
  const source = { sha256: hash("sha256", bytes), read: async () => bytes, cache, memoryMb: 64 };
  await expect(prepare(source)).rejects.toMatchObject({ code: "wrong_types" });
  expect(readdirSync(cache)).toEqual([]);
});

test("a component that starts larger than its limit is refused with both sizes", async () => {
  const bytes = await fixture("echo.js");
  const source = { sha256: hash("sha256", bytes), read: async () => bytes, cache, memoryMb: 1 };
  await expect(prepare(source)).rejects.toMatchObject({
    code: "unfit_component",
    message: expect.stringContaining("2 MiB of memory to start, and its limit is 1 MiB"),
  });
});

test("a core module that is not valid is refused before anything of it runs", async () => {
  const bytes = Uint8Array.from(await fixture("smuggler.wat"));
  // local.get and i32.add become local.get and f32.add: as long as before, and of the wrong type.
  const at = bytes.findIndex((byte, index) => byte === 0x6a && bytes[index - 2] === 0x20);
  bytes[at] = 0x92;
  const source = { sha256: hash("sha256", bytes), read: async () => bytes, cache, memoryMb: 64 };
  await expect(prepare(source)).rejects.toMatchObject({ code: "not_a_component" });
});
