/** Asynchronous components made by hand, whose callbacks are not what the component model wants. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { componentEmbed, componentNew, parse, print } from "@bytecodealliance/jco";
import { expect, test } from "vitest";
import { transpile } from "../../../host/compile/component.ts";
import { createPool } from "../../../host/sandbox/pool.ts";
import { ROOT } from "../../support/clone.ts";
import { toComponent } from "../../support/tools/components.ts";
import { afterThisTest } from "../../support/undo.ts";

/** `execute` and its callback answer this code instead of one of those that there are. */
async function answering(code: number): Promise<Uint8Array> {
  const contract = readFileSync(join(ROOT, "wit", "tool.wit"), "utf8");
  const witSource = `${contract.replace("execute: func", "execute: async func")}\nworld fixture { export tool; }`;
  const tool = "postern:tool/tool@0.1.0";
  const binary = await parse(`(module
    (import "[export]${tool}" "[task-return]execute" (func (param i32 i32 i32 i32 i32 i32)))
    (memory (export "memory") 1)
    (data (i32.const 8) "\\10\\00\\00\\00\\02\\00\\00\\00{}")
    (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024))
    (func (export "[async-lift]${tool}#execute") (param i32 i32) (result i32) (i32.const ${code}))
    (func $callback (export "[callback][async-lift]${tool}#execute") (param i32 i32 i32) (result i32) (i32.const ${code}))
    (func (export "${tool}#schema") (result i32) (i32.const 8))
    (func (export "${tool}#description") (result i32) (i32.const 8)))`);
  return componentNew(await componentEmbed({ binary, witSource, world: "fixture" }), []);
}

test("a callback of the wrong type is refused before anything runs", async () => {
  const text = await print(await answering(0));
  const wrong = text.replace(
    /(\(func \$callback \(;\d+;\)) \(type \d+\) \(param i32 i32 i32\)/,
    "$1 (param i32 i64 i32)",
  );
  expect(wrong).not.toBe(text);
  await expect(transpile(await parse(wrong), 64)).rejects.toMatchObject({
    code: "not_a_component",
    message: expect.stringContaining("`callback` uses a core function with an incorrect signature"),
  });
});

test("one that answers a code that does not exist, waits for nothing or ends without an answer is a trap", async () => {
  const pool = createPool({ size: 1 });
  afterThisTest(() => pool.close());
  const [EXIT, NO_CODE, WAIT_FOR_NOTHING] = [0, 0x7fffffff, (99 << 4) | 2];
  for (const code of [EXIT, NO_CODE, WAIT_FOR_NOTHING]) {
    const component = toComponent(await answering(code));
    const call = { component, params: "{}", timeoutMs: 60_000, secrets: [] };
    expect(await pool.call({ ...call, http: async () => ({ ok: false, error: "" }) })).toMatchObject({
      ok: false,
      code: "trap",
    });
  }
});
