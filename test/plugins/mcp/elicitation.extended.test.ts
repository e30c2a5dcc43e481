import type { Client, ElicitRequest, ElicitResult } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import type { CallOutcome } from "../../../host/services.ts";
import { type AnyPlugin, definePlugin, type Reply } from "../../../kernel/plugin.ts";
import { scriptedModel } from "../../support/services/agent.ts";
import {
  type ClientSettings,
  openMcp,
  REVISIONS,
  type Revision,
  type TestMcp,
  textOf,
} from "../../support/services/mcp.ts";

const LETTER = { name: "mailer", arguments: { to: "bob" } };

/** A tool that asks first, and what it did. */
function mailerTool() {
  const sent: unknown[] = [];
  const mailer = {
    writes: true,
    grants: ["may send POST requests to mail.example"],
    run: (params: unknown) => {
      sent.push(params);
      return { status: "ok" as const, output: "sent" };
    },
  };
  return { sent, tools: { mailer } };
}

/** A client whose person answers with these, one after the other. */
async function answering(
  mcp: TestMcp,
  revision: Revision,
  answers: readonly ElicitResult[],
  settings: ClientSettings = {},
): Promise<{ client: Client; asked: ElicitRequest["params"][] }> {
  const asked: ElicitRequest["params"][] = [];
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
    const { sent, tools } = mailerTool();
    const mcp = await openMcp({ tools });
    const { client, asked } = await answering(mcp, revision, [decide("once"), { action: "decline" }]);
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
    const mcp = await openMcp({ tools: mailerTool().tools });
    const { client, asked } = await answering(mcp, revision, [decide("always")]);
    expect(textOf(await client.callTool(LETTER))).toBe("sent");
    expect(textOf(await client.callTool(LETTER))).toBe("sent");
    expect(asked).toHaveLength(1);
    expect((await mcp.ask("/api/approvals")).body.remembered).toEqual({ mailer: "allow" });
  });

  test(`${revision}: a token with a scope is not offered "always", and cannot say it`, async () => {
    const { sent, tools } = mailerTool();
    const mcp = await openMcp({ tools });
    const body = { user: "operator", name: "narrow", tools: ["mailer"] };
    const { token } = (await mcp.ask("/api/tokens", { method: "POST", body })).body;
    const { client, asked } = await answering(mcp, revision, [decide("always"), decide("once")], { token });
    expect(textOf(await client.callTool(LETTER))).toContain("cannot allow a tool for good");
    expect(asked[0]).toMatchObject({
      requestedSchema: { properties: { decision: { enum: ["once", "deny"] } } },
    });
    expect(sent).toEqual([]);
    expect(textOf(await client.callTool(LETTER))).toBe("sent");
    expect((await mcp.ask("/api/approvals")).body.remembered).toEqual({});
  });

  test(`${revision}: a client that can ask nothing is told where to allow the tool`, async () => {
    const { sent, tools } = mailerTool();
    const mcp = await openMcp({ tools });
    const result = await (await mcp.client(revision)).callTool(LETTER);
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain(`${mcp.url}/#/tools/mailer`);
    expect(sent).toEqual([]);
  });

  test(`${revision}: what a turn waits for is asked in place, and the answer goes on`, async () => {
    const model = await scriptedModel();
    model.script(
      { text: "Let me see.", calls: [{ name: "mailer", arguments: { to: "ann" } }] },
      { text: "It is sent." },
    );
    const { sent, tools } = mailerTool();
    const mcp = await openMcp({ model, tools });
    const { client, asked } = await answering(mcp, revision, [decide("once")]);
    const result = await client.callTool({ name: "ask", arguments: { message: "Write to Ann" } });
    expect(asked).toHaveLength(1);
    expect(sent).toEqual([{ to: "ann" }]);
    expect(result.structuredContent).toMatchObject({
      status: "completed",
      text: "Let me see.\n\nIt is sent.",
    });
  });

  test(`${revision}: a turn that waits says where, if the client cannot ask`, async () => {
    const model = await scriptedModel();
    model.script({ calls: [{ name: "mailer", arguments: { to: "ann" } }] });
    const mcp = await openMcp({ model, tools: mailerTool().tools });
    const client = await mcp.client(revision);
    const result = await client.callTool({ name: "ask", arguments: { message: "Write to Ann" } });
    const { thread_id, status, text } = result.structuredContent as Record<string, string>;
    expect(status).toBe("waiting");
    expect(text).toContain(`${mcp.url}/#/chat/${thread_id}`);
    const { pending } = (await mcp.ask("/api/approvals")).body;
    expect(pending).toMatchObject([{ type: "approval", thread_id }]);
  });

  test(`${revision}: a tool without its credential sends the person to the page, once`, async () => {
    const locked = {
      run: () => ({
        status: "unauthenticated" as const,
        tool: "locked",
        secret: "key",
        message: "The tool locked needs a key.",
      }),
    };
    const mcp = await openMcp({ tools: { locked } });
    const { client, asked } = await answering(mcp, revision, [{ action: "accept" }, { action: "accept" }]);
    const result = await client.callTool({ name: "locked", arguments: {} });
    expect(asked).toMatchObject([
      { mode: "url", url: `${mcp.url}/#/tools/locked`, message: "The tool locked needs a key." },
    ]);
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain(`${mcp.url}/#/tools/locked`);
  });

  test(`${revision}: what the server behind a tool asks is passed on, and the call goes on with the reply`, async () => {
    const replied: (readonly Reply[])[] = [];
    const mcp = await openMcp({ plugins: [askingTools(replied)] });
    const { client, asked } = await answering(mcp, revision, [
      { action: "accept", content: { name: "Ada" } },
    ]);
    const result = await client.callTool({ name: "crm_add", arguments: {} });
    expect(asked).toMatchObject([
      {
        message: "The MCP server crm asks: Which name?",
        requestedSchema: { properties: { name: { type: "string" } } },
      },
    ]);
    expect(replied).toEqual([[{ key: "who", action: "accept", content: { name: "Ada" } }]]);
    expect(textOf(result)).toBe("added");
  });

  test(`${revision}: a question that the client cannot ask is closed, and the result says so`, async () => {
    const replied: (readonly Reply[])[] = [];
    const mcp = await openMcp({ plugins: [askingTools(replied)] });
    const result = await (await mcp.client(revision)).callTool({ name: "crm_add", arguments: {} });
    expect(result.isError).toBe(true);
    expect(textOf(result)).toContain("The MCP server crm asks a person");
    expect(replied).toEqual([[{ key: "who", action: "cancel" }]]);
  });
}

/** A tool of somebody's server, which asks for a name in the middle of each call. */
function askingTools(replied: (readonly Reply[])[]): AnyPlugin {
  const question: CallOutcome = {
    status: "question",
    server: "crm",
    questions: [
      {
        key: "who",
        message: "Which name?",
        schema: { type: "object", properties: { name: { type: "string" } } },
      },
    ],
    resume: "the secret of the call",
  };
  return definePlugin({
    name: "asking-tools",
    provides: ["tools"],
    configure: () => ({}),
    start: () => ({
      tools: {
        list: async () => [
          { name: "crm_add", version: "1", description: "", schema: {}, grants: [], writes: false },
        ],
        call: async () => question,
        async resume(_call, resume, replies) {
          expect(resume).toBe("the secret of the call");
          replied.push(replies);
          return { status: "ok", output: "added" };
        },
      },
    }),
  }) as AnyPlugin;
}
