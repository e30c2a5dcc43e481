/** B. Nobody in by the side door: the webhook channel. */
import { beforeAll, expect } from "vitest";
import { attack } from "../support/attacks.ts";
import { type Attacked, serveUnderAttack } from "../support/processes/attacked.ts";
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
