/** Modules that mark what they write: they compute what they computed before, and everything they write is found. */

import { compileFunction } from "node:vm";
import { parse } from "@bytecodealliance/jco";
import { describe, expect, test } from "vitest";
import { findMemories } from "../../../host/sandbox/inside/memory-copy.ts";
import { markModules } from "../../../host/wasm/marking/module.ts";
import { MARKS, PRIVATE } from "../../../host/wasm/marking/names.ts";
import { MARKED_VIEWS } from "../../../host/wasm/marking/views.ts";
import { held, keptMemories, marked, open } from "../../support/marked-module.ts";

describe("what is not rewritten", () => {
  test.each([
    ["a module without memory", '(module (func (export "run")))'],
    [
      "a module that only reads",
      '(module (memory 1 1) (func (export "run") (drop (i32.load (i32.const 0)))))',
    ],
  ])("%s stays as it is", async (_which, wat) => {
    const module = await parse(wat);
    expect(marked(module)).toBe(module);
  });

  test.each([
    ["atomic writes", "(memory 1 1)", "(i32.atomic.store (i32.const 0) (i32.const 1))"],
    [
      "writes to a second memory",
      "(memory 1 1) (memory $b 1 1)",
      "(i32.store $b (i32.const 0) (i32.const 1))",
    ],
    ["a memory as large as addresses reach", "(memory 1 65536)", "(i32.store (i32.const 0) (i32.const 1))"],
  ])("a module with %s leaves its component to be compared", async (_which, memory, code) => {
    const module = await parse(`(module ${memory} (func ${code}))`);
    const other = await parse("(module (memory 1 1) (func (i32.store (i32.const 0) (i32.const 1))))");
    expect(
      markModules([
        ["other", other],
        ["module", module],
      ]),
    ).toBeUndefined();
  });
});

describe("marks", () => {
  test("one stands for all the stores near it", async () => {
    const stores = Array.from(
      { length: 100 },
      (_, at) => `(i64.store offset=${at * 8} (local.get 0) (i64.const 1))`,
    );
    const near = await parse(`(module (memory 1 1) (func (export "run") (param i32) ${stores.join("")}))`);
    expect(marked(near).length - near.length).toBeLessThan(200);
  });

  test("a store that crosses a page, at the end of one or of the memory, is found", async () => {
    const module = await parse(`(module (memory (export "memory") 1 1)
      (func (export "run") (param i32 i32) (result i32) (i64.store (local.get 0) (i64.const -1)) (local.get 1)))`);
    const exports = open(marked(module));
    const copy = keptMemories([{ exports }]);
    for (const at of [0, 1017, 1020, 1023, 4093, 65_528]) {
      exports.run(at, 0);
      expect(held(exports.memory).some((byte) => byte !== 0)).toBe(true);
      expect(copy.restore()).toBe(true);
      expect(held(exports.memory).every((byte) => byte === 0)).toBe(true);
    }
  });

  test("what the host wrote after memory grew by nothing is found by comparing", async () => {
    const module = await parse(`(module (memory (export "memory") 1 2)
      (func (export "run") (param i32 i32) (result i32)
        (i32.store (i32.const 8) (i32.const 1)) (memory.grow (local.get 0))))`);
    const exports = open(marked(module));
    const copy = keptMemories([{ exports }]);
    for (let call = 0; call < 2; call++) {
      exports.run(0, 0);
      Buffer.from(exports.memory.buffer).fill(1, 9000, 9010);
      expect(copy.restore()).toBe(true);
      expect(held(exports.memory).every((byte) => byte === 0)).toBe(true);
    }
    exports.run(1, 0);
    expect(copy.restore()).toBe(false);
  });

  test("the glue's own writes are found", async () => {
    const module = await parse(`(module (memory (export "memory") 1 1)
      (func (export "run") (i32.store (i32.const 0) (i32.const 0))))`);
    const exports = open(marked(module));
    const copy = keptMemories([{ exports }]);
    const write = compileFunction(
      `${MARKED_VIEWS}
      const view = new DataView(memory.buffer);
      view.setBigUint64(1020, 1n, true);
      view.setFloat64(65528, 1);
      view.setInt8(5000, 1);
      new TextEncoder().encodeInto("text", new Uint8Array(memory.buffer, 9214, 4));
      new Uint16Array(memory.buffer, 20000, 3000).fill(7).subarray(5).set([1]);
      return new Uint8Array([1, 2]) instanceof Uint8Array && new globalThis.Uint8Array(1) instanceof Uint8Array;`,
      ["memory"],
    );
    expect(write(exports.memory)).toBe(true);
    expect(held(exports.memory).some((byte) => byte !== 0)).toBe(true);
    expect(copy.restore()).toBe(true);
    expect(held(exports.memory).every((byte) => byte === 0)).toBe(true);
  });

  test("they are not counted as the guest's memory", async () => {
    const module = await parse("(module (memory 1 1) (func (i32.store (i32.const 0) (i32.const 1))))");
    const exports = open<Record<string, WebAssembly.Memory>>(marked(module));
    expect(exports[PRIVATE + MARKS]).toBeInstanceOf(WebAssembly.Memory);
    expect(findMemories([{ exports }]).bytes()).toBe(65_536);
  });
});
