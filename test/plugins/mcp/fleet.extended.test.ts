/** Two nodes on one database, and a client whose requests reach either. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { emptyDatabase } from "../../support/processes/postgres/database.ts";
import { OPERATOR_TOKEN } from "../../support/services/gateway.ts";
import { openMcp, slowTool, type TestMcp, textOf } from "../../support/services/mcp.ts";
import { afterThisTest } from "../../support/undo.ts";

const done = { status: "ok" as const, output: "done" };

async function openTwo(tools: Parameters<typeof openMcp>[0] & object): Promise<readonly [TestMcp, TestMcp]> {
  const variables = {
    STORE_URL: await emptyDatabase(afterThisTest),
    POSTERN_SECRETS_KEY: "07".repeat(32),
    MEMORY_VECTORS: "false",
  };
  const first = await openMcp({ ...tools, variables });
  return [first, await openMcp({ ...tools, variables })];
}

/** Sends each request where `choose` says. */
async function spread(
  choose: (message: { readonly method?: string; readonly id?: unknown } | undefined) => TestMcp,
  prepare: (client: Client) => void,
  capabilities: object = {},
): Promise<Client> {
  const client = new Client({ name: "spread", version: "1" }, { capabilities });
  prepare(client);
  const transport = new StreamableHTTPClientTransport(new URL("http://fleet.test/mcp"), {
    requestInit: { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } },
    fetch: (_url, init) => {
      const body = typeof init?.body === "string" ? JSON.parse(init.body) : undefined;
      return fetch(choose(body).endpoint, init);
    },
  });
  await client.connect(transport);
  afterThisTest(() => client.close());
  return client;
}

test("a session goes on at any node, and an answer reaches the node that asked", async () => {
  const mailer = { writes: true, run: () => done };
  const [one, two] = await openTwo({ tools: { mailer } });
  const asked: string[] = [];
  const client = await spread(
    // It begins here, calls there, and answers here.
    (message) => (message?.method === "tools/call" ? two : one),
    (it) =>
      it.setRequestHandler("elicitation/create", async ({ params }) => {
        asked.push(params.message);
        return { action: "accept", content: { decision: "once" } };
      }),
    { elicitation: { form: {} } },
  );
  expect(textOf(await client.callTool({ name: "mailer", arguments: {} }))).toBe("done");
  expect(asked).toHaveLength(1);
});

test("a call is cancelled at any node, and an ended session has ended at all", async () => {
  const { tool: slow, started, aborted } = slowTool();
  const [one, two] = await openTwo({ tools: { slow } });
  const client = await spread(
    (message) => (message?.method === "tools/call" ? two : one),
    () => {},
  );
  const stop = new AbortController();
  const called = client.callTool({ name: "slow", arguments: {} }, { signal: stop.signal });
  await expect.poll(started).toBe(1);
  stop.abort();
  await expect(called).rejects.toThrow();
  await expect.poll(aborted).toBe(1);

  const transport = client.transport as StreamableHTTPClientTransport;
  const headers = {
    authorization: `Bearer ${OPERATOR_TOKEN}`,
    accept: "application/json, text/event-stream",
    "content-type": "application/json",
    "mcp-session-id": transport.sessionId ?? "",
  };
  await transport.terminateSession();
  const body = JSON.stringify({ jsonrpc: "2.0", id: 9, method: "tools/list" });
  await expect
    .poll(async () => (await fetch(two.endpoint, { method: "POST", headers, body })).status)
    .toBe(404);
});

test("an approval that one node asked for is taken at the other, once", async () => {
  let runs = 0;
  const mailer = {
    writes: true,
    run: () => {
      runs += 1;
      return done;
    },
  };
  const [one, two] = await openTwo({ tools: { mailer } });
  const call = async (mcp: TestMcp, more: object) =>
    (
      await mcp.ask("/mcp", {
        method: "POST",
        headers: {
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/call",
          "mcp-name": "mailer",
        },
        body: {
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: {
            name: "mailer",
            arguments: {},
            ...more,
            _meta: {
              "io.modelcontextprotocol/protocolVersion": "2026-07-28",
              "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
              "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
            },
          },
        },
      })
    ).body.result;
  const { requestState } = await call(one, {});
  const inputResponses = { approval: { action: "accept", content: { decision: "once" } } };
  const results = await Promise.all([one, two].map((mcp) => call(mcp, { requestState, inputResponses })));
  expect(results.filter(({ isError }) => isError)).toHaveLength(1);
  expect(runs).toBe(1);
});

test("what changes on one node is announced by the other", async () => {
  const [one, two] = await openTwo({});
  const told = new Set<string>();
  const client = await two.client("2026-07-28");
  client.setNotificationHandler("notifications/resources/list_changed", () => void told.add("resources"));
  await client.listen({ resourcesListChanged: true });
  const memory = one.service.service("memory");
  let count = 0;
  await expect
    .poll(
      async () => {
        count += 1;
        await memory.write("operator", `${count}.md`, "A");
        return [...told];
      },
      { interval: 300 },
    )
    .toEqual(["resources"]);
});
