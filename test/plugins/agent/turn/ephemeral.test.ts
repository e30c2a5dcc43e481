/** Turns of which nothing is left when they end. */
import { expect, test } from "vitest";
import type { TurnEvent } from "../../../../kernel/plugin.ts";
import type { Turn } from "../../../../plugins/agent/services.ts";
import { MIGRATIONS } from "../../../../plugins/agent/threads/tables.ts";
import {
  type AgentOptions,
  bootAgent,
  eventsOf,
  message,
  scriptedModel,
  textIn,
} from "../../../support/services/agent.ts";

const TURN: Turn = { user: "ann", channel: "test", input: message("A riddle"), keeping: { ephemeral: true } };

async function start(options: AgentOptions = {}) {
  const model = await scriptedModel();
  const kernel = await bootAgent({ model, ...options });
  const sql = await kernel.service("store").tables("agent", MIGRATIONS);
  const left = async () => {
    const tables = ["threads", "turns", "turn_items", "turn_pieces", "thread_texts"];
    const counts = await Promise.all(
      tables.map((table) => sql.get<{ count: number }>(`SELECT count(*) AS count FROM ${table}`)),
    );
    return counts.map((row) => row?.count);
  };
  return { model, kernel, sql, left, agent: kernel.service("agent"), threads: kernel.service("threads") };
}

const NOTHING = [0, 0, 0, 0, 0];

test("a turn that leaves nothing behind is told whole, and its spending stays", async () => {
  const { model, sql, left, agent } = await start({ variables: { MODEL_NAME: "gpt-4o" } });
  model.script({ text: ["An ", "answer."], usage: { input: 1000, output: 100 } });
  const history = [
    { type: "message", id: "", role: "user", text: "Before" },
    { type: "message", id: "", role: "assistant", text: "Yes" },
  ] as const;
  const turn = await agent.run({ ...TURN, preamble: { history } });
  const events = await eventsOf(turn);
  expect(textIn(events)).toBe("An answer.");
  const record = await turn.record;
  expect(record).toMatchObject({
    status: "completed",
    items: [{ text: "A riddle" }, { text: "An answer." }],
  });
  expect(events.at(-1)).toEqual({ type: "done", status: "completed", record });
  expect(await left()).toEqual(NOTHING);
  expect(await sql.all("SELECT usd > 0 AS spent FROM spending")).toHaveLength(1);
});

test("while it runs it is neither listed, found, read nor shown to who watches, and cannot be continued", async () => {
  const { model, agent, threads, left } = await start();
  const { promise: held, resolve: answer } = Promise.withResolvers<string>();
  model.script({ text: ["Let me ", held] });
  const seen: TurnEvent[] = [];
  const unwatch = agent.watch("ann", (event) => seen.push(event));
  const turn = await agent.run(TURN);
  expect(await threads.list("ann")).toEqual({ items: [] });
  expect(await threads.list("ann", { q: "riddle" })).toEqual({ items: [] });
  expect(await threads.find("ann", turn.thread)).toBeUndefined();
  expect(await threads.turn("ann", turn.id)).toBeUndefined();
  await expect(threads.turns("ann", turn.thread)).rejects.toMatchObject({ code: "thread_not_found" });
  const { keeping: _, ...next } = TURN;
  await expect(agent.run({ ...next, thread: turn.thread })).rejects.toMatchObject({
    code: "thread_not_found",
  });
  answer("see.");
  expect((await turn.record).status).toBe("completed");
  expect(seen).toEqual([]);
  unwatch();
  expect(await left()).toEqual(NOTHING);
});

test("nothing is left of one that waits for the caller, fails or is cancelled", async () => {
  const { model, agent, left } = await start();
  model.script({ calls: [{ id: "call_1", name: "find", arguments: {} }] });
  const waiting = await (await agent.run({ ...TURN, answer: { tools: [{ name: "find" }] } })).record;
  expect(waiting).toMatchObject({
    status: "waiting",
    gate: { type: "external_tool", call: { id: "call_1" } },
  });
  expect(await left()).toEqual(NOTHING);
  model.script({ status: 400 });
  expect((await (await agent.run(TURN)).record).status).toBe("failed");
  expect(await left()).toEqual(NOTHING);
  model.script({ text: "Well", end: "stall" });
  const turn = await agent.run(TURN);
  await expect.poll(() => model.requests.length).toBe(3);
  expect(await agent.cancel("ann", turn.id)).toBe(true);
  expect((await turn.record).status).toBe("cancelled");
  expect(await left()).toEqual(NOTHING);
});

test("where it would have to ask a person it fails and says what to do", async () => {
  const { model, agent, left, kernel } = await start({
    tools: { mailer: { writes: true, run: () => ({ status: "ok", output: "sent" }) } },
  });
  model.script({ calls: [{ id: "call_1", name: "mailer", arguments: {} }] });
  const record = await (await agent.run(TURN)).record;
  expect(record).toMatchObject({
    status: "failed",
    error: { code: "approval_required", message: expect.stringContaining("store: true") },
  });
  expect(record.gate).toBeUndefined();
  expect(await kernel.service("approvals").pending("ann")).toEqual([]);
  expect(await left()).toEqual(NOTHING);
});

test("it needs a thread of its own", async () => {
  const { agent } = await start();
  const { keeping: _, ...kept } = TURN;
  const { thread, record } = await agent.run(kept);
  await record;
  await expect(agent.run({ ...TURN, thread })).rejects.toMatchObject({ code: "ephemeral_on_thread" });
});
