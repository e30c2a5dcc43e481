/** Calls that take long become tasks, for clients that know them. The requester is the protocol's authors' own. */
import type { Client } from "@modelcontextprotocol/client";
import { createTaskSessionFromClient } from "@modelcontextprotocol/ext-tasks/client";
import { describe, expect, test } from "vitest";
import { MIGRATIONS, OWNER } from "../../../plugins/mcp/tasks/rows.ts";
import type { TestTool } from "../../support/services/agent.ts";
import { OPERATOR_TOKEN } from "../../support/services/gateway.ts";
import { openMcp, slowTool, type TestMcp } from "../../support/services/mcp.ts";
import { afterThisTest } from "../../support/undo.ts";

const EXTENSION = "io.modelcontextprotocol/tasks";
const AT_ONCE = { variables: { MCP_TASK_AFTER_SECS: "0" } };
const IN_AN_HOUR = { variables: { MCP_TASK_AFTER_SECS: "3600" } };
const SOON = { variables: { MCP_TASK_AFTER_SECS: "0.05" } };

const ok = (output: string) => ({ status: "ok" as const, output });
const quick: TestTool = { run: () => ok("at once") };

let ids = 0;

/** A request of 2026-07-28 as it goes over the wire. */
async function send(
  { endpoint }: TestMcp,
  method: string,
  params: Record<string, unknown>,
  { token = OPERATOR_TOKEN, knowsTasks = true, elicits = false } = {},
) {
  ids += 1;
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": {
      ...(knowsTasks && { extensions: { [EXTENSION]: {} } }),
      ...(elicits && { elicitation: { form: {} } }),
    },
  };
  const name = params["name"] ?? params["taskId"];
  const response = await fetch(endpoint, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(name !== undefined && { "mcp-name": String(name) }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: ids, method, params: { ...params, _meta: meta } }),
  });
  return (await response.json()) as {
    // biome-ignore lint/suspicious/noExplicitAny: a test reads what it asserts
    readonly result?: any;
    readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  };
}

const call = (mcp: TestMcp, name: string, options?: Parameters<typeof send>[3]) =>
  send(mcp, "tools/call", { name, arguments: {} }, options);
const get = (mcp: TestMcp, taskId: string, options?: Parameters<typeof send>[3]) =>
  send(mcp, "tasks/get", { taskId }, options);

