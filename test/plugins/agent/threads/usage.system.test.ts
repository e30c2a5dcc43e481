/** Turns counted over time, on both engines. */
import { expect, test } from "vitest";
import type { Gate } from "../../../../kernel/plugin.ts";
import { countAnswer, readAnswers } from "../../../../plugins/agent/threads/answered-questions.ts";
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

  test("keeps the newest 500 answers of a user, in the time that is asked for", async () => {
    const place = await fresh();
    const store = await place.open();
    const sql = await store.tables("agent", MIGRATIONS);
    const timeOf = (at: number) => new Date(Date.parse("2026-03-01T00:00:00Z") + at * 1000).toISOString();
    const answer = (user: string, at: number, decision: "once" | "deny", lookedMs?: number) =>
      sql.transaction(async (tx) => {
        const gate = gateAt(`${user}${at}`, timeOf(at - 60));
        const input = { type: "approval", gate: gate.id, decision, lookedMs } as const;
        countAnswer(tx, { user, channel: "test", input }, gate, timeOf(at));
        countAnswer(tx, { user, channel: "test", input }, gate, timeOf(at));
      });
    for (let at = 1; at <= 510; at++) await answer("ann", at, at % 2 === 0 ? "once" : "deny", at);
    await answer("bob", 1, "once");
    const ever = { since: timeOf(0), until: timeOf(1000) };
    expect(await readAnswers(sql, "ann", ever)).toEqual({ count: 500, yes: 250, p50: 260, isHasty: false });
    expect(await readAnswers(sql, "ann", { since: timeOf(501), until: timeOf(505) })).toEqual({
      ...{ count: 4, yes: 2, p50: 502, isHasty: false },
    });
    // Where nobody says how long it was shown, it was shown since it was asked.
    expect(await readAnswers(sql, "bob", ever)).toEqual({ count: 1, yes: 1, p50: 60_000, isHasty: false });
    expect(await readAnswers(sql, "eve", ever)).toEqual({ count: 0, yes: 0, p50: undefined, isHasty: false });
  });
});

function gateAt(id: string, openedAt: string): Gate {
  const call = { id: "c", name: "mail", params: "{}" };
  return { type: "approval", id, turn: "t", thread: "t", openedAt, call, grants: [] };
}
