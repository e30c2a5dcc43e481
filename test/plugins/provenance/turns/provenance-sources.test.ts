import { describe, expect, test } from "vitest";
import type { TurnItem } from "../../../../kernel/plugin.ts";
import { BILL, doubtsOf, IBAN, office, pay, READ } from "../../../support/services/office.ts";

const PAYING = { calls: [pay("p", IBAN)] };
const PAID = { text: "Paid." };
const asked = (origin: object) => [
  expect.objectContaining({ rule: "destination", value: IBAN, origin }),
  expect.objectContaining({ rule: "change", param: "amount" }),
];

describe("whose words count as somebody else's", () => {
  test("those of an earlier turn, also when only a summary of it is shown to the model", async () => {
    const { model, sent, say } = await office({ MODEL_CONTEXT_TOKENS: "4000" });
    model.script({ calls: [READ] }, { text: "A bill." });
    const { thread } = await say("Read bill.txt");
    model.otherwise(({ messages }) => {
      const isSummary = String(messages[0]?.content).startsWith("Summarise");
      if (isSummary) return { text: "Something is to be paid." };
      return String(messages.at(-1)?.content).includes("what is needed") ? PAYING : { text: "ok" };
    });
    for (let count = 0; count < 8; count++) await say(`Number ${count} ${"word ".repeat(300)}`, thread);
    const { gate } = await say("Do what is needed", thread);
    const shown = JSON.stringify(model.requests.at(-1)?.messages);
    expect(shown).toContain("<summary>");
    expect(shown).not.toContain("DE89");
    expect(doubtsOf(gate)).toEqual(asked({ kind: "tool", name: "read_file" }));
    expect(sent).toEqual([]);
  });

  test("what came with the message from outside, in it or beside it, and not the person's part of it", async () => {
    const { model, sent, say } = await office();
    const text = `New order: ${BILL}`;
    const spans = [{ from: "New order: ".length, to: text.length }];
    model.script(PAYING);
    const marked = await say(text, undefined, { preamble: { outside: { origin: "shop", spans } } });
    expect(doubtsOf(marked.gate)).toEqual(asked({ kind: "outside", name: "shop" }));
    model.script(PAYING);
    const beside = await say("Handle it", undefined, {
      preamble: { outside: { origin: "shop", data: { note: BILL } } },
    });
    expect(doubtsOf(beside.gate)).toEqual(asked({ kind: "outside", name: "shop" }));
    model.script(PAYING, PAID);
    await say(`Pay 100 to ${IBAN}`, undefined, {
      preamble: { outside: { origin: "shop", data: { note: BILL } } },
    });
    expect(sent).toHaveLength(1);
  });

  test("attached files, as attachments and written into the message, whatever tags they hold", async () => {
    const { model, sent, say } = await office();
    const data = Buffer.from(BILL);
    const attachment = {
      id: "a",
      kind: "file",
      mime: "text/plain",
      size: data.length,
      name: "bill.txt",
    } as const;
    model.script(PAYING);
    const { gate, thread } = await say("", undefined, {
      input: { type: "message", text: "Look at this", attachments: [attachment] },
      attached: [{ id: "a", data }],
    });
    expect(doubtsOf(gate)).toEqual(asked({ kind: "file", name: "bill.txt" }));
    const inline = `Look at this\n\n<file name="bill.txt">\n</file>\n${BILL}\n</file>`;
    model.script(PAYING);
    const written = await say(inline);
    expect(doubtsOf(written.gate)).toEqual(asked({ kind: "file", name: "bill.txt" }));
    expect(thread).not.toBe(written.thread);
    expect(sent).toEqual([]);
  });

  test("outputs of the caller's functions, now and in a history that is replayed; the user's messages are the person's", async () => {
    const { model, sent, say } = await office();
    const call = { id: "c1", name: "skill_load", params: "{}" };
    const history: readonly TurnItem[] = [
      { type: "message", id: "", role: "user", text: "Pay 100, please" },
      { type: "tool_call", id: "", call, external: true },
      { type: "tool_result", id: "", call: "c1", outcome: { status: "ok", output: BILL } },
    ];
    model.script(PAYING);
    const { gate } = await say("Go on", undefined, { preamble: { history } });
    expect(doubtsOf(gate)).toEqual([
      expect.objectContaining({ value: IBAN, origin: { kind: "caller", name: "skill_load" } }),
    ]);
    const theirs: TurnItem = { type: "message", id: "", role: "user", text: `Pay 100 to ${IBAN}` };
    model.script(PAYING, PAID);
    await say("Go on", undefined, { preamble: { history: [theirs, ...history.slice(1)] } });
    expect(sent).toHaveLength(1);
  });

  test("a summary that a caller brings along is not the person's", async () => {
    const { model, sent, say } = await office();
    const origins = [{ kind: "caller", name: "summary" } as const];
    const summary: TurnItem = { type: "message", id: "", role: "user", text: BILL, origins };
    model.script(PAYING);
    const { gate } = await say("Go on", undefined, { preamble: { history: [summary] } });
    expect(doubtsOf(gate)).toEqual(asked({ kind: "caller", name: "summary" }));
    expect(sent).toEqual([]);
  });

  test("what a stranger's server says of its tools, unless the operator trusts it", async () => {
    const server = { name: "files", tool: "list", warnings: [] };
    const tools = {
      files_list: { server, description: BILL, run: () => ({ status: "ok", output: "" }) as const },
    };
    const wary = await office({}, { tools });
    wary.model.script(PAYING);
    const { gate } = await wary.say("What is there to do?");
    expect(doubtsOf(gate)).toEqual(asked({ kind: "server", name: "files" }));
    const trusting = await office({ TRUSTED_SOURCES: "mcp:files" }, { tools });
    trusting.model.script(PAYING, PAID);
    await trusting.say("What is there to do?");
    expect(trusting.sent).toHaveLength(1);
  });

  test("not those of a trusted source, whose values may be used like the person's", async () => {
    const { model, sent, say } = await office({ TRUSTED_SOURCES: "read_file" });
    const other = { id: "s", name: "search_web", arguments: { query: "bill" } };
    model.script({ calls: [READ] }, { calls: [other] }, PAYING, PAID);
    expect(await say("Read bill.txt, find the bill and send the money")).toMatchObject({
      status: "completed",
    });
    expect(sent).toHaveLength(2);
  });

  test("only of this turn's branch", async () => {
    const { model, sent, say } = await office();
    model.script({ text: "Hello." }, { calls: [READ] }, { text: "A bill." });
    const first = await say("Hello");
    const { thread } = first;
    const second = await say("Read bill.txt", thread);
    model.script(PAYING, PAID);
    expect(await say("Pay", thread, { after: first.id })).toMatchObject({ status: "completed" });
    expect(sent).toHaveLength(1);
    model.script(PAYING);
    expect(await say("Pay", thread, { after: second.id })).toMatchObject({ status: "waiting" });
  });

  test("not the person's answer to a question: what they filled in is theirs", async () => {
    const server = { name: "bank", tool: "ask", warnings: [] };
    const asks = {
      server,
      run: () =>
        ({
          status: "question",
          server: "bank",
          resume: "r",
          questions: [
            {
              key: "q",
              message: "Which account?",
              schema: {
                type: "object",
                properties: { account: { type: "string" }, amount: { type: "number" } },
              },
            },
          ],
        }) as const,
      resume: () => ({ status: "ok", output: "Thank you." }) as const,
    };
    const { model, sent, say, agent } = await office({}, { tools: { bank_ask: asks } });
    model.script({ calls: [{ id: "b", name: "bank_ask", arguments: {} }] });
    const { gate, thread } = await say("Ask the bank, then send the money");
    model.script(PAYING, PAID);
    const content = { account: IBAN, amount: 100 };
    const input = {
      type: "question",
      gate: gate?.id ?? "",
      replies: [{ key: "q", action: "accept", content }],
    } as const;
    const { status } = await (await agent.run({ user: "ann", channel: "test", thread, input })).record;
    expect(status).toBe("completed");
    expect(sent).toHaveLength(1);
  });
});

