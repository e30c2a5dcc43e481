/** Tools cost memory while they are used, not because they are installed. */
import { expect, test } from "vitest";
import { createPool } from "../../../host/sandbox/pool.ts";
import type { Component } from "../../../host/sandbox/processes.ts";
import { heldBytes } from "../../support/memory.ts";
import { childrenBytes } from "../../support/processes/children.ts";
import { fixture, toComponent } from "../../support/tools/components.ts";

const MIB = 2 ** 20;
const ANSWER_BYTES = 20_000;
const MOST = 4;

test("16 tools used one after the other leave only the last few in memory", async () => {
  const echo = toComponent(await fixture("echo.js"));
  const tools: Component[] = Array.from({ length: 16 }, (_, index) => ({
    ...echo,
    key: `${echo.key}-${index}`,
  }));
  const pool = createPool({ size: 1, processes: MOST });
  const use = async (component: Component) => {
    const http = async () => ({ ok: false as const, error: "no network here" });
    const call = { component, params: '{"text":"x"}', timeoutMs: 120_000, secrets: [], http };
    expect(await pool.call(call)).toMatchObject({ ok: true });
  };
  try {
    for (const tool of tools) await use(tool);
    await expect.poll(() => childrenBytes().size).toBeLessThanOrEqual(MOST);
    const held = [...childrenBytes().values()].reduce((sum, bytes) => sum + bytes, 0);
    expect(held).toBeLessThan(MOST * 160 * MIB);
  } finally {
    await pool.close();
  }
});

test("calls leave nothing behind: what is held after hundreds is what was held after one hundred", async () => {
  const component = toComponent(await fixture("echo.js"));
  const pool = createPool({ size: 1 });
  const use = async (calls: number) => {
    const http = async () => ({ ok: true as const, status: 200, body: new Uint8Array(ANSWER_BYTES) });
    for (let count = 0; count < calls; count++) {
      const call = { component, params: '{"url":"https://a"}', timeoutMs: 120_000, secrets: [], http };
      expect(await pool.call(call)).toMatchObject({ ok: true });
    }
  };
  try {
    await use(100);
    const before = heldBytes();
    await use(400);
    // Answers that were kept would be twice as much. Buffers are freed in the background, a moment after the collection.
    await expect.poll(() => heldBytes() - before).toBeLessThan((400 * ANSWER_BYTES) / 2);
  } finally {
    await pool.close();
  }
});

test("a call's memory is free when the next begins: large calls one after the other all have an answer", async () => {
  const component = toComponent(await fixture("echo.js"));
  const pool = createPool({ size: 2 });
  const params = JSON.stringify({ text: "x", ballast: "x".repeat(8 * MIB) });
  const http = async () => ({ ok: false as const, error: "no network here" });
  try {
    for (let count = 0; count < 16; count++) {
      const ended = await pool.call({ component, params, timeoutMs: 120_000, secrets: [], http });
      expect(ended).toMatchObject({ ok: true });
    }
  } finally {
    await pool.close();
  }
});
