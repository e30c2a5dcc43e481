/** What a user keeps has an end, for each kind of it, and so has how often they write. */
import { expect, test } from "vitest";
import type { AnyPlugin } from "../../../../kernel/plugin.ts";
import responses from "../../../../plugins/responses/plugin.ts";
import { moveTime } from "../../../support/clock/moved-time.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { type Answered, openGateway, type TestGateway } from "../../../support/services/gateway.ts";
import { afterThisTest } from "../../../support/undo.ts";

const open = async (variables = {}) =>
  openGateway({
    model: await scriptedModel(),
    variables: { USER_STORAGE_MB: "1", CHAT_RATE_LIMIT: "1000000", MEMORY_VECTORS: "false", ...variables },
    plugins: [responses as AnyPlugin],
  });

const LONG = "many words ".repeat(20_000);

/** Every way in which a user makes the service keep something. */
const WAYS: Readonly<Record<string, (gateway: TestGateway, token: string) => Promise<Answered>>> = {
  message: ({ ask }, token) => ask("/api/chat", { method: "POST", token, body: { message: LONG } }),
  memory: ({ ask }, token) =>
    ask("/api/memory/file?path=long.md", { method: "PUT", token, body: { text: LONG } }),
  response: ({ ask }, token) =>
    ask("/v1/responses", { method: "POST", token, body: { model: "reborn", input: LONG } }),
  background: ({ ask }, token) =>
    ask("/v1/responses", { method: "POST", token, body: { model: "reborn", input: LONG, background: true } }),
  conversation: ({ ask }, token) =>
    ask("/openai/v1/conversations", {
      method: "POST",
      token,
      body: { items: [{ type: "message", role: "user", content: LONG }] },
    }),
  upload: ({ url }, token) => upload(`${url}/api/attachments`, token),
  file: ({ url }, token) => upload(`${url}/openai/v1/files`, token, { purpose: "user_data" }),
};

async function upload(url: string, token: string, fields: Record<string, string> = {}): Promise<Answered> {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  body.set("file", new Blob([LONG]), "long.txt");
  const answer = await fetch(url, { method: "POST", headers: { authorization: `Bearer ${token}` }, body });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, body: JSON.parse(text) };
}

/** Sends long messages until one is refused; returns the threads they made, and the refusal. */
async function fill(gateway: TestGateway, token: string) {
  const threads: string[] = [];
  for (;;) {
    const answer = await gateway.ask("/api/chat", { method: "POST", token, body: { message: LONG } });
    if (answer.status !== 200) return { threads, refusal: answer };
    threads.push(answer.body.thread_id);
  }
}

test("a user who keeps all they may is refused in every way that keeps more, and others are not", async () => {
  const gateway = await open();
  const full = await gateway.addUser("full");
  const { refusal } = await fill(gateway, full);
  expect([refusal.status, refusal.body.error.code]).toEqual([413, "storage_full"]);
  expect(refusal.body.error.message).toMatch(
    /^There is no room for this: you keep 1 MB of 1 MB( \(threads 1 MB\))?\. Delete threads for good, .* USER_STORAGE_MB\.$/,
  );
  for (const [way, send] of Object.entries(WAYS)) {
    const answer = await send(gateway, full);
    expect([answer.status, answer.body.error?.code], way).toEqual([413, "storage_full"]);
    expect((await send(gateway, await gateway.addUser(way))).status, way).toBeLessThan(300);
  }
});

