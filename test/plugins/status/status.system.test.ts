import { expect, test } from "vitest";
import { MANIFEST } from "../../../kernel/package.ts";
import { OPERATOR_TOKEN, openGateway } from "../../support/services/gateway.ts";

const tools = { weather: { run: () => ({ status: "ok", output: "sunny" }) as const } };

test("§4.1 the status tells version, channels, model, tools, people, jobs and nodes", async () => {
  const gateway = await openGateway({ tools });
  await gateway.socket();
  const { body } = await gateway.ask("/api/status");
  expect(body).toMatchObject({
    version: "0.0.0-test",
    model: { provider: "builtin" },
    tools: ["weather"],
    users_online: 1,
    jobs: { queued: 0, running: 0 },
    nodes: [{ id: expect.stringMatching(/^[0-9a-f-]{36}$/), version: MANIFEST.version }],
  });
  expect(body.channels).toContainEqual({ name: "gateway", on: true, detail: gateway.url });
  expect(body.channels.map(({ name }: { name: string }) => name)).not.toContain("store");
});

test("an ordinary user learns nothing of the machine from the status", async () => {
  const gateway = await openGateway({ tools });
  const token = await gateway.addUser("alice");
  const { body } = await gateway.ask("/api/status", { token });
  expect(new Set(body.channels.map(({ detail }: { detail: string }) => detail))).toEqual(new Set([""]));
});

test("tools are listed with their grants in words", async () => {
  const gateway = await openGateway({ tools });
  const { body } = await gateway.ask("/api/tools");
  expect(body.tools).toMatchObject([{ name: "weather", grants: ["may use weather"] }]);
  expect((await gateway.ask("/api/tools/weather")).body).toEqual(body.tools[0]);
  expect((await gateway.ask("/api/tools/none")).status).toBe(404);
});

test("metrics are for the operator, and count requests by route, not by address", async () => {
  const gateway = await openGateway();
  await gateway.ask("/api/threads/some-id-or-other");
  const { status, text } = await gateway.ask("/metrics");
  expect(status).toBe(200);
  expect(text).toContain('postern_http_requests_total{method="GET",route="/api/threads/:id",status="404"} 1');
  expect(text).not.toContain("some-id-or-other");
  expect(text).toMatch(/postern_sockets 0/);
  expect(text).toMatch(/nodejs_version_info/);
});

test("metrics say which format they are in, compressed or not", async () => {
  const gateway = await openGateway();
  for (const encoding of ["identity", "gzip"]) {
    const answer = await fetch(`${gateway.url}/metrics`, {
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}`, "accept-encoding": encoding },
    });
    expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  }
});

test("the printed line opens the page, and its token is in no log line", async () => {
  const gateway = await openGateway({ variables: { GATEWAY_AUTH_TOKEN: "" } });
  const line = gateway.service.lines.find((told) => told.startsWith("Open "));
  const token = /\?token=([\w-]{43})$/.exec(line ?? "")?.[1] as string;
  expect(line).toBe(`Open ${gateway.url}/?token=${token}`);
  expect((await gateway.ask("/api/status", { token })).status).toBe(200);
  const page = await fetch(`${gateway.url}/?token=${token}`);
  expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
  expect(await page.text()).not.toContain(token);
  expect(gateway.service.logged.join("")).not.toContain(token);
});

test("the newest log lines are for the operator, as JSON, with secrets hidden", async () => {
  const gateway = await openGateway();
  // A request, which is logged.
  await gateway.ask("/api/status");
  const { body } = await gateway.ask("/api/logs");
  expect(body.lines.length).toBeGreaterThan(0);
  expect(body.lines[0]).toMatchObject({ time: expect.any(String), level: expect.any(String) });
  const token = await gateway.addUser("alice");
  expect((await gateway.ask("/api/logs", { token })).status).toBe(403);

  await gateway.ask("/api/status", { token });
  await gateway.ask("/api/jobs/none");
  const list = async (query: string) => (await gateway.ask(`/api/logs?${query}`)).body;
  const messages = async (query: string) =>
    (await list(query)).lines.map((line: { message: string }) => line.message);
  await expect.poll(() => messages("user=alice")).toEqual(["GET /api/status 200"]);
  await expect.poll(() => messages("text=API/JOBS/none&level=debug")).toEqual(["GET /api/jobs/none 404"]);
  expect(await messages(`text=${encodeURIComponent('"path":"/api/jobs')}`)).toEqual([]);
  expect(await messages("level=fatal")).toEqual([]);
  expect(await messages("turn=none")).toEqual([]);
  const { lines, last, node } = await list("limit=1");
  expect([lines.length, node]).toEqual([1, (await gateway.ask("/api/status")).body.nodes[0].id]);
  await expect.poll(() => messages(`after=${last}`)).toEqual(["GET /api/status 200"]);
  for (const wrong of ["level=loud", "limit=0", "limit=501", "after=-1", "text="])
    expect((await gateway.ask(`/api/logs?${wrong}`)).status).toBe(400);

  // A request that was answered or refused is no line of a service that runs as it should.
  expect(await messages("level=info&text=GET")).toEqual([]);
});
