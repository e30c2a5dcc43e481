/** Nothing a call wrote can be seen by the next, whichever way it was written. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPool, type Pool } from "../../../host/sandbox/pool.ts";
import { componentizeJsFixture, fixture, toComponent } from "../../support/tools/components.ts";

let pool: Pool;
beforeAll(() => {
  // One worker: the next call surely meets what the last one left.
  pool = createPool({ size: 1 });
});
afterAll(() => pool.close());

async function outputs(bytes: Uint8Array, params: string, count: number): Promise<unknown[]> {
  const component = toComponent(bytes);
  const found: unknown[] = [];
  for (let call = 0; call < count; call++) {
    const outcome = await pool.call({
      component,
      params,
      timeoutMs: 120_000,
      secrets: [],
      http: async () => ({ ok: false, error: "no network here" }),
    });
    expect(outcome).toMatchObject({ ok: true });
    if (outcome.ok) found.push(JSON.parse(outcome.output));
  }
  return found;
}

const CLEAN = { seen: [], count: 0, polluted: null, grown: null };

describe("every call starts from a clean instance", () => {
  test("a script's variables, globals and prototypes: QuickJS", async () => {
    expect(await outputs(await fixture("smuggler.js"), '"secret of a user"', 3)).toEqual([
      CLEAN,
      CLEAN,
      CLEAN,
    ]);
  });

  test("a script's variables, globals and prototypes: componentize-js", async () => {
    const bytes = await componentizeJsFixture("smuggler.js");
    expect(await outputs(bytes, '"secret of a user"', 3)).toEqual([CLEAN, CLEAN, CLEAN]);
  });

  test.each([
    ["a hidden integer global", '"g"'],
    ["a hidden 64-bit global", '"l"'],
    ["a hidden float global", '"f"'],
    ["the last byte of memory", '"b"'],
    ["the size of memory", '"m"'],
    ["the number of the next handle", '"h"'],
  ])("%s", async (_which, params) => {
    const found = await outputs(await fixture("smuggler.wat"), params, 4);
    expect(found).toEqual(Array(4).fill("0000000000"));
  });

  test.each([
    ["a table entry", '"e"'],
    ["a table's length", '"l"'],
    ["a dropped segment", '"d"'],
  ])("%s", async (_which, params) => {
    expect(await outputs(await fixture("table-smuggler.wat"), params, 3)).toEqual([0, 0, 0]);
  });

  test("a component that starts is told of no secret and sends no request", async () => {
    const component = toComponent(await fixture("eager.js"));
    const asked: unknown[] = [];
    const outcome = await pool.call({
      component,
      params: "{}",
      timeoutMs: 120_000,
      secrets: ["token"],
      http: async (request) => {
        asked.push(request);
        return { ok: true, status: 200, body: new Uint8Array() };
      },
    });
    const learnt = {
      secret: false,
      reply: null,
      refused: "a component cannot send requests while it starts",
    };
    expect(outcome).toMatchObject({ ok: true, output: JSON.stringify(learnt) });
    expect(asked).toEqual([]);
  });

  test("time goes on and randomness differs from call to call", async () => {
    const bytes = await componentizeJsFixture("clock.js");
    const found = (await outputs(bytes, "{}", 3)) as { now: number; random: number }[];
    expect(new Set(found.map(({ random }) => random)).size).toBe(3);
    for (const { now } of found) expect(Math.abs(now - Date.now())).toBeLessThan(60_000);
  });
});
