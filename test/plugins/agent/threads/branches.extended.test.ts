/** Turns that go on from an older one of their thread, on both engines. */
import { randomUUIDv7 } from "node:crypto";
import { expect, test } from "vitest";
import { NO_USAGE } from "../../../../kernel/kit/turns.ts";
import { createMask } from "../../../../kernel/mask/mask.ts";
import type { Gate } from "../../../../kernel/plugin.ts";
import { createContext } from "../../../../plugins/agent/context/window.ts";
import type { Turn } from "../../../../plugins/agent/services.ts";
import type { Ending } from "../../../../plugins/agent/threads/end.ts";
import { createHistory } from "../../../../plugins/agent/threads/history.ts";
import { createLedger, type LedgerTurn } from "../../../../plugins/agent/threads/ledger.ts";
import { MIGRATIONS } from "../../../../plugins/agent/threads/tables.ts";
import { createThreads } from "../../../../plugins/agent/threads/threads.ts";
import { describeEngines, type StorePlace } from "../../../support/processes/engines.ts";
import { bootAgent, message, scriptedModel } from "../../../support/services/agent.ts";

const MODEL = { provider: "test", name: "test" };

async function nodeOn(place: StorePlace) {
  const store = await place.open();
  const sql = await store.tables("agent", MIGRATIONS);
  const ledger = createLedger(sql, store.node);
  const context = createContext(sql, createHistory(sql, { mask: createMask(), trusted: new Set() }));
  const open = (text: string, more: Partial<Turn> = {}) =>
    ledger.open({ id: randomUUIDv7(), user: "ann", channel: "test", input: message(text), ...more }, MODEL, {
      isIdGiven: false,
      alongside: undefined,
    });
  /** What the turn sees of the thread. */
  const past = async ({ writer }: LedgerTurn) =>
    (await context.read(writer, writer.summary)).past.turns.flatMap(({ messages }) =>
      messages.map((each) => (each.role === "tool" ? `result of ${each.call.id}` : each.text)),
    );
  return {
    store,
    sql,
    context,
    open,
    /** A whole turn; answers it and what it saw. */
    async say(text: string, more: Partial<Turn> = {}, ending: Ending = { status: "completed" }) {
      const turn = await open(text, more);
      const saw = await past(turn);
      await turn.writer.put(...turn.beginning.items);
      await turn.writer.finish(ending, NO_USAGE);
      const { id, thread, seq } = turn.writer;
      return { id, thread, seq, saw };
    },
  };
}

const gateOf = (type: "external_tool" | "approval", turn: string, thread: string): Gate => ({
  ...{ id: randomUUIDv7(), turn, thread, openedAt: new Date().toISOString() },
  call: { id: "call_1", name: "find", params: "{}" },
  ...(type === "approval" ? { type, grants: [] } : { type }),
});

const OUTPUT = { type: "tool_output", call: "call_1", output: "found" } as const;

