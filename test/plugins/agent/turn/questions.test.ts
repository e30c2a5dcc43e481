import { expect, test } from "vitest";
import type { QuestionOutcome } from "../../../../host/services.ts";
import type { Gate, Reply } from "../../../../kernel/plugin.ts";
import {
  bootAgent,
  eventsOf,
  message,
  scriptedModel,
  type TestTool,
} from "../../../support/services/agent.ts";

const SIZE = {
  key: "size",
  message: "Which size?",
  schema: {
    type: "object",
    properties: {
      size: { type: "string", enum: ["S", "M"] },
      count: { type: "integer", minimum: 1, maximum: 9 },
      note: { type: "string", pattern: "^(a+)+$", maxLength: 20 },
    },
    required: ["size"],
  },
};

const asking = (resume: string, question: QuestionOutcome["questions"][number] = SIZE): QuestionOutcome => ({
  status: "question",
  server: "shop",
  questions: [question],
  resume,
});

/** A tool that asks for a size, and with a size of M for a colour too. */
function orders(heard: unknown[], given: Partial<TestTool> = {}): Readonly<Record<string, TestTool>> {
  return {
    shop_order: {
      writes: true,
      run: () => asking("first"),
      resume(resume, replies) {
        heard.push([resume, replies]);
        const [{ action, content } = { action: "cancel", content: undefined }] = replies;
        if (action !== "accept") return { status: "error", code: "declined", message: `It was ${action}d.` };
        return resume === "first" && content?.["size"] === "M"
          ? asking("second", { key: "colour", message: "Which colour?", url: "https://shop.example/colours" })
          : { status: "ok", output: "ordered" };
      },
      ...given,
    },
  };
}

type Question = Extract<Gate, { type: "question" }>;

function questionOf({ gate }: { readonly gate?: Gate }): Question {
  if (gate?.type !== "question") throw new Error(`there is no question, but ${JSON.stringify(gate)}`);
  return gate;
}

const ALLOWED = { TOOL_APPROVALS: "shop_order=allow" };
const accept = (key: string, content?: Record<string, unknown>): Reply => ({
  key,
  action: "accept",
  ...(content && { content }),
});

test("a question survives a restart; its reply goes on with the call, and a second question is the next gate", async () => {
  const model = await scriptedModel();
  model.script({ calls: [{ id: "c1", name: "shop_order", arguments: {} }] }, { text: "Done." });
  const heard: unknown[] = [];
  const before = await bootAgent({ model, tools: orders(heard), variables: ALLOWED });
  const first = await before.service("agent").run({ user: "ann", channel: "test", input: message("Order") });
  const events = await eventsOf(first);
  expect(events.map(({ type }) => type)).toEqual(["started", "tool_started", "gate", "usage", "done"]);
  const gate = questionOf(await first.record);
  expect(gate).toMatchObject({ server: "shop", questions: [SIZE], call: { id: "c1" }, resume: "first" });
  expect(await before.service("approvals").pending("ann")).toMatchObject([{ id: gate.id, type: "question" }]);
  await before.stop();

  const kernel = await bootAgent({ model, tools: orders(heard), variables: ALLOWED, home: before.home });
  const agent = kernel.service("agent");
  const answer = async (given: Question, replies: readonly Reply[]) =>
    (
      await agent.run({
        user: "ann",
        channel: "test",
        thread: first.thread,
        input: { type: "question", gate: given.id, replies },
      })
    ).record;
  const second = await answer(gate, [accept("size", { size: "M", note: "aaaaaaaaaaaaaaaaaaa!" })]);
  expect(questionOf(second)).toMatchObject({ questions: [{ url: "https://shop.example/colours" }] });
  await expect(answer(gate, [accept("size", { size: "S" })])).rejects.toMatchObject({ code: "no_such_gate" });
  const last = await answer(questionOf(second), [accept("colour")]);
  expect(last).toMatchObject({
    status: "completed",
    items: [{ type: "tool_result", call: "c1", outcome: { status: "ok" } }, { text: "Done." }],
  });
  expect(heard.map((each) => (each as [string])[0])).toEqual(["first", "second"]);
  expect(model.requests[1]?.messages.at(-1)?.content).toContain("ordered");
});

