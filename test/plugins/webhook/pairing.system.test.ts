import { expect, test } from "vitest";
import type { AnyPlugin } from "../../../kernel/plugin.ts";
import webhookPlugin from "../../../plugins/webhook/plugin.ts";
import { openGateway } from "../../support/services/gateway.ts";
import { client, completed } from "../../support/services/webhook.ts";
import { WEBHOOK_SETTINGS } from "../../support/services/webhook-plugins.ts";

async function open(pairing: "optional" | "required") {
  const gateway = await openGateway({
    plugins: [webhookPlugin] as readonly AnyPlugin[],
    variables: { ...WEBHOOK_SETTINGS, HTTP_PAIRING: pairing },
  });
  const detail = gateway.service.states.find(({ name }) => name === "webhook")?.detail ?? "";
  const ann = await gateway.addUser("ann");
  const post = (path: string, body: unknown, token?: string) =>
    gateway.ask(path, { method: "POST", body, ...(token && { token }) });
  return { gateway, webhook: client(detail), ann, post };
}

const REMEMBER = { user_id: "ann", message: "Remember that my bike is red", conversation_id: "c1" };

test("optional: an identity talks, and pairing it gives its threads, memory and conversations to the account", async () => {
  const { gateway, webhook, ann, post } = await open("optional");
  const memory = gateway.service.service("memory");
  await memory.write("ann", "notes/my-bike-is-red.md", "ann's own note");
  const { json } = await webhook.post(REMEMBER);
  const before = await completed(webhook, json.job_id);
  expect(before.response).toContain("remember");
  expect((await gateway.ask("/api/threads", { token: ann })).body.threads).toEqual([]);
  expect((await gateway.ask("/api/identities")).body.identities).toEqual([
    { id: "webhook/ann", account: null, paired_at: null, held: 0 },
  ]);

  expect((await post("/api/identities/pair", { identity: "webhook/ann", account: "ann" }, ann)).status).toBe(
    403,
  );
  expect((await post("/api/identities/pair", { identity: "webhook/ann", account: "nobody" })).status).toBe(
    404,
  );
  for (const identity of ["ann", "webhook/", "operator"])
    expect((await post("/api/identities/pair", { identity, account: "ann" })).status).toBe(400);
  expect((await post("/api/identities/pair", { identity: "webhook/ann", account: "ann" })).status).toBe(204);
  expect((await gateway.ask("/api/identities")).body.identities).toMatchObject([{ account: "ann" }]);

  const { threads } = (await gateway.ask("/api/threads", { token: ann })).body;
  expect(threads).toHaveLength(1);
  expect((await memory.tree("ann")).map(({ path }) => path)).toEqual([
    "notes/my-bike-is-red.md",
    "webhook/ann/notes/my-bike-is-red.md",
  ]);
  expect((await memory.read("ann", "notes/my-bike-is-red.md"))?.text).toBe("ann's own note");
  expect((await memory.search("ann", "bike")).map(({ path }) => path).sort()).toEqual([
    "notes/my-bike-is-red.md",
    "webhook/ann/notes/my-bike-is-red.md",
  ]);

  // The conversation goes on where it was, as the account.
  const next = await webhook.post({ ...REMEMBER, message: "Hello" });
  await completed(webhook, next.json.job_id);
  const mine = (await gateway.ask("/api/jobs", { token: ann })).body.jobs;
  expect(mine.map(({ thread_id }: { thread_id: string }) => thread_id)).toEqual([
    threads[0].id,
    threads[0].id,
  ]);

  expect((await post("/api/identities/unpair", { identity: "webhook/ann" })).status).toBe(204);
  expect((await post("/api/identities/unpair", { identity: "webhook/ann" })).status).toBe(404);
  const apart = await webhook.post({ ...REMEMBER, message: "Hello" });
  await completed(webhook, apart.json.job_id);
  expect((await gateway.ask("/api/jobs", { token: ann })).body.jobs).toHaveLength(2);
});

