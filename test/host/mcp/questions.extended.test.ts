/** A server that asks a person in the middle of a call, in both revisions. */
import { inputRequired } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import type { CallOutcome, QuestionOutcome } from "../../../host/services.ts";
import { openMcpHttp } from "../../support/servers/mcp-http.ts";
import { type ScriptedTool, text } from "../../support/servers/scripted-mcp.ts";
import { toolHost } from "../../support/tools/tool-host.ts";

const SCHEMA = {
  type: "object" as const,
  properties: { city: { type: "string" as const, maxLength: 20 } },
  required: ["city"],
};
const CALL = { id: "c", name: "far_ship", params: '{"what":"mug"}' };
const ADA = { user: "ada" };
const OPERATOR = { user: "operator", agree: true };

/** The newer revision: it is called again with the answer, and with what it wanted to be kept. */
const SHIP_2026: ScriptedTool = {
  name: "ship",
  run({ what }, { mcpReq }) {
    const responses = mcpReq.inputResponses as
      | Record<string, { action: string; content?: { city?: string } }>
      | undefined;
    const answer = responses?.["where"];
    if (answer !== undefined)
      return text(`${what}: ${answer.action} ${answer.content?.city ?? ""} ${mcpReq.requestState()}`);
    return inputRequired({
      inputRequests: { where: inputRequired.elicit({ message: "Where\u202e to?", requestedSchema: SCHEMA }) },
      requestState: "kept",
    });
  },
};

/** The older one: the call stays open. */
const SHIP_2025: ScriptedTool = {
  name: "ship",
  async run({ what }, { mcpReq }) {
    const { action, content } = await mcpReq.elicitInput({ message: "Where to?", requestedSchema: SCHEMA });
    return text(`${what}: ${action} ${content?.["city"] ?? ""}`);
  },
};

function question(outcome: CallOutcome): QuestionOutcome {
  if (outcome.status !== "question") throw new Error(JSON.stringify(outcome));
  return outcome;
}

test("a newer server's question is gone on with after a restart, once, by the person it was for", async () => {
  const server = await openMcpHttp([SHIP_2026]);
  const config = { privateHosts: new Set([server.host]) };
  const host = await toolHost(config);
  await host.foreign.servers.add({ name: "far", url: server.url }, OPERATOR);
  const { outcome, receipt } = await host.call(CALL, ADA);
  const asked = question(outcome);
  expect(asked).toMatchObject({
    server: "far",
    questions: [{ key: "where", message: "Where to?", schema: SCHEMA }],
  });
  expect(receipt).toMatchObject({ status: "question" });
  expect(asked.resume).not.toContain("mug");
  const again = await toolHost(config, host.home);
  const reply = (city: string) => [{ key: "where", action: "accept" as const, content: { city } }];
  const mallory = await again.resume(CALL, asked.resume, reply("Lisbon"), { user: "mallory" });
  expect(mallory.outcome).toMatchObject({ code: "no_such_question" });
  // An answer that does not match is asked for again, and nothing is used up by it.
  const wrong = question((await again.resume(CALL, asked.resume, reply("x".repeat(30)), ADA)).outcome);
  expect(wrong.questions[0]?.message).toMatch(/^Where to\?\n\(Not accepted: /);
  const done = await again.resume(CALL, wrong.resume, reply("Lisbon"), ADA);
  expect(done.outcome).toMatchObject({ status: "ok", output: "mug: accept Lisbon kept" });
  const twice = await again.resume(CALL, asked.resume, reply("Lisbon"), ADA);
  expect(twice.outcome).toMatchObject({ status: "error", code: "question_over" });
});

test("an older server's call stays open while a person is asked, and is over with the process", async () => {
  const server = await openMcpHttp([SHIP_2025], "2025");
  const config = { privateHosts: new Set([server.host]) };
  const host = await toolHost(config);
  await host.foreign.servers.add({ name: "far", url: server.url }, OPERATOR);
  const asked = question((await host.call(CALL, ADA)).outcome);
  expect(asked.questions).toMatchObject([{ message: "Where to?", schema: SCHEMA }]);
  const [{ key = "" } = {}] = asked.questions;
  const done = await host.resume(
    CALL,
    asked.resume,
    [{ key, action: "accept", content: { city: "Porto" } }],
    ADA,
  );
  expect(done.outcome).toMatchObject({ status: "ok", output: "mug: accept Porto" });
  const declined = question((await host.call(CALL, ADA)).outcome);
  const no = await host.resume(CALL, declined.resume, [{ key, action: "decline" }], ADA);
  expect(no.outcome).toMatchObject({ status: "ok", output: "mug: decline " });
  const left = question((await host.call(CALL, ADA)).outcome);
  const again = await toolHost(config, host.home);
  const gone = await again.resume(CALL, left.resume, [{ key, action: "decline" }], ADA);
  expect(gone.outcome).toMatchObject({ status: "error", code: "question_over" });
});

test("a question to one of two users at once is nobody's", async () => {
  const { promise: bothAreThere, resolve: gate } = Promise.withResolvers<void>();
  let running = 0;
  const tool: ScriptedTool = {
    ...SHIP_2025,
    async run(args, context, server) {
      running++;
      if (running === 2) gate();
      await bothAreThere;
      return SHIP_2025.run?.(args, context, server) ?? text("");
    },
  };
  const server = await openMcpHttp([tool], "2025");
  const host = await toolHost({ privateHosts: new Set([server.host]) });
  await host.foreign.servers.add({ name: "far", url: server.url }, OPERATOR);
  const [ada, bob] = await Promise.all([host.call(CALL, ADA), host.call(CALL, { user: "bob" })]);
  const ends = [ada.outcome, bob.outcome].map((outcome) =>
    outcome.status === "ok" ? outcome.output : outcome.status,
  );
  expect(ends).toContain("mug: cancel ");
});

test("sampling, roots and addresses that are none are refused by name", async () => {
  const asks = (request: ReturnType<typeof inputRequired.elicit>): ScriptedTool => ({
    name: "ship",
    run: () => inputRequired({ inputRequests: { it: request } }),
  });
  const server = await openMcpHttp([
    asks(inputRequired.elicitUrl({ message: "Go", url: "javascript:alert(1)" })),
  ]);
  const host = await toolHost({ privateHosts: new Set([server.host]) });
  await host.foreign.servers.add({ name: "far", url: server.url }, OPERATOR);
  expect((await host.call(CALL, ADA)).outcome).toMatchObject({ code: "unsupported" });
  server.tools[0] = asks(inputRequired.elicitUrl({ message: "Go", url: "https://example.com/in" }));
  const asked = question((await host.call(CALL, ADA)).outcome);
  expect(asked.questions).toEqual([{ key: "it", message: "Go", url: "https://example.com/in" }]);
  server.tools[0] = asks(inputRequired.listRoots() as never);
  expect((await host.call(CALL, ADA)).outcome).toMatchObject({
    status: "error",
    message: expect.stringMatching(/roots/),
  });
});