test("replies that do not fit are refused with where, nothing is sent, and the gate stays", async () => {
  const model = await scriptedModel();
  model.script({ calls: [{ name: "shop_order", arguments: {} }] }, { text: "Then not." });
  const heard: unknown[] = [];
  const kernel = await bootAgent({ model, tools: orders(heard), variables: ALLOWED });
  const agent = kernel.service("agent");
  const first = await agent.run({ user: "ann", channel: "test", input: message("Order") });
  const { id: gate } = questionOf(await first.record);
  const answer = (replies: readonly Reply[], user = "ann") =>
    agent.run({ user, channel: "test", thread: first.thread, input: { type: "question", gate, replies } });
  const wrong: readonly (readonly [readonly Reply[], string, string])[] = [
    [[], "replies", "has no reply"],
    [[accept("other", {})], "replies[0].key", "no question"],
    [[accept("size", { size: "S" }), accept("size", { size: "S" })], "replies[1].key", "two replies"],
    [[accept("size")], "replies[0].content.size", "is required"],
    [[accept("size", { size: "XXL" })], "replies[0].content.size", "one of the choices"],
    [[accept("size", { size: "S", count: 1.5 })], "replies[0].content.count", "whole number"],
    [[accept("size", { size: "S", count: 10 })], "replies[0].content.count", "at most 9"],
    [[accept("size", { size: "S", note: "a".repeat(21) })], "replies[0].content.note", "at most 20"],
    [[accept("size", { size: "S", more: 1 })], "replies[0].content.more", "no field"],
    [[{ key: "size", action: "decline", content: {} }], "replies[0].content", "accepted"],
  ];
  for (const [replies, param, words] of wrong)
    await expect(answer(replies)).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringContaining(words),
      param,
    });
  await expect(answer([accept("size", { size: "S" })], "eve")).rejects.toMatchObject({ kind: "missing" });
  await expect(
    agent.run({ user: "ann", channel: "test", thread: first.thread, input: message("Hello?") }),
  ).rejects.toMatchObject({ code: "gate_pending" });
  expect(heard).toEqual([]);
  const record = await (await answer([{ key: "size", action: "decline" }])).record;
  expect(record.status).toBe("completed");
  expect(model.requests[1]?.messages.at(-1)?.content).toContain("It was declined.");
});

test("a reply is bound by the scopes of both turns: the one that opened the gate and the one that answers it", async () => {
  const model = await scriptedModel();
  model.script({ calls: [{ name: "shop_order", arguments: {} }] }, { text: "Not allowed." });
  const heard: unknown[] = [];
  const kernel = await bootAgent({ model, tools: orders(heard), variables: ALLOWED });
  const agent = kernel.service("agent");
  const scope = (tool: string) => ({ token: `for ${tool}`, tools: [tool] });
  const base = { user: "ann", channel: "test" } as const;
  const first = await agent.run({ ...base, input: message("Order"), scope: scope("shop_order") });
  const { id: gate } = questionOf(await first.record);
  const input = { type: "question", gate, replies: [accept("size", { size: "S" })] } as const;
  await (await agent.run({ ...base, thread: first.thread, input, scope: scope("weather") })).record;
  expect(heard).toEqual([]);
  expect(model.requests[1]?.messages.at(-1)?.content).toContain("may not use the tool shop_order");
});