describeEngines("branches", (_engine, fresh) => {
  test("a turn sees the history of the turn it goes on from, and nothing of other branches", async () => {
    const node = await nodeOn(await fresh());
    const a = await node.say("a");
    const { thread } = a;
    const b = await node.say("b", { thread, after: a.id });
    const c = await node.say("c", { thread });
    expect([b.saw, c.saw]).toEqual([["a"], ["a", "b"]]);
    const d = await node.say("d", { thread, after: a.id });
    expect(d.saw).toEqual(["a"]);
    expect((await node.say("e", { thread, after: d.id })).saw).toEqual(["a", "d"]);
    expect((await node.say("f", { thread })).saw).toEqual(["a", "d", "e"]);
    const g = await node.say("g", { thread, after: b.id });
    expect(g.saw).toEqual(["a", "b"]);
    expect((await node.say("h", { thread, after: c.id })).saw).toEqual(["a", "b", "c"]);
    expect((await node.say("i", { thread, after: g.id })).saw).toEqual(["a", "b", "g"]);
    expect((await node.say("j", { thread, after: d.id })).saw).toEqual(["a", "d"]);
    // Nothing was said between: that is the same conversation, and costs nothing.
    const jumps = await node.sql.get("SELECT count(*) AS count FROM turns WHERE parent_seq IS NOT NULL");
    expect(jumps).toEqual({ count: 5 });
  });

  test("a branch may begin before the first turn, and sees nothing of the thread", async () => {
    const node = await nodeOn(await fresh());
    const a = await node.say("a");
    const { thread } = a;
    const b = await node.say("b", { thread });
    const c = await node.say("c", { thread, after: null });
    expect(c.saw).toEqual([]);
    expect((await node.say("d", { thread })).saw).toEqual(["c"]);
    expect((await node.say("e", { thread, after: b.id })).saw).toEqual(["a", "b"]);
    expect((await node.say("f", { thread, after: null })).saw).toEqual([]);
    expect((await node.say("g", { thread, after: c.id })).saw).toEqual(["c"]);
    // On a new thread that is where it begins anyway.
    expect((await node.say("h", { after: null })).saw).toEqual([]);
  });

  test("a page of a path has its turns only, each with the one before it and with its versions", async () => {
    const node = await nodeOn(await fresh());
    const threads = createThreads(node.sql, {
      store: node.store,
      onRemove: () => {},
      choose: async ({ provider = "", name }) => ({ provider, name }),
    });
    const a = await node.say("a");
    const { thread } = a;
    const b = await node.say("b", { thread });
    const c = await node.say("c", { thread });
    const again = await node.say("b", { thread, after: a.id });
    const edited = await node.say("b, please", { thread, after: a.id });
    const d = await node.say("d", { thread, after: edited.id });
    const other = await node.say("other", { thread, after: null });
    await node.say("another thread");
    const page = async (through?: string, query: { limit?: number; before?: string } = {}) => {
      const { items, versions, next } = await threads.turns("ann", thread, {
        ...query,
        ...(through && { through }),
      });
      return {
        said: items.map(({ input }) => (input.type === "message" ? input.text : "")).join(),
        after: items.map(({ after }) => after),
        versions: Object.fromEntries(versions.map((each) => [each.turn, each.versions])),
        next,
      };
    };
    const first = [a, other].map(({ id }, at) => ({ id, message: at + 1 }));
    const second = [
      { id: b.id, message: 1 },
      { id: again.id, message: 1 },
      { id: edited.id, message: 2 },
    ];
    expect(await page("newest")).toEqual({
      ...{ said: "other", after: [undefined], next: undefined },
      versions: { [other.id]: first },
    });
    const path = { said: "a,b,c", after: [undefined, a.id, b.id], next: undefined };
    const versions = { [a.id]: first, [b.id]: second };
    for (const turn of [b, c]) expect(await page(turn.id)).toEqual({ ...path, versions });
    // To the newest after it, whatever else is there.
    expect((await page(a.id)).said).toBe("a,b, please,d");
    expect((await page(again.id)).said).toBe("a,b");
    const end = await page(d.id, { limit: 2 });
    expect(end).toMatchObject({ said: "b, please,d", versions: { [edited.id]: second } });
    const { next: before = "" } = end;
    expect(await page(d.id, { before })).toMatchObject({ said: "a", next: undefined });
    expect((await page()).said).toBe("a,b,c,b,b, please,d,other");
    expect((await threads.turn("ann", d.id))?.after).toBe(edited.id);
    await expect(page(randomUUIDv7())).rejects.toMatchObject({ code: "turn_not_found" });
    await expect(threads.turns("eve", thread, { through: d.id })).rejects.toMatchObject({ kind: "missing" });
  });

  test("whoever answers a question goes on from the turn that asked, though another branch is newer", async () => {
    const node = await nodeOn(await fresh());
    const a = await node.say("a");
    const { thread } = a;
    const asking = await node.open("b", { thread });
    const gate = gateOf("approval", asking.writer.id, thread);
    await asking.writer.finish({ status: "waiting", gate }, NO_USAGE);
    const branch = await node.say("c", { thread, after: a.id });
    expect(branch.saw).toEqual(["a"]);
    const input = { type: "approval", gate: gate.id, decision: "deny" } as const;
    const answered = await node.open("", { thread, input });
    expect(answered.writer.after).toBe(asking.writer.id);
    await answered.writer.finish({ status: "completed" }, NO_USAGE);
    expect((await node.say("d", { thread, after: answered.writer.id })).saw).toEqual(["a", "b"]);
  });

  test("a turn of another thread or another user is not there to go on from, and nothing is left behind", async () => {
    const node = await nodeOn(await fresh());
    const [mine, other] = [await node.say("a"), await node.say("b")];
    const { thread } = mine;
    for (const turn of [{ thread, after: other.id }, { thread, after: randomUUIDv7() }, { after: mine.id }])
      await expect(node.open("c", turn)).rejects.toMatchObject({ kind: "missing", code: "turn_not_found" });
    await expect(node.open("c", { thread, after: mine.id, user: "eve" })).rejects.toMatchObject({
      kind: "missing",
    });
    expect(await node.sql.get("SELECT count(*) AS count FROM turns")).toEqual({ count: 2 });
    expect((await node.say("c", { thread })).saw).toEqual(["a"]);
  });

  test("a call is answered from its turn as often as the caller likes, also where the thread has gone on", async () => {
    const node = await nodeOn(await fresh());
    const a = await node.open("a");
    const { id, thread } = a.writer;
    const call = { id: "call_1", name: "find", params: "{}" };
    await a.writer.put({ type: "tool_call", id: randomUUIDv7(), call, external: true });
    await a.writer.finish({ status: "waiting", gate: gateOf("external_tool", id, thread) }, NO_USAGE);
    await expect(node.open("b", { thread, after: id })).rejects.toMatchObject({ code: "gate_pending" });
    const first = await node.say("", { thread, after: id, input: OUTPUT });
    const second = await node.say("", { thread, after: id, input: OUTPUT });
    expect([first.saw, second.saw]).toEqual([
      ["a", ""],
      ["a", ""],
    ]);
    expect((await node.say("c", { thread, after: first.id })).saw).toEqual(["a", "", "result of call_1"]);
    await expect(node.open("", { thread, input: OUTPUT })).rejects.toMatchObject({
      code: "no_external_tool_gate",
    });
    await expect(node.open("", { thread, after: first.id, input: OUTPUT })).rejects.toMatchObject({
      code: "no_external_tool_gate",
    });
  });

  test("what another branch waits for is no obstacle: a call is given up, a person's answer is still wanted", async () => {
    const node = await nodeOn(await fresh());
    const a = await node.say("a");
    const { thread } = a;
    const gate = async () =>
      (await node.sql.get<{ gate: string | null }>("SELECT gate FROM threads"))?.gate ?? null;
    const waiting = await node.open("b", { thread });
    await waiting.writer.finish(
      { status: "waiting", gate: gateOf("external_tool", waiting.writer.id, thread) },
      NO_USAGE,
    );
    expect((await node.say("c", { thread, after: a.id })).saw).toEqual(["a"]);
    expect(await gate()).toBeNull();
    const asking = await node.open("d", { thread });
    const asked = gateOf("approval", asking.writer.id, thread);
    await asking.writer.finish({ status: "waiting", gate: asked }, NO_USAGE);
    expect((await node.say("e", { thread, after: a.id })).saw).toEqual(["a"]);
    expect(await gate()).toContain(asked.id);
    await expect(node.open("f", { thread, after: asking.writer.id })).rejects.toMatchObject({
      code: "gate_pending",
    });

    // Who got no further than the question goes on from what came of the answer.
    const approval = { type: "approval", gate: asked.id, decision: "deny" } as const;
    await node.say("", { thread, after: asking.writer.id, input: approval });
    await node.say("g", { thread, after: a.id });
    const { saw } = await node.say("h", { thread, after: asking.writer.id });
    expect(saw).toEqual(["a", "c", "d"]);
  });

  test("a summary stands for the turns of its own branch only", async () => {
    const node = await nodeOn(await fresh());
    const a = await node.say("a");
    const { thread } = a;
    const b = await node.say("b", { thread });
    const c = await node.say("c", { thread });
    await node.sql.run("UPDATE threads SET summary = 'of a and b', summarised_to = ?", b.seq);
    const summaryOf = async (after: string) => {
      const { writer } = await node.open("d", { thread, after });
      const { summary, past } = await node.context.read(writer, writer.summary);
      await writer.finish({ status: "completed" }, NO_USAGE);
      return [summary.text, past.turns.length];
    };
    expect(await summaryOf(a.id)).toEqual([undefined, 1]);
    expect(await summaryOf(b.id)).toEqual(["of a and b", 0]);
    expect(await summaryOf(c.id)).toEqual(["of a and b", 1]);
  });

  test("what is kept rendered is read again where a summary no longer stands for the oldest", async () => {
    const node = await nodeOn(await fresh());
    const a = await node.say("a");
    const { thread } = a;
    const b = await node.say("b", { thread });
    await node.sql.run("UPDATE threads SET summary = 'of a', summarised_to = ?", a.seq);
    expect((await node.say("c", { thread })).saw).toEqual(["b"]);
    await node.sql.run("UPDATE threads SET summary = NULL, summarised_to = 0");
    expect((await node.say("d", { thread })).saw).toEqual(["a", "b", "c"]);
    expect((await node.say("e", { thread, after: b.id })).saw).toEqual(["a", "b"]);
  });

  test("earlier items that come with a turn are added after the one it goes on from", async () => {
    const node = await nodeOn(await fresh());
    const a = await node.say("a");
    const { thread } = a;
    const history = [
      { type: "message", id: "", role: "assistant", text: "x" },
      { type: "message", id: "", role: "user", text: "y" },
    ] as const;
    await expect(node.open("b", { thread, preamble: { history } })).rejects.toMatchObject({
      code: "history_on_thread",
    });
    const b = await node.say("b", { thread, after: a.id, preamble: { history } });
    expect(b.saw).toEqual(["a", "x", "y"]);
    expect((await node.say("c", { thread, after: a.id, preamble: { history } })).saw).toEqual([
      "a",
      "x",
      "y",
    ]);
    expect((await node.say("d", { thread, after: b.id })).saw).toEqual(["a", "x", "y", "b"]);
    expect(await node.sql.get("SELECT turns FROM threads")).toEqual({ turns: 6 });
  });

  test("a pending call is answered by the history that comes with a turn, or the turn is refused", async () => {
    const node = await nodeOn(await fresh());
    const a = await node.open("a");
    const { id, thread } = a.writer;
    const calls = ["call_1", "call_2"].map((call) => ({ id: call, name: "find", params: "{}" }));
    for (const call of calls)
      await a.writer.put({ type: "tool_call", id: randomUUIDv7(), call, external: true });
    const gate = { ...gateOf("external_tool", id, thread), others: calls.slice(1) } as Gate;
    await a.writer.finish({ status: "waiting", gate }, NO_USAGE);
    const result = (call: string) =>
      ({ type: "tool_result", id: "", call, outcome: { status: "ok", output: "found" } }) as const;
    const on = { thread, after: id };
    await expect(node.open("b", { ...on, preamble: { history: [result("call_1")] } })).rejects.toMatchObject({
      code: "gate_pending",
    });
    await expect(node.open("", { ...on, input: OUTPUT })).rejects.toMatchObject({ code: "call_mismatch" });
    const last = { type: "tool_outputs", outputs: [{ call: "call_2", output: "too" }] } as const;
    const c = await node.say("", { ...on, preamble: { history: [result("call_1")] }, input: last });
    expect(c.saw).toEqual(["a", "", "result of call_1"]);
    const d = await node.say("d", { ...on, preamble: { history: [result("call_2"), result("call_1")] } });
    expect(d.saw).toEqual(["a", "", "result of call_1", "result of call_2"]);
  });
});

test("a model is shown the branch that it answers in, and what is kept rendered of another is not used", async () => {
  const model = await scriptedModel();
  const agent = (await bootAgent({ model })).service("agent");
  const run = async (text: string, more: Partial<Turn> = {}) => {
    const turn = await agent.run({ user: "ann", channel: "test", input: message(text), ...more });
    await turn.record;
    const asked = model.requests.at(-1)?.messages.filter(({ role }) => role === "user");
    return { id: turn.id, thread: turn.thread, asked: asked?.map(({ content }) => content) };
  };
  const a = await run("a");
  const { thread } = a;
  const b = await run("b", { thread });
  await run("c", { thread });
  expect((await run("d", { thread, after: a.id })).asked).toEqual(["a", "d"]);
  expect((await run("e", { thread })).asked).toEqual(["a", "d", "e"]);
  expect((await run("f", { thread, after: b.id })).asked).toEqual(["a", "b", "f"]);
});
