import { parse } from "@bytecodealliance/jco";
import { describe, expect, test } from "vitest";
import { countState, fitModule, MAX_TABLE_ENTRIES } from "../../../host/wasm/core-module.ts";
import { PRIVATE } from "../../../host/wasm/private-names.ts";

const bound = async (wat: string, pages = 16) =>
  fitModule(await parse(wat), { pages, tableEntries: MAX_TABLE_ENTRIES });

async function exportsOf(wat: string, maxPages = 16): Promise<Readonly<Record<string, unknown>>> {
  const { bytes } = await bound(wat, maxPages);
  return new WebAssembly.Instance(await WebAssembly.compile(new Uint8Array(bytes))).exports;
}

describe("the memory limit", () => {
  const GROW = '(func (export "grow") (param i32) (result i32) (memory.grow (local.get 0)))';

  test.each([
    ["without a maximum", "(memory 1)"],
    ["with a larger maximum", "(memory 1 1000)"],
  ])("a memory %s cannot grow past the limit", async (_which, memory) => {
    const { grow } = (await exportsOf(`(module ${memory} ${GROW})`)) as { grow(pages: number): number };
    expect(grow(15)).toBe(1);
    expect(grow(1)).toBe(-1);
  });

  test("a smaller maximum of the module's own stays", async () => {
    const { grow } = (await exportsOf(`(module (memory 1 3) ${GROW})`)) as { grow(pages: number): number };
    expect(grow(3)).toBe(-1);
  });

  test("a memory that starts larger than the limit is refused, with both sizes", async () => {
    await expect(bound("(module (memory 32))")).rejects.toThrow(
      "2 MiB of memory to start, and its limit is 1 MiB",
    );
  });

  test("64-bit and shared memories are refused", async () => {
    await expect(bound("(module (memory i64 1))")).rejects.toThrow("not supported");
    await expect(bound("(module (memory 1 2 shared))")).rejects.toThrow("not supported");
    await expect(bound('(module (import "m" "m" (memory 1 2 shared)))')).rejects.toThrow("not supported");
  });

  test("an empty memory stays empty and takes no share of the limit", async () => {
    expect(countState(await parse("(module (memory 0))")).memories).toBe(0);
    const { grow } = (await exportsOf(`(module (memory 0) ${GROW})`)) as { grow(pages: number): number };
    expect(grow(1)).toBe(-1);
  });

  test("a table is bounded too", async () => {
    const { grow } = (await exportsOf(
      '(module (table $t 1 funcref) (func (export "grow") (param i32) (result i32) (table.grow $t (ref.null func) (local.get 0))))',
    )) as { grow(entries: number): number };
    expect(grow(2_000_000)).toBe(-1);
    await expect(bound("(module (table 2000000 funcref))")).rejects.toThrow("2000000 entries");
  });
});

test.each([
  "(type (array (mut i8)))",
  "(type (struct (field (mut i32))))",
  "(type (func)) (rec (type (struct)) (type (func)))",
  "(type (func (param (ref null func) i32) (result i64))) (type (sub (struct)))",
])("objects on the host's heap are refused, since no limit bounds them: %s", async (types) => {
  await expect(bound(`(module ${types})`)).rejects.toThrow("garbage-collected");
});

describe("what a call can change", () => {
  test("hidden memories and numeric globals are shown under private names", async () => {
    const shown = await exportsOf(
      "(module (memory 1) (global i32 (i32.const 1)) (global (mut i32) (i32.const 2)) (global (mut f64) (f64.const 3)))",
    );
    expect(Object.keys(shown)).toEqual([`${PRIVATE}memory-0`, `${PRIVATE}global-1`, `${PRIVATE}global-2`]);
  });

  test.each([
    ["table.set", "(table $t 1 funcref) (func (table.set $t (i32.const 0) (ref.null func)))"],
    ["table.grow", "(table $t 1 funcref) (func (drop (table.grow $t (ref.null func) (i32.const 1))))"],
    ["table.copy", "(table 2 funcref) (func (table.copy (i32.const 0) (i32.const 1) (i32.const 1)))"],
    ["table.fill", "(table $t 2 funcref) (func (table.fill $t (i32.const 0) (ref.null func) (i32.const 1)))"],
    ["data.drop", '(memory 1) (data $d "x") (func (data.drop $d))'],
    ["elem.drop", "(table 1 funcref) (elem $e func 0) (func (elem.drop $e))"],
    ["a vector global", "(global (mut v128) (v128.const i64x2 0 0))"],
    ["a reference global", "(global (mut funcref) (ref.null func))"],
  ])("a module with %s is not put back but opened anew", async (_which, fields) => {
    expect((await bound(`(module ${fields})`)).keeps).not.toEqual([]);
  });

  test("every ordinary instruction is stepped over exactly", async () => {
    const { keeps } = await bound(`(module
      (type $t (func (param i32) (result i32)))
      (memory 1) (table 1 funcref) (tag $e (param i32)) (global $g (mut i64) (i64.const 38))
      (data $d "x")
      (func $f (type $t)
        (local v128 f32 f64 funcref)
        (block $a (block $b (br_table $a $b (i32.const 38))))
        (local.set 1 (v128.const i32x4 38 38 38 38))
        (local.set 1 (i8x16.shuffle 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 (local.get 1) (local.get 1)))
        (local.set 1 (v128.load32_lane offset=38 1 (i32.const 0) (local.get 1)))
        (local.set 1 (i32x4.replace_lane 2 (local.get 1) (i32.const 38)))
        (local.set 2 (f32.const 38.5)) (local.set 3 (f64.const 38.5))
        (local.set 4 (ref.func $f))
        (global.set $g (i64.const -3838383838))
        (memory.fill (i32.const 0) (i32.const 38) (i32.const 1))
        (memory.copy (i32.const 0) (i32.const 38) (i32.const 1))
        (memory.init $d (i32.const 0) (i32.const 0) (i32.const 1))
        (i32.store offset=3838 align=1 (i32.const 38) (i32.trunc_sat_f64_u (local.get 3)))
        (block $h (result i32) (try_table (result i32) (catch $e $h) (throw $e (i32.const 38))))
        drop
        (drop (select (result i32) (i32.const 38) (i32.const 1) (i32.const 1)))
        (if (result i32) (i32.const 1) (then (call_indirect (type $t) (i32.const 38) (i32.const 0))) (else (return_call $f (i32.const 38)))))
      (elem declare func $f))`);
    expect(keeps).toEqual([]);
  });

  test("names that could break out of generated code, or that are ours, are refused", async () => {
    for (const name of ["a\\27b", "a\\22b", "a\\5cb", "a\\0ab", "a`b", `${PRIVATE}memory-0`]) {
      await expect(bound(`(module (func (export "${name}")))`)).rejects.toThrow("which is not allowed");
      await expect(bound(`(module (import "${name}" "x" (func)))`)).rejects.toThrow("which is not allowed");
    }
  });
});