describe("2026-07-28", () => {
  test("a call that takes long is answered with a task, which has the result in the end", async () => {
    const { tool, finish } = slowTool();
    const patient = await openMcp({ ...IN_AN_HOUR, tools: { quick } });
    expect((await call(patient, "quick")).result).toMatchObject({ resultType: "complete" });
    const mcp = await openMcp({ ...SOON, tools: { slow: tool } });
    const { result: task } = await call(mcp, "slow");
    expect(task).toMatchObject({ resultType: "task", status: "working", ttlMs: 3_600_000 });
    expect((await get(mcp, task.taskId)).result).toMatchObject({
      status: "working",
      resultType: "complete",
    });
    finish();
    await expect
      .poll(async () => (await get(mcp, task.taskId)).result)
      .toMatchObject({ status: "completed", result: { content: [{ type: "text", text: "in the end" }] } });
  });

  test("a client that does not know tasks waits, and cannot ask about any", async () => {
    const { tool, finish, started } = slowTool();
    const mcp = await openMcp({ ...AT_ONCE, tools: { slow: tool } });
    const waiting = call(mcp, "slow", { knowsTasks: false });
    await expect.poll(started).toBe(1);
    finish();
    expect((await waiting).result).toMatchObject({ resultType: "complete" });
    expect((await get(mcp, "any", { knowsTasks: false })).error).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { extensions: { [EXTENSION]: {} } } },
    });
  });

  test("cancelling ends the call, and says so however often it is asked", async () => {
    const { tool, aborted } = slowTool();
    const mcp = await openMcp({ ...SOON, tools: { slow: tool } });
    const { result: task } = await call(mcp, "slow");
    const acknowledged = { resultType: "complete" };
    expect((await send(mcp, "tasks/cancel", { taskId: task.taskId })).result).toMatchObject(acknowledged);
    await expect.poll(aborted).toBe(1);
    expect((await get(mcp, task.taskId)).result.status).toBe("cancelled");
    expect((await send(mcp, "tasks/cancel", { taskId: task.taskId })).result).toMatchObject(acknowledged);
  });

  test("a task that has to ask waits for the answer, and goes on with it", async () => {
    const post: TestTool = { writes: true, run: () => ok("sent") };
    const mcp = await openMcp({ ...AT_ONCE, tools: { post } });
    const elicits = { elicits: true };
    let id = "";
    // Asking takes about as long as this setting allows: now and then it is asked without a task.
    await expect
      .poll(async () => {
        const { result } = await call(mcp, "post", elicits);
        id = result.taskId;
        return result.resultType;
      })
      .toBe("task");
    const status = async () => (await get(mcp, id, elicits)).result.status;
    await expect.poll(status).toBe("input_required");
    const answer = (inputResponses: object) =>
      send(mcp, "tasks/update", { taskId: id, inputResponses }, elicits);
    await answer({ nobody_asked: { action: "accept" } });
    expect(await status()).toBe("input_required");
    await answer({ approval: { action: "accept", content: { decision: "once" } } });
    await expect.poll(status).toBe("completed");
    expect((await get(mcp, id, elicits)).result.result.content).toEqual([{ type: "text", text: "sent" }]);
  });

  test("a task is there for its user alone, and for the token with a scope that made it", async () => {
    const { tool, finish } = slowTool();
    const mcp = await openMcp({ ...SOON, tools: { slow: tool } });
    const ann = await mcp.addUser("ann");
    const { body: scoped } = await mcp.ask("/api/tokens", {
      method: "POST",
      body: { user: "operator", name: "scoped", tools: ["slow"] },
    });
    const { result: task } = await call(mcp, "slow");
    const { result: other } = await call(mcp, "slow", { token: scoped.token });
    for (const token of [ann, scoped.token])
      expect((await get(mcp, task.taskId, { token })).error?.code).toBe(-32602);
    expect((await get(mcp, other.taskId)).error?.code).toBe(-32602);
    expect((await get(mcp, other.taskId, { token: scoped.token })).result.status).toBe("working");
    finish();
  });

  test("what a stopping service was at has failed, and says so after the restart", async () => {
    const { tool } = slowTool();
    const first = await openMcp({ ...SOON, tools: { slow: tool } });
    const { result: task } = await call(first, "slow");
    await first.service.stop();
    const second = await openMcp({ ...SOON, home: first.service.home });
    expect((await get(second, task.taskId)).result).toMatchObject({
      status: "failed",
      error: { code: -32603, message: expect.stringContaining("stopped") },
    });
  });

  test("a task whose node has died says so, and one that has expired is not there", async () => {
    const { tool, finish } = slowTool();
    const mcp = await openMcp({ ...AT_ONCE, tools: { slow: tool } });
    const { result: task } = await call(mcp, "slow");
    const sql = await mcp.service.service("store").tables(OWNER, MIGRATIONS);
    await sql.run("UPDATE mcp_tasks SET node = 'gone'");
    // Whoever renews it is alive, also where no list of nodes has it.
    expect((await get(mcp, task.taskId)).result.status).toBe("working");
    await sql.run("UPDATE mcp_tasks SET renewed_at = 0");
    expect((await get(mcp, task.taskId)).result.status).toBe("failed");
    await sql.run("UPDATE mcp_tasks SET expires_at = 1");
    expect((await get(mcp, task.taskId)).error?.code).toBe(-32602);
    finish();
  });

  test("with a hundred tasks a user gets no more: the next call is waited for", async () => {
    const { tool, finish, started } = slowTool();
    const mcp = await openMcp({ ...AT_ONCE, tools: { slow: tool } });
    const made = await Promise.all(Array.from({ length: 100 }, () => call(mcp, "slow")));
    expect(new Set(made.map(({ result }) => result.resultType))).toEqual(new Set(["task"]));
    const next = call(mcp, "slow");
    await expect.poll(started).toBe(101);
    finish();
    expect((await next).result.resultType).toBe("complete");
  });

  test("with tasks that hold too much together, the next call is waited for", async () => {
    const { tool, finish, started } = slowTool();
    const mcp = await openMcp({ ...AT_ONCE, tools: { slow: tool } });
    expect((await call(mcp, "slow")).result.resultType).toBe("task");
    const sql = await mcp.service.service("store").tables(OWNER, MIGRATIONS);
    await sql.run("UPDATE mcp_tasks SET status = 'completed', detail = ?", "x".repeat(2 ** 26));
    const next = call(mcp, "slow");
    await expect.poll(started).toBe(2);
    finish();
    expect((await next).result.resultType).toBe("complete");
  });
});

describe("2025-11-25", () => {
  const session = async (client: Client) => {
    const made = createTaskSessionFromClient(client, { endpointId: "test" });
    afterThisTest(() => made.close());
    return made;
  };

  test("a client that asks for a task gets one, and its result", async () => {
    const { tool, finish } = slowTool();
    const mcp = await openMcp({ tools: { slow: tool } });
    const client = await mcp.client("2025-11-25");
    expect((await client.listTools()).tools[1]?.execution).toEqual({ taskSupport: "optional" });
    const tasks = await session(client);
    const execution = await tasks.callTool("slow", {}, { task: { preference: "require" } });
    expect(execution.kind).toBe("task");
    finish();
    const { outcome } = await execution.settle();
    expect(outcome).toMatchObject({
      status: "completed",
      result: { content: [{ type: "text", text: "in the end" }] },
    });
  });

  test("a task is kept for a minute at least, however short the client wants it", async () => {
    const mcp = await openMcp({ tools: { quick } });
    const response = await fetch(mcp.endpoint, {
      method: "POST",
      headers: {
        authorization: `Bearer ${OPERATOR_TOKEN}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2025-11-25",
      },
      body: JSON.stringify({
        ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
        params: { name: "quick", arguments: {}, task: { ttl: 1 } },
      }),
    });
    expect(await response.text()).toContain('"ttl":60000');
  });

  test("cancelling ends the call; a task that has ended cannot be cancelled", async () => {
    const { tool, started, aborted } = slowTool();
    const mcp = await openMcp({ tools: { slow: tool } });
    const tasks = await session(await mcp.client("2025-11-25"));
    const execution = await tasks.callTool("slow", {}, { task: { preference: "require" } });
    await expect.poll(started).toBe(1);
    await execution.cancel();
    await expect.poll(aborted).toBe(1);
    const id = execution.kind === "task" ? execution.handle.taskId : undefined;
    if (id === undefined) throw new Error("no task");
    await expect(tasks.task(id).cancel()).rejects.toThrow();
  });
});
