import { expect, test } from "vitest";
import { scriptedModel, type TestTool } from "../../../support/services/agent.ts";
import { type Frame, openGateway } from "../../../support/services/gateway.ts";

const isDone = (status: string) => (frame: Frame) => frame.type === "done" && frame.status === status;

function mailTool(sent: unknown[]): Readonly<Record<string, TestTool>> {
  return {
    mail: {
      writes: true,
      grants: ["send to mail.example"],
      run: (params) => {
        sent.push(params);
        return { status: "ok", output: "sent" };
      },
    },
  };
}

test("a gate waits with the grants in words until it is answered, and an always is remembered until revoked", async () => {
  const model = await scriptedModel();
  const sent: unknown[] = [];
  const gateway = await openGateway({ model, tools: mailTool(sent) });
  const socket = await gateway.socket();
  model.script({ calls: [{ name: "mail", arguments: { to: "a" } }] }, { text: "It is sent." });
  const { body } = await gateway.ask("/api/chat", { method: "POST", body: { message: "Send it" } });
  expect(body).toMatchObject({
    status: "waiting",
    gate: { type: "approval", grants: ["send to mail.example"] },
  });
  expect(sent).toEqual([]);
  await socket.until(({ type }) => type === "gate");

  const { pending } = (await gateway.ask("/api/approvals")).body;
  expect(pending).toMatchObject([{ id: body.gate.id, thread_id: body.thread_id, call: { name: "mail" } }]);
  const decide = (decision: string) =>
    gateway.ask(`/api/approvals/${body.gate.id}`, { method: "POST", body: { decision } });
  expect((await decide("perhaps")).status).toBe(400);
  expect((await decide("done")).status).toBe(400);
  expect((await decide("always")).status).toBe(202);
  expect((await socket.until(isDone("completed"))).turn.items.at(-1).text).toBe("It is sent.");
  expect(sent).toEqual([{ to: "a" }]);
  expect((await decide("once")).status).toBe(404);

  expect((await gateway.ask("/api/approvals")).body).toEqual({ pending: [], remembered: { mail: "allow" } });
  const revoke = () => gateway.ask("/api/approvals/remembered/mail", { method: "DELETE" });
  expect((await revoke()).status).toBe(204);
  expect((await revoke()).status).toBe(404);
  expect((await gateway.ask("/api/approvals")).body.remembered).toEqual({});
});

test("a denied call is not made, and the model is told", async () => {
  const model = await scriptedModel();
  const sent: unknown[] = [];
  const gateway = await openGateway({ model, tools: mailTool(sent) });
  model.script({ calls: [{ name: "mail", arguments: {} }] }, { text: "Then not." });
  const { body } = await gateway.ask("/api/chat", { method: "POST", body: { message: "Send it" } });
  const socket = await gateway.socket();
  await gateway.ask(`/api/approvals/${body.gate.id}`, { method: "POST", body: { decision: "deny" } });
  await socket.until(isDone("completed"));
  expect(sent).toEqual([]);
});

test("a gate survives a restart", async () => {
  const model = await scriptedModel();
  const sent: unknown[] = [];
  const before = await openGateway({ model, tools: mailTool(sent) });
  model.script({ calls: [{ name: "mail", arguments: {} }] }, { text: "Sent." });
  const { body } = await before.ask("/api/chat", { method: "POST", body: { message: "Send it" } });
  await before.service.stop();
  const after = await openGateway({ model, tools: mailTool(sent), home: before.service.home });
  const socket = await after.socket();
  await after.ask(`/api/approvals/${body.gate.id}`, { method: "POST", body: { decision: "once" } });
  await socket.until(isDone("completed"));
  expect(sent).toHaveLength(1);
});

test("an operator sees and answers the gates of webhook identities; the identity's answer is remembered for it alone", async () => {
  const model = await scriptedModel();
  const sent: unknown[] = [];
  const gateway = await openGateway({ model, tools: mailTool(sent) });
  const user = "webhook/operator";
  // The operator's own "always" is worth nothing to whoever names the operator.
  model.script({ calls: [{ name: "mail", arguments: { to: "a" } }] }, { text: "Sent." });
  const { body } = await gateway.ask("/api/chat", { method: "POST", body: { message: "Send it" } });
  await gateway.ask(`/api/approvals/${body.gate.id}`, { method: "POST", body: { decision: "always" } });
  await expect.poll(() => sent.splice(0)).toEqual([{ to: "a" }]);
  // Its answer has been asked for, and what is scripted next is the job's.
  await expect.poll(() => model.requests.length).toBe(2);
  const jobs = gateway.service.service("jobs");
  const ask = async (...text: string[]) => {
    model.script({ calls: [{ name: "mail", arguments: { to: "b" } }] }, ...text.map((text) => ({ text })));
    const { id } = await jobs.submit({ user, channel: "webhook", message: "Send it" });
    return jobs.wait(id, 60_000);
  };
  expect(await ask()).toMatchObject({ error: { code: "approval_required" } });
  expect(sent).toEqual([]);

  const { pending } = (await gateway.ask("/api/approvals")).body;
  expect(pending).toMatchObject([{ type: "approval", user_id: user, call: { name: "mail" } }]);
  const ann = await gateway.addUser("ann");
  expect((await gateway.ask("/api/approvals", { token: ann })).body.pending).toEqual([]);
  const decide = (token?: string) =>
    gateway.ask(`/api/approvals/${pending[0].id}`, {
      method: "POST",
      body: { decision: "always" },
      ...(token && { token }),
    });
  expect((await decide(ann)).status).toBe(404);
  model.script({ text: "It is sent." });
  expect((await decide()).status).toBe(202);
  await expect.poll(() => sent).toEqual([{ to: "b" }]);
  await expect.poll(() => model.requests.length).toBe(4);
  expect((await gateway.ask("/api/approvals")).body.pending).toEqual([]);
  expect(await gateway.service.service("approvals").remembered(user)).toEqual({ mail: "allow" });
  expect(await ask("Sent again.")).toMatchObject({ response: "Sent again." });
});

