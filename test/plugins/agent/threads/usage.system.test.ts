/** Turns counted over time, on both engines. */
import { expect, test } from "vitest";
import { MIGRATIONS } from "../../../../plugins/agent/threads/tables.ts";
import { createThreads } from "../../../../plugins/agent/threads/threads.ts";
import { describeEngines } from "../../../support/processes/engines.ts";

interface Row {
  readonly at: string;
  readonly user: string;
  readonly model: string;
  readonly status?: string;
  readonly millis?: number;
}

const SPANS = [
  { since: "2026-03-01T00:00:00.000Z", until: "2026-03-02T00:00:00.000Z" },
  { since: "2026-03-02T00:00:00.000Z", until: "2026-03-03T00:00:00.000Z" },
];

describeEngines("usage", (_engine, fresh) => {
  test("is summed by span and by group, for one user or for all, with the latency of what came to an end", async () => {
    const place = await fresh();
    const store = await place.open();
    const sql = await store.tables("agent", MIGRATIONS);
    const add = (rows: readonly Row[]) =>
      Promise.all(
        rows.map(({ at, user, model, status = "completed", millis = 100 }, index) =>
          sql.run(
            `INSERT INTO turn_figures (created_at, turn, seq, "user", channel, status, provider, model, input_tokens, output_tokens,
               usd, millis) VALUES (?, ?, ?, ?, 'gateway', ?, 'p', ?, 10, 5, 0.25, ?)`,
            at,
            `${index}`,
            index,
            user,
            status,
            model,
            millis,
          ),
        ),
      );
    await add([
      { at: "2026-02-28T23:59:59.999Z", user: "ann", model: "a" },
      { at: "2026-03-01T00:00:00.000Z", user: "ann", model: "a", millis: 10 },
      { at: "2026-03-01T23:59:59.999Z", user: "ann", model: "a", millis: 30 },
      { at: "2026-03-02T12:00:00.000Z", user: "ann", model: "b", status: "failed", millis: 9999 },
      { at: "2026-03-02T13:00:00.000Z", user: "bob", model: "b", millis: 50 },
      { at: "2026-03-03T00:00:00.000Z", user: "bob", model: "b" },
    ]);
    const choose = async () => ({ provider: "p", name: "a" });
    const { usage: turns } = createThreads(sql, { store, onRemove: () => {}, choose });
    const each = { failed: 0, inputTokens: 20, outputTokens: 10, usd: 0.5 };
    expect(await turns({ spans: SPANS, by: "model" })).toEqual({
      total: { count: 4, failed: 1, inputTokens: 40, outputTokens: 20, usd: 1, p50: 30, p95: 50 },
      points: [
        { at: SPANS[0]?.since, ...each, count: 2, p50: 10, p95: 30 },
        { at: SPANS[1]?.since, ...each, count: 2, failed: 1, p50: 50, p95: 50 },
      ],
      groups: [
        {
          name: "p/a",
          ...each,
          count: 2,
          p50: 10,
          p95: 30,
          points: [{ at: SPANS[0]?.since, ...each, count: 2 }],
        },
        {
          ...{ name: "p/b", ...each, count: 2, failed: 1, p50: 50, p95: 50 },
          points: [{ at: SPANS[1]?.since, ...each, count: 2, failed: 1 }],
        },
      ],
    });
    const anns = await turns({ spans: SPANS, by: "user", user: "ann" });
    expect([anns.total.count, anns.groups.map(({ name }) => name)]).toEqual([3, ["ann"]]);
    expect((await turns({ spans: SPANS, by: "tool" })).groups).toEqual([]);
    expect((await turns({ spans: SPANS, user: "nobody" })).total).toMatchObject({ count: 0, usd: 0 });
  });
});
