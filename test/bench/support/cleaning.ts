/** What it costs to put an instance back after each call, next to not doing it. */

import type { Pool } from "../../../host/sandbox/pool.ts";
import type { Component } from "../../../host/sandbox/processes.ts";
import { componentizeJsFixture, fixture, toComponent } from "../../support/tools/components.ts";
import { atLeast, compare, type Figure, interleave, type Progress, perSecond } from "./bench.ts";
import { unprotected } from "./variants.ts";

const ROUNDS = 5;
const AT_ONCE = 64;
const MEASURE_MS = 600;
/** Until the engine has optimized the code that both kinds of instances run. */
const WARM_UP_MS = 2000;
const GOAL = 0.85;

const ECHO = JSON.stringify({ text: "x".repeat(100) });
const HEAVY = JSON.stringify({
  text: Array.from({ length: 400 }, (_, id) => ({ id, name: `name ${id}`, tags: ["a", "b", id / 3] })),
});

export async function measureCleaning(pool: Pool, progress: Progress): Promise<Figure[]> {
  const guests = [
    { name: "SpiderMonkey echo", bytes: await componentizeJsFixture("echo.js"), params: ECHO },
    { name: "SpiderMonkey, 20 KB of JSON", bytes: await componentizeJsFixture("echo.js"), params: HEAVY },
    { name: "QuickJS echo", bytes: await fixture("echo.js"), params: ECHO },
  ];
  const figures: Figure[] = [];
  for (const { name, bytes, params } of guests) {
    const clean = toComponent(bytes);
    const contestants: Readonly<Record<string, Component>> = { unprotected: unprotected(clean), clean };
    const call = (component: Component) => async () => {
      const http = async () => ({ ok: false, error: "no network here" }) as const;
      const outcome = await pool.call({ component, params, timeoutMs: 60_000, secrets: [], http });
      if (!outcome.ok) throw new Error(`${outcome.code}: ${outcome.message}`);
    };
    const measures = (millis: number) =>
      Object.fromEntries(
        Object.entries(contestants).map(([which, component]) => [
          which,
          () => perSecond(call(component), { atOnce: AT_ONCE, millis }),
        ]),
      );
    await interleave(measures(WARM_UP_MS), 1, (text) => progress(`${name}, warming up, ${text}`));
    const rates = await interleave(measures(MEASURE_MS), ROUNDS, (text) => progress(`${name}, ${text}`));
    figures.push(
      ...compare(rates, {
        what: name,
        unit: "calls/s",
        baseline: "unprotected",
        goals: { clean: atLeast(GOAL) },
      }),
    );
  }
  return figures;
}
