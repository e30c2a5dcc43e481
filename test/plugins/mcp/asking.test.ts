import type { Client, ElicitRequest, ElicitResult } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { scriptedModel } from "../../support/services/agent.ts";
import {
  type ClientSettings,
  openMcp,
  REVISIONS,
  type Revision,
  type TestMcp,
  textOf,
} from "../../support/services/mcp.ts";

const sent: unknown[] = [];
const mailer = {
  writes: true,
  grants: ["may send POST requests to mail.example"],
  run: (params: unknown) => {
    sent.push(params);
    return { status: "ok" as const, output: "sent" };
  },
};
const LETTER = { name: "mailer", arguments: { to: "bob" } };

interface Asked {
  readonly params: ElicitRequest["params"];
}

/** A client whose person answers with these, one after the other. */
async function answering(
  mcp: TestMcp,
  revision: Revision,
  answers: readonly ElicitResult[],
  settings: ClientSettings = {},
): Promise<{ client: Client; asked: Asked["params"][] }> {
  const asked: Asked["params"][] = [];
  const client = await mcp.client(revision, {
    capabilities: { elicitation: { form: {}, url: {} } },
    ...settings,
  });
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    asked.push(params);
    return answers[asked.length - 1] ?? { action: "cancel" };
  });
  return { client, asked };
}

const decide = (decision: string): ElicitResult => ({ action: "accept", content: { decision } });

for (const revision of REVISIONS) {
  test(`${revision}: a tool that asks first runs once it is allowed, and asks again the next time`, async () => {
    const mcp = await openMcp({ tools: { mailer } });
    const { client, asked } = await answering(mcp, revision, [decide("once"), { action: "decline" }]);
    sent.length = 0;
    expect(textOf(await client.callTool(LETTER))).toBe("sent");
    expect(asked[0]?.message).toBe(
      'Allow the tool mailer to run?\n\nWhat it may do:\n- may send POST requests to mail.example\n\nIt is called with:\n{\n  "to": "bob"\n}',
    );
    const refused = await client.callTool(LETTER);
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toContain("was not allowed");
    expect(sent).toEqual([{ to: "bob" }]);
  });

  test(`${revision}: "always" is remembered for the tool`, async () => {
    const mcp = await openMcp({ tools: { mailer } });
    const { client, asked } = await answering(mcp, revision, [decide("always")]);
    expect(textOf(await client.callTool(LETTER))).toBe("sent");
    expect(textOf(await client.callTool(LETTER))).toBe("sent");
    expect(asked).toHaveLength(1);
    expect((await mcp.ask("/api/approvals")).body.remembered).toEqual({ mailer: "allow" });
  });

  test(`${revision}: a client that can ask nothing is told where to allow the tool`, async () => {
    const mcp = await openMcp({ tools: { mailer } });
    const result = await (await mcp.client(revision)).callTool(LETTER);
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain(`${mcp.url}/#/tools`);
  });

  test(`${revision}: what a turn waits for is asked in place, and the answer goes on`, async () => {
    const model = await scriptedModel();
    model.script(
      { text: "Let me see.", calls: [{ name: "mailer", arguments: { to: "ann" } }] },
      { text: "It is sent." },
    );
    const mcp = await openMcp({ model, tools: { mailer } });
    const { client, asked } = await answering(mcp, revision, [decide("once")]);
    sent.length = 0;
    const result = await client.callTool({ name: "ask", arguments: { message: "Write to Ann" } });
    expect(asked).toHaveLength(1);
    expect(sent).toEqual([{ to: "ann" }]);
    expect(result.structuredContent).toMatchObject({
      status: "completed",
      text: "Let me see.\n\nIt is sent.",
    });
  });
}
