/** Asynchronous components: `execute` is an `async func` of the component model. */
import { expect, test } from "vitest";
import { inspect, transpile } from "../../../host/compile/component.ts";
import { createPool } from "../../../host/sandbox/pool.ts";
import { fixture, toComponent } from "../../support/tools/components.ts";
import { afterThisTest } from "../../support/undo.ts";

test("one whose execute is async answers, alone and side by side, and no call sees another", async () => {
  const bytes = await fixture("async.js");
  expect((await inspect(bytes)).exports).toContain("postern:tool/tool@0.1.0");
  expect((await transpile(bytes, 64)).plain).toBe(false);
  const pool = createPool({ size: 1 });
  afterThisTest(() => pool.close());
  const component = toComponent(bytes);
  const asked = Promise.withResolvers<void>();
  let waiting = 0;
  const call = async (params: object, timeoutMs = 60_000) => {
    const http = async () => {
      // All of them have asked before one is answered.
      if (++waiting === 4) asked.resolve();
      await asked.promise;
      return { ok: true, status: 204, headers: [], body: new Uint8Array() } as const;
    };
    const outcome = await pool.call({
      component,
      params: JSON.stringify(params),
      timeoutMs,
      secrets: [],
      http,
    });
    return outcome.ok ? JSON.parse(outcome.output) : outcome;
  };
  expect(await call({})).toEqual({ calls: 1 });
  expect(await call({})).toEqual({ calls: 1 });
  const url = "https://a.test/";
  const together = await Promise.all([1, 2, 3, 4].map(() => call({ url })));
  expect(together).toEqual(Array(4).fill({ calls: 1, status: 204 }));
  expect(await call({ wrong: true })).toMatchObject({ ok: false, code: "threw" });
  expect(await call({})).toEqual({ calls: 1 });
  expect(await call({ never: true })).toMatchObject({
    ok: false,
    code: "trap",
    message: expect.stringContaining("exited without resolution"),
  });
  expect(await call({})).toEqual({ calls: 1 });
});