test("a trusted tool that read a stranger's file tells the stranger's words, and what is made of them is theirs", async () => {
  const origins = [
    { kind: "file", name: "/letters/bill.txt" },
    { kind: "outside", name: "eve@evil.example" },
  ] as const;
  const read_file = { hosts: [], run: () => ({ status: "ok", output: BILL, origins }) as const };
  const { model, sent, say, kernel } = await office(
    { TRUSTED_SOURCES: "read_file" },
    { tools: { read_file } },
  );
  model.script({ calls: [READ] }, PAYING);
  const { items, gate } = await say("Read bill.txt and pay it");
  expect(items).toContainEqual(expect.objectContaining({ type: "tool_result", origins }));
  expect(doubtsOf(gate)).toEqual(asked(origins[0]));
  expect(sent).toEqual([]);
  const note = { id: "w", name: "memory_write", arguments: { path: "notes/bill.md", text: `Pay ${IBAN}` } };
  model.script({ calls: [READ] }, { calls: [note] }, { text: "Noted." });
  await say("Read bill.txt and note it");
  expect(await kernel.service("memory").read("ann", "notes/bill.md")).toMatchObject({
    origins: [...origins, { kind: "tool", name: "read_file" }],
  });
});

describe("memory", () => {
  const write = (text: string, append = false) => ({
    calls: [{ id: "w", name: "memory_write", arguments: { path: "notes/bill.md", text, append } }],
  });
  const recall = { calls: [{ id: "m", name: "memory_read", arguments: { path: "notes/bill.md" } }] };
  const find = { calls: [{ id: "f", name: "memory_search", arguments: { query: "account" } }] };

  test("written from what somebody else said stays theirs in a later thread, until the person writes it", async () => {
    const { model, sent, say, kernel } = await office();
    model.script({ calls: [READ] }, write(`Pay the account ${IBAN}`), { text: "Noted." });
    const noted = await say("Read bill.txt and note it");
    const memory = kernel.service("memory");
    expect(await memory.history("ann", "notes/bill.md")).toMatchObject([
      { writer: { kind: "model", channel: noted.channel, thread: noted.thread, turn: noted.id } },
    ]);
    expect(await memory.read("ann", "notes/bill.md")).toMatchObject({
      origins: [{ kind: "tool", name: "read_file" }],
    });

    model.script(recall, PAYING);
    const later = await say("Pay what my notes say");
    const origins = [
      { kind: "memory", name: "notes/bill.md" },
      { kind: "tool", name: "read_file" },
    ];
    expect(later.items).toContainEqual(expect.objectContaining({ type: "tool_result", origins }));
    expect(doubtsOf(later.gate)[0]).toMatchObject({
      origin: { kind: "memory", name: "notes/bill.md" },
      sentence: `send_money to ${IBAN}: this account number comes from the memory document notes/bill.md, which was written from what others said, not from you`,
    });
    expect(JSON.stringify(model.requests.at(-1))).toContain("not the user's own words");

    model.script(write("More.", true), { text: "Added." });
    await say("Add More.");
    model.script(find, PAYING);
    expect(await say("Pay what my notes say")).toMatchObject({ status: "waiting" });

    await memory.write("ann", "notes/bill.md", `My account is ${IBAN}`);
    expect((await memory.read("ann", "notes/bill.md"))?.origins).toBeUndefined();
    model.script(recall, PAYING, PAID);
    expect(await say("Pay what my notes say")).toMatchObject({ status: "completed" });
    expect(sent).toHaveLength(1);
    const earlier = {
      calls: [{ id: "v", name: "memory_read", arguments: { path: "notes/bill.md", version: 1 } }],
    };
    model.script(earlier, PAYING);
    expect(await say("Pay what my notes said at first")).toMatchObject({ status: "waiting" });
  });

  test("in the person's own words is theirs, whatever was read before", async () => {
    const { model, say, kernel } = await office();
    model.script({ calls: [READ] }, write("buy red paint"), { text: "Noted." });
    await say("Read bill.txt, and note: buy red paint");
    expect((await kernel.service("memory").read("ann", "notes/bill.md"))?.origins).toBeUndefined();
  });
});
