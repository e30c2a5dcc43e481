/** The state that a client keeps between two requests of 2026-07-28, in the hands of somebody who means no good. */
import { describe, expect, test } from "vitest";
import { openMcp, type TestMcp } from "../../support/services/mcp.ts";

interface Answered {
  readonly result?: Record<string, unknown> & { readonly requestState?: string };
  readonly error?: { readonly code: number; readonly message: string };
}

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
};
const ALLOWED = { approval: { action: "accept", content: { decision: "once" } } };

async function call(mcp: TestMcp, params: object, token?: string): Promise<Answered> {
  const { name } = params as { name: string };
  const { body } = await mcp.ask("/mcp", {
    method: "POST",
    ...(token !== undefined && { token }),
    headers: {
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": name,
    },
    body: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { ...params, _meta: META } },
  });
  return body;
}

async function waiting() {
  let runs = 0;
  const tool = {
    writes: true,
    run: () => {
      runs += 1;
      return { status: "ok" as const, output: "done" };
    },
  };
  const mcp = await openMcp({ tools: { mailer: tool, other: tool } });
  const letter = { name: "mailer", arguments: { to: "bob" } };
  const { result } = await call(mcp, letter);
  expect(result).toMatchObject({ resultType: "input_required" });
  const requestState = result?.requestState ?? "";
  return { mcp, letter, requestState, runs: () => runs };
}

const REFUSED = { error: { code: -32602 } };

test("arguments that nest without end are shown as far as they go", async () => {
  const { mcp, runs } = await waiting();
  const row = JSON.stringify("x".repeat(200));
  const nested = JSON.parse(`${`[${row},`.repeat(190)}1${"]".repeat(190)}`);
  const { result } = await call(mcp, { name: "mailer", arguments: { nested } });
  expect(JSON.stringify(result)).toContain("more characters");
  expect(JSON.stringify(result).length).toBeLessThan(10_000);
  expect(runs()).toBe(0);
});

describe("requestState", () => {
  test("an answer counts once", async () => {
    const { mcp, letter, requestState, runs } = await waiting();
    const answer = { ...letter, requestState, inputResponses: ALLOWED };
    expect(await call(mcp, answer)).toMatchObject({ result: { content: [{ text: "done" }] } });
    expect(await call(mcp, answer)).toMatchObject({ result: { isError: true } });
    expect(runs()).toBe(1);
  });

  test("two answers at once count once", async () => {
    const { mcp, letter, requestState, runs } = await waiting();
    const answer = { ...letter, requestState, inputResponses: ALLOWED };
    await Promise.all([1, 2, 3].map(() => call(mcp, answer)));
    expect(runs()).toBe(1);
  });

  test("it is for one tool and one set of arguments", async () => {
    const { mcp, letter, requestState, runs } = await waiting();
    const taken = { requestState, inputResponses: ALLOWED };
    expect(await call(mcp, { ...letter, arguments: { to: "eve" }, ...taken })).toMatchObject(REFUSED);
    expect(await call(mcp, { ...letter, name: "other", ...taken })).toMatchObject(REFUSED);
    expect(await call(mcp, { name: "ask", arguments: { message: "hi" }, ...taken })).toMatchObject(REFUSED);
    expect(runs()).toBe(0);
  });

  test("it is for one user", async () => {
    const { mcp, letter, requestState, runs } = await waiting();
    const token = await mcp.addUser("eve");
    const answer = { ...letter, requestState, inputResponses: ALLOWED };
    expect(await call(mcp, answer, token)).toMatchObject(REFUSED);
    expect(runs()).toBe(0);
  });

  test("one that was changed is refused", async () => {
    const { mcp, letter, requestState, runs } = await waiting();
    // Not the last letter, of which some bits mean nothing.
    const other = requestState.at(-2) === "A" ? "B" : "A";
    const forged = `${requestState.slice(0, -2)}${other}${requestState.slice(-1)}`;
    for (const changed of [forged, "", "x.y", requestState.slice(4)])
      expect(await call(mcp, { ...letter, requestState: changed, inputResponses: ALLOWED })).toMatchObject(
        REFUSED,
      );
    expect(runs()).toBe(0);
  });

  test("an answer without the state is none", async () => {
    const { mcp, letter, runs } = await waiting();
    const { result } = await call(mcp, { ...letter, inputResponses: ALLOWED });
    expect(result).toMatchObject({ resultType: "input_required" });
    expect(runs()).toBe(0);
  });

  test.each([
    ["nothing", {}],
    ["no decision", { approval: { action: "accept", content: {} } }],
    ["a decision of another kind", { approval: { action: "accept", content: { decision: ["once"] } } }],
    ["something that is no answer", { approval: "once" }],
  ])("%s is not a yes", async (_, inputResponses) => {
    const { mcp, letter, requestState, runs } = await waiting();
    const { result } = await call(mcp, { ...letter, requestState, inputResponses });
    expect(result?.["resultType"] === "input_required" || result?.["isError"]).toBe(true);
    expect(runs()).toBe(0);
  });
});
