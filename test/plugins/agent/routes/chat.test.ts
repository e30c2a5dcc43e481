import { expect, test } from "vitest";
import { scriptedModel } from "../../../support/services/agent.ts";
import { openGateway } from "../../../support/services/gateway.ts";

test("§4.1 POST /api/chat waits and answers with the text, the thread and the usage", async () => {
  const model = await scriptedModel();
  model.script({ text: ["Hel", "lo"], usage: { input: 12, output: 3 } });
  const gateway = await openGateway({ model });
  const { status, body } = await gateway.ask("/api/chat", { method: "POST", body: { message: "Hi" } });
  expect(status).toBe(200);
  expect(body).toMatchObject({ response: "Hello", status: "completed" });
  expect(body.usage).toMatchObject({ input_tokens: 12, output_tokens: 3, total_tokens: 15 });
  const { body: again } = await gateway.ask("/api/chat", {
    method: "POST",
    body: { message: "And?", thread_id: body.thread_id },
  });
  expect(again.thread_id).toBe(body.thread_id);
  expect(model.requests[1]?.messages.map(({ content }) => content)).toContain("Hello");
});

test("§4.1 the built-in model answers without a key or a network", async () => {
  const gateway = await openGateway();
  const { body } = await gateway.ask("/api/chat", { method: "POST", body: { message: "Hello" } });
  expect(body.status).toBe("completed");
  expect(body.response.length).toBeGreaterThan(10);
});

test("POST /api/chat/send answers 202 at once and the reply is stored", async () => {
  const model = await scriptedModel();
  const answered = Promise.withResolvers<string>();
  model.script({ text: [answered.promise] });
  const gateway = await openGateway({ model });
  const { status, body } = await gateway.ask("/api/chat/send", { method: "POST", body: { message: "Hi" } });
  expect(status).toBe(202);
  expect(body.status).toBe("accepted");
  answered.resolve("later");
  const stored = async () => (await gateway.ask(`/api/turns/${body.message_id}`)).body;
  await expect.poll(stored).toMatchObject({ status: "completed" });
  expect((await stored()).items.at(-1)).toMatchObject({ role: "assistant", text: "later" });
});

test("a turn that fails is 200 with status failed and the error", async () => {
  const model = await scriptedModel();
  model.otherwise({ status: 400 });
  const gateway = await openGateway({ model });
  const { status, body } = await gateway.ask("/api/chat", { method: "POST", body: { message: "Hi" } });
  expect(status).toBe(200);
  expect(body.status).toBe("failed");
  expect(body.error.message).toBeTruthy();
});

test("a request that lacks its message is 400 and names the field", async () => {
  const gateway = await openGateway();
  const wrong = [{}, { message: 7 }, { message: "" }, { message: "x", thread_id: 7 }];
  for (const path of ["/api/chat", "/api/chat/send"]) {
    for (const body of wrong) {
      const answer = await gateway.ask(path, { method: "POST", body });
      expect(answer.status).toBe(400);
      expect(answer.body.error).toMatchObject({
        type: "invalid_request_error",
        param: "message" in body && body.message === "x" ? "thread_id" : "message",
      });
    }
  }
  const plain = await fetch(`${gateway.url}/api/chat`, {
    method: "POST",
    headers: { authorization: "Bearer the-operator-of-tests", "content-type": "text/plain" },
    body: "hello",
  });
  expect(plain.status).toBe(415);
});

test("an unknown thread is 404", async () => {
  const gateway = await openGateway();
  const body = { message: "Hi", thread_id: "00000000-0000-4000-8000-000000000000" };
  expect((await gateway.ask("/api/chat", { method: "POST", body })).status).toBe(404);
});

test("§8 both ways to send share 30 messages in 60 s for each user; then 429 says when to come back", async () => {
  const model = await scriptedModel();
  const gateway = await openGateway({ model, variables: { CHAT_RATE_LIMIT: "3" } });
  const alice = await gateway.addUser("alice");
  const send = (path: string, token?: string) =>
    gateway.ask(path, { method: "POST", body: { message: "Hi" }, ...(token && { token }) });
  expect((await send("/api/chat")).headers.get("x-ratelimit-remaining")).toBe("2");
  expect((await send("/api/chat/send")).status).toBe(202);
  expect((await send("/api/chat")).status).toBe(200);
  for (const path of ["/api/chat", "/api/chat/send"]) {
    const refused = await send(path);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(refused.headers.get("x-ratelimit-limit")).toBe("3");
    expect(refused.headers.get("x-ratelimit-remaining")).toBe("0");
    expect(refused.body.error).toMatchObject({ type: "rate_limit_error", code: "rate_limit_exceeded" });
  }
  expect((await send("/api/chat", alice)).status).toBe(200);
});

test("a running turn is stopped by its cancel route, one that has ended stays as it is", async () => {
  const model = await scriptedModel();
  model.script({ text: ["never", " ending"], end: "stall" });
  const gateway = await openGateway({ model });
  const socket = await gateway.socket();
  const { body } = await gateway.ask("/api/chat/send", { method: "POST", body: { message: "Hi" } });
  await socket.until(({ type }) => type === "text");
  const cancel = () => gateway.ask(`/api/turns/${body.message_id}/cancel`, { method: "POST" });
  expect((await cancel()).body).toEqual({ cancelled: true });
  expect(await socket.until(({ type }) => type === "done")).toMatchObject({ status: "cancelled" });
  expect((await cancel()).body).toEqual({ cancelled: false });
});

test("a retry asks the same message again on the same thread", async () => {
  const model = await scriptedModel();
  const gateway = await openGateway({ model });
  const { body } = await gateway.ask("/api/chat", { method: "POST", body: { message: "Same?" } });
  const socket = await gateway.socket();
  const again = await gateway.ask(`/api/turns/${body.message_id}/retry`, { method: "POST" });
  expect(again.status).toBe(202);
  expect(again.body.thread_id).toBe(body.thread_id);
  await socket.until(({ type }) => type === "done");
  expect(model.requests.at(-1)?.messages.at(-1)?.content).toBe("Same?");
});