test("a tool is allowed beforehand for oneself, as it is now, and no longer once that is taken back", async () => {
  const model = await scriptedModel();
  const sent: unknown[] = [];
  const gateway = await openGateway({ model, tools: mailTool(sent) });
  const ann = await gateway.addUser("ann");
  const put = (tool: string, body: unknown, token = ann) =>
    gateway.ask(`/api/approvals/remembered/${tool}`, { method: "PUT", body, token });
  expect((await put("mail", { decision: "perhaps" })).status).toBe(400);
  expect((await put("nothing", { decision: "allow" })).status).toBe(404);
  expect((await put("mail", { decision: "allow", fingerprint: "another" })).body.error).toMatchObject({
    code: "tool_changed",
    param: "fingerprint",
  });
  const scope = { tools: ["mail"] };
  const scoped = (
    await gateway.ask("/api/tokens", { method: "POST", body: { user: "ann", name: "less", ...scope } })
  ).body;
  expect((await put("mail", { decision: "allow" }, scoped.token)).status).toBe(403);
  expect((await put("mail", { decision: "allow" })).status).toBe(204);
  expect((await gateway.ask("/api/approvals", { token: ann })).body.remembered).toEqual({ mail: "allow" });
  expect((await gateway.ask("/api/approvals")).body.remembered).toEqual({});

  const ask = (token: string) =>
    gateway.ask("/api/chat", { method: "POST", body: { message: "Send it" }, token });
  model.script({ calls: [{ name: "mail", arguments: {} }] }, { text: "Sent." });
  expect((await ask(ann)).body).toMatchObject({ status: "completed" });
  expect(sent).toHaveLength(1);
  await gateway.ask("/api/approvals/remembered/mail", { method: "DELETE", token: ann });
  model.script({ calls: [{ name: "mail", arguments: {} }] });
  expect((await ask(ann)).body).toMatchObject({ status: "waiting", gate: { type: "approval" } });
});

const FORM = {
  key: "0",
  message: "Which size?",
  schema: { type: "object", properties: { size: { type: "string" } }, required: ["size"] },
};

function shopTool(heard: unknown[]): Readonly<Record<string, TestTool>> {
  return {
    shop_order: {
      run: () => ({ status: "question", server: "shop", questions: [FORM], resume: "nobody-may-see-this" }),
      resume(_, replies) {
        heard.push(...replies);
        return { status: "ok", output: "ordered" };
      },
    },
  };
}

test("a question is answered by replies that fit, and what goes on with the call is never sent out", async () => {
  const model = await scriptedModel();
  const heard: unknown[] = [];
  const gateway = await openGateway({ model, tools: shopTool(heard) });
  const socket = await gateway.socket();
  model.script({ calls: [{ name: "shop_order", arguments: {} }] }, { text: "It is ordered." });
  const { body } = await gateway.ask("/api/chat", { method: "POST", body: { message: "Order" } });
  const gate = { type: "question", server: "shop", questions: [FORM] };
  expect(body).toMatchObject({ status: "waiting", gate });
  await socket.until(isDone("waiting"));
  const answer = (given: unknown) =>
    gateway.ask(`/api/approvals/${body.gate.id}`, { method: "POST", body: given as object });
  expect((await answer({ decision: "always" })).body.error).toMatchObject({ param: "decision" });
  expect((await answer({})).body.error).toMatchObject({ code: "decision_does_not_fit", param: "decision" });
  expect((await answer({ replies: [{ key: "0", action: "shrug" }] })).status).toBe(400);
  expect((await answer({ replies: [{ key: "0", action: "accept", content: {} }] })).body.error).toMatchObject(
    {
      code: "invalid_reply",
      param: "replies[0].content.size",
    },
  );
  const seen = await Promise.all(
    ["/api/approvals", "/api/threads", `/api/threads/${body.thread_id}`].map((path) => gateway.ask(path)),
  );
  expect(seen[0]?.body.pending).toMatchObject([gate]);
  expect(JSON.stringify([seen, body, socket.frames])).not.toContain("nobody-may-see-this");
  const replies = [{ key: "0", action: "accept", content: { size: "M" } }];
  expect((await answer({ replies })).status).toBe(202);
  await socket.until(isDone("completed"));
  expect(heard).toEqual(replies);
});

test("an operator declines the question of a webhook identity", async () => {
  const model = await scriptedModel();
  const heard: unknown[] = [];
  const gateway = await openGateway({ model, tools: shopTool(heard) });
  model.script({ calls: [{ name: "shop_order", arguments: {} }] }, { text: "Then not." });
  const jobs = gateway.service.service("jobs");
  const { id } = await jobs.submit({ user: "webhook/ann", channel: "webhook", message: "Order" });
  expect(await jobs.wait(id, 60_000)).toMatchObject({ error: { code: "question_pending" } });
  const [gate] = (await gateway.ask("/api/approvals")).body.pending;
  expect(gate).toMatchObject({ user_id: "webhook/ann", type: "question" });
  await gateway.ask(`/api/approvals/${gate.id}`, { method: "POST", body: { decision: "deny" } });
  await expect.poll(() => heard).toEqual([{ key: "0", action: "decline" }]);
});
