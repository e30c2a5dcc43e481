/** A call that waits because of where its values come from, asked about in an MCP host. */
import type { ElicitRequest } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { scriptedModel } from "../../support/services/agent.ts";
import { openMcp, REVISIONS, textOf } from "../../support/services/mcp.ts";
import { desk, IBAN, pay, READ } from "../../support/services/office.ts";

const WHY = `send_money to ${IBAN}: this account number comes from bill.txt (read by read_file), not from you`;
const ask = (message: string) => ({ name: "ask", arguments: { message } });

async function openOffice() {
  const model = await scriptedModel();
  const sent: unknown[] = [];
  const variables = { TOOL_APPROVALS: "*=allow", MEMORY_VECTORS: "false" };
  return { model, sent, mcp: await openMcp({ model, tools: desk(sent), variables }) };
}

for (const revision of REVISIONS)
  test(`${revision}: a host asks with the sentence and the answers that fit; a trusted destination is not asked about again`, async () => {
    const { model, sent, mcp } = await openOffice();
    const asked: ElicitRequest["params"][] = [];
    const answers = ["destination", "deny"];
    const client = await mcp.client(revision, { capabilities: { elicitation: { form: {} } } });
    client.setRequestHandler("elicitation/create", async ({ params }) => {
      asked.push(params);
      return { action: "accept", content: { decision: answers[asked.length - 1] ?? "deny" } };
    });

    // What the host calls itself is the caller's own, whatever a conversation has read before.
    const direct = { name: "send_money", arguments: { recipient: IBAN, amount: 7 } };
    model.script({ calls: [READ] }, { text: "A bill." });
    await client.callTool(ask("What is in bill.txt?"));
    expect(textOf(await client.callTool(direct))).toBe("send_money 1");
    expect(asked).toEqual([]);

    model.script({ calls: [READ] }, { calls: [pay("p1", IBAN)] }, { text: "Paid." });
    const result = await client.callTool(ask("What is in bill.txt?"));
    expect(result.structuredContent).toMatchObject({ status: "completed", text: "Paid." });
    expect(asked).toHaveLength(1);
    expect(asked[0]?.message).toContain(`Why you are asked: ${WHY}; send_money with amount “100”`);
    expect(asked[0]).toMatchObject({
      requestedSchema: {
        properties: {
          decision: {
            enum: ["once", "destination", "deny"],
            description: expect.stringContaining("later calls of the tool to this destination"),
          },
        },
      },
    });
    const again = { calls: [{ id: "p2", name: "send_money", arguments: { recipient: IBAN } }] };
    model.script({ calls: [READ] }, again, { text: "Paid again." });
    await client.callTool(ask("Read bill.txt and pay what it asks for"));
    expect(asked).toHaveLength(1);
    expect(sent).toHaveLength(3);

    const long = pay("p3", "GB29NWBK60161331926819");
    const two = [
      { ...long, arguments: { ...long.arguments, note: "x".repeat(5000) } },
      pay("p4", "NL91ABNA0417164300"),
    ];
    model.script({ calls: [READ] }, { calls: two }, { text: "Not paid." });
    await client.callTool(ask("What is in bill.txt?"));
    expect(asked[1]?.message).toContain("It is called 2 times, and your answer is for all of them:");
    expect(asked[1]?.message).toContain('"recipient": "NL91ABNA0417164300"');
    expect(sent).toHaveLength(3);
  });

test("a host that cannot ask is told why the turn waits, and a token with a scope cannot trust a destination", async () => {
  const { model, sent, mcp } = await openOffice();
  model.script({ calls: [READ] }, { calls: [pay("p", IBAN)] });
  const mute = await mcp.client("2026-07-28");
  const result = await mute.callTool(ask("What is in bill.txt?"));
  expect(result.structuredContent).toMatchObject({ status: "waiting" });
  expect(textOf(result)).toContain(`The tool send_money needs approval: ${WHY}`);

  const body = { user: "operator", name: "narrow", tools: ["read_file", "send_money"] };
  const { token } = (await mcp.ask("/api/tokens", { method: "POST", body })).body;
  const offered: unknown[] = [];
  const client = await mcp.client("2026-07-28", { token, capabilities: { elicitation: { form: {} } } });
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    offered.push(params);
    return { action: "accept", content: { decision: "deny" } };
  });
  model.script({ calls: [READ] }, { calls: [pay("p", IBAN)] }, { text: "Not paid." });
  await client.callTool(ask("What is in bill.txt?"));
  expect(offered).toMatchObject([
    { requestedSchema: { properties: { decision: { enum: ["once", "deny"] } } } },
  ]);
  expect(sent).toEqual([]);
});