test("§3.3 required: an unknown user's messages wait at a pairing gate, which an operator answers by naming an account", async () => {
  const { gateway, webhook, ann, post } = await open("required");
  const first = await webhook.post(REMEMBER);
  expect(first.json).toEqual({ job_id: expect.any(String), status: "queued", waiting_for: "pairing" });
  const second = await webhook.post({ ...REMEMBER, message: "What colour is my bike?" });
  const other = await webhook.post({ user_id: "eve", message: "hello" });
  expect((await webhook.get(`/jobs/${other.json.job_id}`)).json.waiting_for).toBe("pairing");

  const { pending } = (await gateway.ask("/api/approvals")).body;
  expect(pending).toEqual([
    {
      type: "pairing",
      id: first.json.job_id,
      identity: "webhook/ann",
      opened_at: expect.any(String),
      message: REMEMBER.message,
    },
    expect.objectContaining({ identity: "webhook/eve" }),
  ]);
  expect((await gateway.ask("/api/approvals", { token: ann })).body.pending).toEqual([]);
  const decide = await post(`/api/approvals/${first.json.job_id}`, { decision: "once" });
  expect(decide).toMatchObject({ status: 400, body: { error: { code: "decision_does_not_fit" } } });
  // Nothing has run: there is neither a thread nor a memory of it.
  expect((await gateway.service.service("threads").list("webhook/ann")).items).toEqual([]);

  await post("/api/identities/pair", { identity: "webhook/ann", account: "ann" });
  expect((await completed(webhook, first.json.job_id)).response).toContain("remember");
  expect((await completed(webhook, second.json.job_id)).response).toContain("red");
  expect(await gateway.service.service("memory").tree("ann")).toHaveLength(1);
  const later = await webhook.post({ ...REMEMBER, message: "hello" });
  expect(later.json).not.toHaveProperty("waiting_for");

  expect((await post("/api/identities/deny", { identity: "webhook/eve" })).status).toBe(204);
  expect(await completed(webhook, other.json.job_id)).toMatchObject({ error: { code: "pairing_denied" } });
  expect((await post("/api/identities/deny", { identity: "webhook/eve" })).status).toBe(404);
  expect((await gateway.ask("/api/approvals")).body.pending).toEqual([]);
});

test("what is kept of an identity can be deleted, and an identity is no user otherwise", async () => {
  const { gateway, webhook } = await open("optional");
  const { json } = await webhook.post(REMEMBER);
  await completed(webhook, json.job_id);
  const remove = (query: string) =>
    gateway.ask(`/api/users/${encodeURIComponent("webhook/ann")}${query}`, { method: "DELETE" });
  expect((await remove("")).status).toBe(404);
  expect((await remove("?with_data=true")).status).toBe(204);
  expect((await gateway.service.service("threads").list("webhook/ann")).items).toEqual([]);
  expect(await gateway.service.service("memory").tree("webhook/ann")).toEqual([]);
  expect((await gateway.ask("/api/identities")).body.identities).toEqual([]);
});

test("a pairing ends with its account: whoever gets the same name later is somebody else", async () => {
  const { gateway, webhook, post } = await open("required");
  const pair = () => post("/api/identities/pair", { identity: "webhook/ann", account: "ann" });
  await pair();
  await gateway.ask("/api/users/ann?with_data=true", { method: "DELETE" });
  expect((await webhook.post(REMEMBER)).json.waiting_for).toBe("pairing");
  expect((await gateway.ask("/api/identities")).body.identities).toMatchObject([{ account: null, held: 1 }]);
  // Nor does a pairing count that names the account but not the one that is there now.
  await gateway.addUser("ann");
  await pair();
  const sql = await gateway.service.service("store").tables("test", []);
  await sql.run("UPDATE gateway_users SET created_at = '2020-01-01T00:00:00.000Z' WHERE id = 'ann'");
  expect((await webhook.post({ ...REMEMBER, message: "Hello" })).json.waiting_for).toBe("pairing");
});