test("two calls of one answer that both ask wait one behind the other, and neither begins anew", async () => {
  const model = await scriptedModel();
  model.script(
    {
      calls: [
        { id: "m", name: "mailer", arguments: {} },
        { id: "a", name: "shop_order", arguments: { n: 1 } },
        { id: "b", name: "shop_order", arguments: { n: 2 } },
      ],
    },
    { text: "Done." },
  );
  const heard: unknown[] = [];
  const begun: unknown[] = [];
  const tools = {
    ...orders(heard, {
      run: (params) => {
        begun.push(params);
        return asking(`of ${JSON.stringify(params)}`);
      },
    }),
    mailer: { writes: true, run: () => ({ status: "ok", output: "mailed" }) as const },
  };
  const kernel = await bootAgent({ model, tools, variables: ALLOWED });
  const agent = kernel.service("agent");
  const first = await agent.run({ user: "ann", channel: "test", input: message("Go") });
  const base = { user: "ann", channel: "test", thread: first.thread } as const;
  let record = await first.record;
  for (const call of ["a", "b"]) {
    const gate = questionOf(record);
    expect(gate.call).toMatchObject({ id: call });
    const input = { type: "question", gate: gate.id, replies: [accept("size", { size: "S" })] } as const;
    record = await (await agent.run({ ...base, input })).record;
  }
  expect(record.gate).toMatchObject({ type: "approval", call: { id: "m" } });
  const input = { type: "approval", gate: record.gate?.id ?? "", decision: "once" } as const;
  expect(await (await agent.run({ ...base, input })).record).toMatchObject({ status: "completed" });
  expect(begun).toEqual([{ n: 1 }, { n: 2 }]);
  expect(heard).toHaveLength(2);
});

test("a tool that has changed while its question waited is not called with the reply", async () => {
  const model = await scriptedModel();
  model.script({ calls: [{ name: "shop_order", arguments: {} }] }, { text: "It changed." });
  const heard: unknown[] = [];
  const before = await bootAgent({ model, tools: orders(heard), variables: ALLOWED });
  const first = await before.service("agent").run({ user: "ann", channel: "test", input: message("Order") });
  const { id: gate } = questionOf(await first.record);
  await before.stop();
  const tools = orders(heard, { description: "Sends money." });
  const kernel = await bootAgent({ model, tools, variables: ALLOWED, home: before.home });
  const input = { type: "question", gate, replies: [accept("size", { size: "S" })] } as const;
  await (await kernel.service("agent").run({ user: "ann", channel: "test", thread: first.thread, input }))
    .record;
  expect(heard).toEqual([]);
  expect(model.requests[1]?.messages.at(-1)?.content).toContain("changed while its question waited");
});

test.each([
  ["more than a flat form", { ...SIZE, schema: { type: "object", properties: { a: { type: "object" } } } }],
  ["a page that is none", { key: "x", message: "Go there", url: "javascript:alert(1)" }],
  ["too long a question", { key: "x", message: "a".repeat(100_000) }],
])("a server that asks %s has failed its call", async (_what, question) => {
  const model = await scriptedModel();
  model.script({ calls: [{ name: "shop_order", arguments: {} }] }, { text: "It failed." });
  const tools = orders([], { run: () => asking("x", question) });
  const kernel = await bootAgent({ model, tools, variables: ALLOWED });
  const run = await kernel.service("agent").run({ user: "ann", channel: "test", input: message("Order") });
  expect(await run.record).toMatchObject({ status: "completed" });
  expect(model.requests[1]?.messages.at(-1)?.content).toContain("question that cannot be put to the user");
});

test("a job that ends at a question says where to answer it", async () => {
  const model = await scriptedModel();
  model.script({ calls: [{ name: "shop_order", arguments: {} }] });
  const kernel = await bootAgent({ model, tools: orders([]), variables: ALLOWED });
  const jobs = kernel.service("jobs");
  const { id } = await jobs.submit({ user: "webhook/ann", channel: "webhook", message: "Order" });
  expect(await jobs.wait(id, 60_000)).toMatchObject({
    error: {
      code: "question_pending",
      message: expect.stringMatching(/shop_order has a question for a person\. An operator can answer it/),
    },
  });
  expect(await kernel.service("approvals").pendingOfIdentities()).toMatchObject([
    { user: "webhook/ann", type: "question" },
  ]);
});
