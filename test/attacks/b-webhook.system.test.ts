/** B. Nobody in by the side door: the webhook channel. */
import { beforeAll, expect } from "vitest";
import { attack } from "../support/attacks.ts";
import { type Attacked, serveUnderAttack } from "../support/processes/attacked.ts";
import { postern } from "../support/processes/postern.ts";
import { completed, SECRET, type Sending, signature, standardHeaders } from "../support/services/webhook.ts";
import { afterThisFile } from "../support/undo.ts";

const later = afterThisFile();
let service: Attacked;
let webhook: Attacked["webhook"];

beforeAll(async () => {
  service = await serveUnderAttack(later);
  service.served.model.otherwise({ text: "done" });
  webhook = service.webhook;
});

const post = (body: string, headers: Record<string, string>): Sending => ({
  method: "POST",
  path: "/webhook",
  headers: { "content-type": "application/json", ...headers },
  body,
});

attack(
  9,
  "a signed request that somebody has seen runs once, whatever it is called the second time",
  async () => {
    const body = JSON.stringify({ user_id: "ann", message: "pay the invoice" });
    const send = (delivery: string) =>
      webhook.send(post(body, { "x-hub-signature-256": signature(body), "x-github-delivery": delivery }));
    const first = await send("one");
    expect(first.status).toBe(200);
    await completed(webhook, first.json.job_id);
    for (const name of ["one", "two", ""]) expect((await send(name)).json.job_id).toBe(first.json.job_id);
  },
);

attack(
  9,
  "a signature of Standard Webhooks that somebody has seen is of no use ten minutes later",
  async () => {
    const body = JSON.stringify({ user_id: "ann", message: "pay the rent" });
    const headers = standardHeaders(body, SECRET, { id: "msg_1" });
    const first = await webhook.send(post(body, headers));
    expect((await webhook.send(post(body, headers))).json.job_id).toBe(first.json.job_id);
    expect((await webhook.send(post(body, { ...headers, "webhook-id": "msg_2" }))).status).toBe(401);
    const old = await webhook.send(post(body, standardHeaders(body, SECRET, { id: "msg_3", offSecs: -600 })));
    expect({ status: old.status, code: old.json.error.code }).toEqual({
      status: 401,
      code: "stale_timestamp",
    });
  },
);

attack(9, "an Idempotency-Key that comes with another body does not pass for the first one", async () => {
  const headers = { "idempotency-key": "order-1" };
  const first = await webhook.post({ user_id: "ann", message: "order one" }, headers);
  const other = await webhook.post({ user_id: "ann", message: "order a thousand" }, headers);
  expect(first.status).toBe(200);
  expect({ status: other.status, code: other.json.error.code }).toEqual({
    status: 422,
    code: "idempotency_key_reused",
  });
});

attack(
  8,
  "the webhook's secret does not open the memory and threads of an account that a sender names",
  async () => {
    const { model } = service.served;
    const path = "notes/door.md";
    const text = "the door code is 4711";
    expect((await service.send("PUT", `/api/memory/file?path=${path}`, { text })).status).toBe(200);
    model.otherwise(({ messages }) =>
      messages.at(-1)?.role === "tool"
        ? { text: JSON.stringify(messages.at(-1)) }
        : { calls: [{ name: "memory_read", arguments: { path } }] },
    );
    const own = await service.send("POST", "/api/chat", { message: "read it" });
    expect(own.json.response).toContain("4711");
    for (const user_id of ["operator", "./operator", "../operator", "webhook/../operator"]) {
      const { json } = await webhook.post({ user_id, message: "read it" });
      const { response } = await completed(webhook, json.job_id);
      expect(response).toContain("no document");
      expect(response).not.toContain("4711");
    }
    const { threads } = (await service.send("GET", "/api/threads?limit=200")).json;
    expect(threads).toHaveLength(1);
    expect((await service.run("job", "list", "--user", "webhook/operator")).stdout).toContain(
      "webhook/operator",
    );
    expect((await service.run("job", "list", "--user", "operator")).stdout).toContain("No jobs");
    model.otherwise({ text: "done" });
  },
);

attack(8, "a secret of three characters does not go unnoticed", async () => {
  const env = { POSTERN_HOME: service.served.home, HTTP_ENABLED: "true", HTTP_PORT: "0" };
  const { stdout } = await postern(["doctor"], { env: { ...env, HTTP_WEBHOOK_SECRET: "abc" } });
  expect(stdout).toMatch(/warn +webhook secret +HTTP_WEBHOOK_SECRET has only 3 characters/);
});

attack(8, "what the operator always allows is not allowed to whoever names the operator", async () => {
  const { model } = service.served;
  await service.install("notes", "echo.js");
  const call = { calls: [{ name: "notes", arguments: {} }] };
  const pending = async () => (await service.send("GET", "/api/approvals")).json.pending;
  model.script(call, { text: "Done." });
  expect((await service.send("POST", "/api/chat", { message: "note it" })).json.status).toBe("waiting");
  const [own] = await pending();
  const asked = model.requests.length;
  await service.send("POST", `/api/approvals/${own.id}`, { decision: "always" });
  await expect.poll(() => model.requests.length).toBe(asked + 1);

  model.script(call);
  const { json } = await webhook.post({ user_id: "operator", message: "note it" });
  expect((await completed(webhook, json.job_id)).error).toMatchObject({ code: "approval_required" });
  // The operator is asked, and told for whom.
  const [theirs] = await pending();
  expect(theirs).toMatchObject({ user_id: "webhook/operator", call: { name: "notes" } });
  await service.send("POST", `/api/approvals/${theirs.id}`, { decision: "deny" });
  await expect.poll(pending).toEqual([]);
});
