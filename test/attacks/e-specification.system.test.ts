/** E. The specification, row by row: what used to differ from it, tried from outside. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import OpenAI from "openai";
import { expect } from "vitest";
import { attack } from "../support/attacks.ts";
import { BIN } from "../support/clone.ts";
import { temporaryFolder } from "../support/home.ts";
import { serveUnderAttack } from "../support/processes/attacked.ts";
import { postern } from "../support/processes/postern.ts";
import { openTerminal } from "../support/processes/tui-terminal.ts";
import { openUpstream } from "../support/servers/upstream.ts";
import { copyCode, fixture } from "../support/tools/components.ts";
import { afterThisFile } from "../support/undo.ts";

const IDLE_SECS = 3;
const SHORT_TOKEN = "abc";

const later = afterThisFile();
const upstream = await openUpstream();
later(() => upstream.close());
const { served, send, webhook, run } = await serveUnderAttack(later, {
  TURN_IDLE_SECS: String(IDLE_SECS),
  SERVICE_REBORN_WEBUI_TOKEN: SHORT_TOKEN,
  TOOLS_PRIVATE_HOSTS: `127.0.0.1:${upstream.port}`,
  TOOL_APPROVALS: "*=allow",
});
const { model } = served;
const client = new OpenAI({ apiKey: SHORT_TOKEN, baseURL: `${served.url}/api/v1`, maxRetries: 0 });
const create = (body: object) => send("POST", "/api/v1/responses", { model: "any", ...body });
const get = (id: string) => send("GET", `/api/v1/responses/${id}`);

attack(
  17,
  "a stream goes on for longer than the limit while something happens; silence ends it",
  async () => {
    const pieces = Array.from({ length: 10 }, (_, at) => `${at} `);
    model.script({ text: pieces, delay: (IDLE_SECS * 1000) / 8 }, { text: "Well,", end: "stall" });
    const long = client.responses.stream({ model: "any", input: "Count slowly" }).finalResponse();
    await expect.poll(() => model.requests.length).toBe(1);
    const silent = client.responses.stream({ model: "any", input: "Say nothing" }).finalResponse();
    expect(await long).toMatchObject({ status: "completed", output_text: pieces.join("") });
    expect(await silent).toMatchObject({ status: "failed", error: { code: "turn_timeout" } });
  },
);

attack(18, "__proto__ anywhere in a body is an unknown field, ignored", async () => {
  const proto = '"__proto__": {"stream": true, "temperature": 9}';
  const body = `{${proto}, "model": "any", "metadata": {${proto}, "kept": "1"}, "x_context": {"a": {${proto}}},
    "tools": [{${proto}, "type": "function", "name": "find", "parameters": {${proto}, "type": "object"}}],
    "input": [{${proto}, "role": "user", "content": [{${proto}, "type": "input_text", "text": "Hi"}]}]}`;
  const { status, text, json } = await send("POST", "/api/v1/responses", body);
  expect({ status, text }).toEqual({ status: 200, text: expect.not.stringContaining("__proto__") });
  expect(json).toMatchObject({ temperature: 1, metadata: { kept: "1" }, tools: [{ name: "find" }] });
  expect(JSON.stringify(model.requests.at(-1))).not.toContain("__proto__");
  const chat = await send("POST", "/api/chat", `{"message": "Hi", ${proto}, "\\u005f_proto__": 1}`);
  expect(chat.status).toBe(200);
  const hook = `{"user_id": "ann", "message": "Hi", ${proto}, "metadata": {${proto}}}`;
  expect((await webhook.post(hook)).status).toBe(200);
});

attack(19, "tokens and secrets of any length are accepted, and warned about", async () => {
  expect((await send("GET", "/api/status", undefined, SHORT_TOKEN)).status).toBe(200);
  expect(served.process.stdout()).toContain("SERVICE_REBORN_WEBUI_TOKEN has only 3 characters");
  const { code, stdout } = await postern(["doctor"], {
    env: {
      POSTERN_HOME: temporaryFolder(),
      MODEL_PROVIDER: "builtin",
      GATEWAY_PORT: "0",
      GATEWAY_AUTH_TOKEN: "abcd",
      HTTP_ENABLED: "true",
      HTTP_HOST: "127.0.0.1",
      HTTP_PORT: "0",
      HTTP_WEBHOOK_SECRET: "abcde",
    },
  });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^ *warn +gateway token +GATEWAY_AUTH_TOKEN has only 4 characters/m);
  expect(stdout).toMatch(/^ *warn +webhook secret +HTTP_WEBHOOK_SECRET has only 5 characters/m);
});

attack(
  19,
  "more requests a minute than an hour and secrets by name alone; 25. an hour says hour",
  async () => {
    const allowed = { host: "127.0.0.1", path_prefix: "/", methods: ["GET"] };
    const rate_limit = { requests_per_minute: 60, requests_per_hour: 1 };
    const capabilities = {
      version: "1.0.0",
      wit_version: "0.1.0",
      http: { allowlist: [allowed], rate_limit },
    };
    const component = await fixture("sender.js");
    await copyCode(component, served.home);
    const upload = (path: string, given: object) => {
      const form = new FormData();
      form.set("name", "sender");
      form.set("component", new Blob([Buffer.from(component)]));
      form.set("capabilities", JSON.stringify(given));
      return send("POST", path, form);
    };
    const named = { ...capabilities, setup: { required_secrets: ["client_id"] } };
    expect((await upload("/api/tools/examine", named)).status).toBe(200);
    expect((await upload("/api/tools", capabilities)).status).toBe(201);
    for (const expected of [
      /status/,
      /The rate limit of 1 request an hour is reached; next request in 60 min/,
    ]) {
      const request = { method: "GET", url: `http://127.0.0.1:${upstream.port}/` };
      model.script({ calls: [{ name: "sender", arguments: request }] }, { text: "Sent." });
      expect((await create({ input: "Send it" })).json.status).toBe("completed");
      const told = model.requests.at(-1)?.messages.find(({ role }) => role === "tool");
      expect(told?.content).toMatch(expected);
    }
  },
);

attack(
  19,
  "Shift+Enter under modifyOtherKeys is a new line; Up and Down scroll in an empty composer",
  async () => {
    const terminal = openTerminal({ rows: 12 });
    await terminal.until("Type a message");
    terminal.type("one");
    terminal.press("shiftEnterOfXterm");
    terminal.type("two");
    await terminal.until("› one\n  two");
    terminal.press("escape");
    await terminal.until("Esc again");
    terminal.press("escape");
    await terminal.until((seen) => !seen.text().includes("› one"));
    terminal.type("/help\r");
    await terminal.until("lines below");
    const below = (text: string) => Number(/(\d+) lines? below/.exec(text)?.[1]);
    const first = below(terminal.text());
    terminal.press("down", "down");
    await terminal.until((seen) => below(seen.text()) === first - 2);
    terminal.press("up");
    await terminal.until((seen) => below(seen.text()) === first - 1);
    terminal.press("ctrlP");
    await terminal.until("› /help");
  },
);

attack(20, "a required tool's error fails the response, however politely the model explains it", async () => {
  const script = () =>
    model.script({ calls: [{ name: "memory_read", arguments: { path: "none.md" } }] }, { text: "Sorry." });
  script();
  expect((await create({ input: "Read it" })).json.status).toBe("completed");
  script();
  const { status, json } = await create({ input: "Read it", x_required_tools: ["memory_read"] });
  expect(status).toBe(200);
  expect(json).toMatchObject({ status: "failed", error: { code: "required_tool_failed" } });
  expect(json.output).toMatchObject([{ content: [{ text: "Sorry." }] }]);
  const wrong = await create({ input: "Hi", x_required_tools: "memory_read" });
  expect(wrong).toMatchObject({ status: 400, json: { error: { param: "x_required_tools" } } });
});

attack(21, "the first level of x_context is readable, and its limit is named as it is", async () => {
  await create({ input: "Hi", x_context: { customer: { name: "Ada", orders: [{ id: 7 }] } } });
  expect(model.requests.at(-1)?.messages.at(-1)?.content).toContain(
    '<user-context>\ncustomer:\n  name: Ada\n  orders: [{"id":7}]\n</user-context>',
  );
  const large = await create({ input: "Hi", x_context: { a: { b: "x".repeat(10_240) } } });
  expect(large).toMatchObject({ status: 400, json: { error: { param: "x_context" } } });
  expect(large.json.error.message).toContain("10 KiB");
});

attack(22, "a cancelled stream ends as cancelled, not as failed", async () => {
  model.script({ text: "Well,", end: "stall" });
  const types: string[] = [];
  let last: unknown;
  let id = "";
  for await (const event of await client.responses.create({ model: "any", input: "Hi", stream: true })) {
    types.push(event.type);
    last = "response" in event ? event.response : last;
    if (event.type === "response.created") id = event.response.id;
    if (event.type === "response.output_text.delta") void client.responses.cancel(id);
  }
  expect(types.at(-1)).toBe("response.incomplete");
  expect(types).not.toContain("response.failed");
  expect(last).toMatchObject({ status: "cancelled", output: [{ content: [{ text: "Well," }] }] });
});

attack(22, "a response that waits for a function call can be cancelled, and its thread goes on", async () => {
  model.script({ calls: [{ id: "call_1", name: "find", arguments: {} }] });
  const tools = [{ type: "function", name: "find" }];
  const { json: waiting } = await create({ input: "Find it", tools });
  const follow = { input: "Never mind", previous_response_id: waiting.id };
  expect((await create(follow)).status).toBe(400);
  expect((await send("POST", `/api/v1/responses/${waiting.id}/cancel`)).status).toBe(200);
  expect(await create(follow)).toMatchObject({ status: 200, json: { status: "completed" } });
});

attack(23, "a running response is read as far as it is, and a crash takes back nothing of it", async () => {
  model.script({ text: ["Once ", "upon "], end: "stall" });
  let id = "";
  const reading = (async () => {
    for await (const event of await client.responses.create({ model: "any", input: "Tell", stream: true })) {
      if (event.type === "response.created") id = event.response.id;
      if (event.type !== "response.output_text.delta" || event.delta !== "upon ") continue;
      expect((await get(id)).json).toMatchObject({
        status: "in_progress",
        output: [{ content: [{ text: "Once upon " }] }],
      });
      await served.restart("SIGKILL");
    }
  })();
  await reading.catch(() => {});
  expect((await get(id)).json).toMatchObject({
    status: "failed",
    error: { code: "interrupted" },
    output: [{ status: "incomplete", content: [{ text: "Once upon " }] }],
  });
});

attack(25, "wrong usage exits with 2 everywhere, and what merely failed with 1", async () => {
  const wrong = [
    ["user", "add", "two words"],
    ["webhook", "add", "two words", "--user", "webhook/x"],
    ["webhook", "add", "ci", "--user", "webhook/x", "--message", "{{"],
    ["tool", "run", "sender", "{}", "--record", "a", "--replay", "b"],
    ["tool", "new", "two words"],
    ["ask", " "],
    ["config", "set", "CHAT_RATE_LIMIT", "many"],
  ];
  const codes = await Promise.all(wrong.map(async (words) => [...words, (await run(...words)).code]));
  expect(codes).toEqual(wrong.map((words) => [...words, 2]));
  expect((await run("token", "create", "nobody", "--name", "x")).code).toBe(1);
});

attack(25, "a pipe whose reader has seen enough ends quietly", async () => {
  const env = {
    PATH: process.env["PATH"] ?? "",
    POSTERN_HOME: temporaryFolder(),
    MODEL_PROVIDER: "builtin",
    TOOLS_SHIPPED: "false",
  };
  const ask = `"${process.execPath}" "${BIN}" ask --json "What can you do?"`;
  const script = `${ask} | head -n 1; echo "\${PIPESTATUS[0]}"`;
  const { stdout, stderr } = await promisify(execFile)("bash", ["--norc", "-c", script], { env });
  expect(stderr).toBe("");
  expect(stdout).toMatch(/^\{"type":"started".*\}\n0\n$/);
});

attack(25, "doctor knows the ports of its own service and the model that was asked for", async () => {
  const env = {
    POSTERN_HOME: served.home,
    MODEL_PROVIDER: "builtin",
    GATEWAY_PORT: new URL(served.url).port,
    HTTP_ENABLED: "true",
    HTTP_HOST: "127.0.0.1",
    HTTP_PORT: new URL(webhook.url).port,
    HTTP_WEBHOOK_SECRET: "long-enough-to-be-strong",
  };
  const { code, stdout } = await postern(["doctor"], { env });
  expect({ code, stdout }).toMatchObject({ code: 0 });
  expect(stdout).toContain("the built-in model answers");
  expect(stdout.match(/Postern is running on/g)).toHaveLength(2);
});

attack(
  17,
  "a backup without secrets is restored without its key, and a full store is a failure",
  async () => {
    const folder = temporaryFolder();
    const file = join(folder, "all.backup");
    const at = (name: string) => ({ env: { POSTERN_HOME: join(folder, name), MODEL_PROVIDER: "builtin" } });
    expect(await postern(["user", "add", "bob"], at("old"))).toMatchObject({ code: 0 });
    expect(await postern(["store", "backup", file], at("old"))).toMatchObject({ code: 0 });
    expect(await postern(["user", "add", "ann"], at("new"))).toMatchObject({ code: 0 });
    expect(await postern(["store", "restore", file], at("new"))).toMatchObject({ code: 1 });
    const restored = await postern(["store", "restore", file, "--replace"], at("new"));
    expect(restored).toMatchObject({ code: 0, stdout: expect.stringContaining("another secrets.key") });
  },
);

attack(25, "a home that cannot be made is refused at once", async () => {
  const env = { POSTERN_HOME: "/proc/x/home", MODEL_PROVIDER: "builtin", GATEWAY_PORT: "0" };
  const { code, stderr } = await postern(["serve"], { env });
  expect(code).toBe(78);
  expect(stderr).toContain("the service home /proc/x/home cannot be used");
  const doctor = await postern(["doctor"], { env });
  expect(doctor.code).toBe(1);
  expect(doctor.stdout).toMatch(/FAIL +home +\/proc\/x\/home cannot be created/);
  expect((await postern(["tool", "new", "/proc/x/tool"], { env: { POSTERN_HOME: served.home } })).code).toBe(
    1,
  );
});