test("usage says what a user keeps, by kind, and what is deleted makes room", async () => {
  const clock = moveTime(afterThisTest);
  const gateway = await open();
  const token = await gateway.addUser("ann");
  const storage = async () => (await gateway.ask("/api/usage", { token })).body.storage;
  expect(await storage()).toMatchObject({ bytes: 0, max_bytes: 1_000_000 });
  const { threads } = await fill(gateway, token);
  // Each message is stored once; beside it are the answer and a few fields.
  const expected = threads.length * LONG.length;
  await expect.poll(async () => (await storage()).bytes).toBeGreaterThan(expected);
  const { bytes, kinds } = await storage();
  expect(bytes).toBe(kinds.threads);
  expect(bytes).toBeLessThan(expected * 1.1);
  const [first] = threads;
  const path = `/api/threads/${first}`;
  expect((await gateway.ask(path, { method: "DELETE", token })).status).toBe(204);
  await clock.advance(60_000);
  expect((await storage()).bytes).toBe(bytes);
  expect((await gateway.ask(`${path}?now=true`, { method: "DELETE", token })).status).toBe(204);
  // What was written lately is added to a sum, in case the sum was taken before.
  await clock.advance(60_000);
  await expect.poll(async () => (await storage()).bytes).toBeLessThan(bytes - LONG.length);
  await expect.poll(async () => (await WAYS["upload"]?.(gateway, token))?.status).toBe(201);
  await expect.poll(async () => (await storage()).kinds.files).toBe(LONG.length);
});

test("who deletes something has room for as much at once, also of what was written a moment ago", async () => {
  const gateway = await open();
  const token = await gateway.addUser("ann");
  const { threads } = await fill(gateway, token);
  for (const thread of threads) {
    const path = `/api/threads/${thread}?now=true`;
    expect((await gateway.ask(path, { method: "DELETE", token })).status).toBe(204);
    expect((await WAYS["upload"]?.(gateway, token))?.status).toBe(201);
    expect((await WAYS["upload"]?.(gateway, token))?.status).toBe(413);
  }
});

test("a turn that waits at a gate comes to its end when the storage is full", async () => {
  const model = await scriptedModel();
  const gateway = await openGateway({
    model,
    variables: { USER_STORAGE_MB: "1", CHAT_RATE_LIMIT: "1000000" },
    tools: { notes: { run: () => ({ status: "ok", output: "written" }), writes: true } },
  });
  const token = await gateway.addUser("ann");
  model.script({ calls: [{ name: "notes", arguments: {} }] });
  const asked = await gateway.ask("/api/chat", { method: "POST", token, body: { message: "Write it" } });
  expect(asked.body.status).toBe("waiting");
  await fill(gateway, token);
  const { id } = asked.body.gate;
  const answer = await gateway.ask(`/api/approvals/${id}`, {
    method: "POST",
    token,
    body: { decision: "once" },
  });
  expect(answer.status, answer.text).toBeLessThan(300);
  await expect
    .poll(
      async () =>
        (await gateway.ask(`/api/threads/${asked.body.thread_id}`, { token })).body.turns.at(-1).status,
    )
    .toBe("completed");
});

test("every write counts, whatever it is and however it ends, for each user", async () => {
  const gateway = await open({ CHAT_RATE_LIMIT: "1", USER_STORAGE_MB: "2000" });
  const [ann, ben] = [await gateway.addUser("ann"), await gateway.addUser("ben")];
  const writes = [
    ["PUT", "/api/memory/file?path=a.md", { text: "a" }],
    ["DELETE", "/api/memory/file?path=b.md", undefined],
    ["PATCH", "/api/threads/none", { title: "a" }],
    ["DELETE", "/openai/v1/files/none", undefined],
    ["POST", "/openai/v1/conversations/none", { metadata: {} }],
  ] as const;
  const write = async (token: string, at: number) => {
    const [method, path, body] = writes[at % writes.length] ?? writes[0];
    return await gateway.ask(path, { method, token, body });
  };
  const statuses: number[] = [];
  // Many at once: all of them have to come within a minute.
  const writeSome = async (first: number) => {
    for (let at = first; at < 300; at += 20) statuses.push((await write(ann, at)).status);
  };
  await Promise.all(Array.from({ length: 20 }, (_, first) => writeSome(first)));
  expect(new Set(statuses)).toEqual(new Set([200, 404]));
  for (const at of writes.keys()) {
    const refused = await write(ann, at);
    expect([refused.status, refused.body.error.code]).toEqual([429, "rate_limit_exceeded"]);
    expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
    expect((await write(ben, at)).status).not.toBe(429);
  }
  expect((await gateway.ask("/api/threads", { token: ann })).status).toBe(200);
});
