/** Tools cost memory while they are used, not because they are installed. */
import { expect, test } from "vitest";
import type { Component } from "../../../host/compile/transpile.ts";
import { createPool } from "../../../host/sandbox/pool.ts";
import { fixture, toComponent } from "../../support/tools/components.ts";

const MIB = 2 ** 20;

test("50 tools used one after the other leave only the last few in memory", async () => {
  const echo = toComponent(await fixture("echo.js"));
  const tools: Component[] = Array.from({ length: 50 }, (_, index) => ({
    ...echo,
    key: `${echo.key}-${index}`,
  }));
  const pool = createPool({ size: 1 });
  const use = async (component: Component) => {
    const http = async () => ({ ok: false as const, error: "no network here" });
    const call = { component, params: '{"text":"x"}', timeoutMs: 25_000, secrets: [], http };
    expect(await pool.call(call)).toMatchObject({ ok: true });
  };
  try {
    for (const tool of tools.slice(0, 10)) await use(tool);
    const few = process.memoryUsage.rss();
    for (const tool of tools) await use(tool);
    // An instance of this tool takes about 3 MiB with its copy, and its compiled code more: 40 would show.
    expect(process.memoryUsage.rss() - few).toBeLessThan(80 * MIB);
  } finally {
    await pool.close();
  }
}, 120_000);

test("calls leave nothing behind: the heap after a thousand is the heap after a hundred", async () => {
  const component = toComponent(await fixture("echo.js"));
  const pool = createPool({ size: 1 });
  const use = async (calls: number) => {
    const http = async () => ({ ok: true as const, status: 200, body: new Uint8Array(1000) });
    for (let count = 0; count < calls; count++) {
      const call = { component, params: '{"url":"https://a"}', timeoutMs: 25_000, secrets: [], http };
      expect(await pool.call(call)).toMatchObject({ ok: true });
    }
    globalThis.gc?.();
    return process.memoryUsage().heapUsed;
  };
  try {
    const before = await use(100);
    expect((await use(1000)) - before).toBeLessThan(20 * MIB);
  } finally {
    await pool.close();
  }
}, 120_000);
