/** Two nodes whose database is killed and started again. */
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { type Fleet, startFleet, TOKEN } from "../support/processes/fleet.ts";
import { describePostgres, execute } from "../support/processes/postgres/database.ts";
import { startPostgres } from "../support/processes/postgres/server.ts";
import type { ChatRequest } from "../support/servers/model-server.ts";
import { SECRET } from "../support/services/webhook-plugins.ts";
import { afterThisTest } from "../support/undo.ts";

function lastText({ messages }: ChatRequest): string {
  return String(messages.findLast(({ role }) => role === "user")?.content);
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function call(url: string, headers: Record<string, string>, body?: unknown) {
  const answer = await fetch(url, {
    method: body === undefined ? "GET" : "POST",
    headers: { "content-type": "application/json", ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const isJson = answer.headers.get("content-type")?.includes("json");
  return { status: answer.status, text, json: isJson ? JSON.parse(text) : undefined };
}

// biome-ignore lint/suspicious/noExplicitAny: tests look wherever they like
type Frame = any;

async function listen({ nodes }: Fleet): Promise<Frame[]> {
  const url = `${nodes[0]?.url.replace("http", "ws")}/api/chat/ws`;
  const socket = new WebSocket(url, { headers: bearer(TOKEN) });
  const frames: Frame[] = [];
  socket.on("message", (data) => void frames.push(JSON.parse(String(data))));
  socket.on("close", (code) => void frames.push({ type: "closed", code }));
  afterThisTest(() => socket.terminate());
  await expect.poll(() => frames.some(({ type }) => type === "hello")).toBe(true);
  return frames;
}

describePostgres("a fleet whose database is lost", () => {
  test("answers 503 until it is back, and has then lost and doubled nothing", async () => {
    const postgres = await startPostgres({ fsync: true });
    afterThisTest(() => postgres.close());
    const fleet = await startFleet(postgres.url, { size: 2 });
    const [one, other] = fleet.nodes as [Fleet["nodes"][0], Fleet["nodes"][0]];
    const operator = bearer(TOKEN);
    await call(`${one.url}/api/users`, operator, { id: "ann" });
    const made = await call(`${one.url}/api/tokens`, operator, { user: "ann", name: "test" });
    const ann = bearer(made.json.token);

    const held = new Map(["chat", "job"].map((name) => [name, Promise.withResolvers<string>()]));
    fleet.model.otherwise((request) => {
      const rest = held.get(lastText(request));
      return { text: rest ? ["Begun ", rest.promise] : "Plain." };
    });
    const frames = await listen(fleet);
    const secret = { "x-webhook-secret": SECRET };
    const talk = call(`${one.url}/api/chat`, ann, { message: "chat" });
    const response = call(`${one.url}/api/v1/responses`, operator, { model: "reborn", input: "chat" });
    const job = await call(`${other.webhookUrl}/webhook`, secret, { user_id: "bob", message: "job" });
    await expect.poll(() => fleet.model.requests.length).toBe(3);

    await postgres.kill();
    const statuses = async (path: string) =>
      Promise.all(fleet.nodes.map(async ({ url }) => (await fetch(`${url}${path}`)).status));
    expect(await statuses("/ready")).toEqual([503, 503]);
    expect(await statuses("/health")).toEqual([200, 200]);
    const message = { message: "meanwhile" };
    const input = { model: "reborn", input: "meanwhile" };
    const webhook = { user_id: "bob", ...message };
    for (const { url, webhookUrl } of fleet.nodes) {
      for (const answer of [
        await call(`${url}/api/chat`, ann, message),
        await call(`${url}/api/v1/responses`, ann, input),
        await call(`${url}/api/threads`, ann),
      ])
        expect([answer.status, answer.text]).toEqual([503, "Database unavailable"]);
      for (const answer of [
        await call(`${url}/api/chat`, operator, message),
        await call(`${url}/api/v1/responses`, operator, input),
        await call(`${webhookUrl}/webhook`, secret, webhook),
        await call(`${webhookUrl}/jobs/${job.json.job_id}`, secret),
      ])
        expect(answer).toMatchObject({ status: 503, json: { error: { code: "store_unavailable" } } });
    }
    // A turn that ends meanwhile is told with what it said, and that it could not be stored.
    for (const { resolve } of held.values()) resolve("and done.");
    const failed = { status: "failed", error: { code: "store_unavailable" } };
    expect(await talk).toMatchObject({ status: 200, json: { ...failed, response: "Begun and done." } });
    expect(await response).toMatchObject({ status: 200, json: failed });

    await postgres.start();
    await expect.poll(() => statuses("/ready")).toEqual([200, 200]);
    // Its first turn could not be stored, which is no answer to what was accepted.
    await expect
      .poll(async () => (await call(`${one.webhookUrl}/jobs/${job.json.job_id}`, secret)).json)
      .toMatchObject({ status: "completed", response: "Begun and done." });

    // Events may have been missed: the socket is closed, and its client comes back and reads again.
    await expect.poll(() => frames.at(-1)).toEqual({ type: "closed", code: 1013 });
    const again = await listen(fleet);
    const sent = await call(`${other.url}/api/chat/send`, operator, { message: "after" });
    const isEnd = (frame: Frame) => frame.turn_id === sent.json.message_id && frame.type === "done";
    await expect.poll(() => again.find(isEnd)).toBeDefined();

    const stored = `SELECT turns.input::json ->> 'text' AS input, status, string_agg(items.body, '|') AS said
      FROM turns JOIN turn_items AS items ON items.turn = turns.id GROUP BY turns.seq ORDER BY 1, 2`;
    const whole = expect.stringContaining("Begun and done.");
    await expect
      .poll(() => execute(postgres.url, stored))
      .toMatchObject([
        { input: "after", status: "completed" },
        { input: "chat", status: "failed", said: whole },
        { input: "chat", status: "failed", said: whole },
        { input: "job", status: "completed", said: whole },
        { input: "job", status: "failed", said: whole },
      ]);
    expect(await execute(postgres.url, "SELECT id FROM jobs")).toHaveLength(1);
  });

  test("answers the first request of every route while it is away", async () => {
    const postgres = await startPostgres();
    afterThisTest(() => postgres.close());
    const { nodes } = await startFleet(postgres.url, { size: 1, env: { OPENAI_API: "true" } });
    const [node] = nodes as [Fleet["nodes"][0]];
    const { url, webhookUrl } = node;
    // Its tables are there at the second start: nothing but the request itself asks for the database.
    await call(`${url}/api/chat`, bearer(TOKEN), { message: "hi" });
    node.process.kill("SIGTERM");
    await node.process.ended;
    await node.start();
    const operator = bearer(TOKEN);
    const { json: document } = await call(`${url}/api/openapi.json`, operator);
    await postgres.kill();
    const bodies: Readonly<Record<string, unknown>> = {
      "/api/v1/responses": { model: "reborn", input: "hi" },
      "/api/chat": { message: "hi" },
      "/api/chat/send": { message: "hi" },
    };
    const routes = Object.entries(document.paths as Record<string, object>).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({ path, method: method.toUpperCase() })),
    );
    const statuses = async ({ path, method }: (typeof routes)[0]) => {
      const { status, body } = await fetch(`${url}${path.replace(/\{\w+\}/g, "x")}`, {
        method,
        headers: { ...operator, "content-type": "application/json" },
        ...(method !== "GET" && { body: JSON.stringify(bodies[path] ?? {}) }),
      });
      await body?.cancel();
      return [`${method} ${path}`, status] as const;
    };
    const webhook = call(
      `${webhookUrl}/webhook`,
      { "x-webhook-secret": SECRET },
      { user_id: "b", message: "hi" },
    );
    const answers = new Map(await Promise.all(routes.map(statuses)));
    for (const path of Object.keys(bodies)) expect([path, answers.get(`POST ${path}`)]).toEqual([path, 503]);
    expect((await webhook).status).toBe(503);
    // What is asked wrongly is refused without the database, and some things are known without it.
    expect([...answers].filter(([, status]) => status >= 500 && status !== 503)).toEqual([]);
    expect([...answers.values()].filter((status) => status === 503).length).toBeGreaterThan(100);
  });
});
