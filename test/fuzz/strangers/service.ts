/** What comes over the network to a service that runs: no message makes it fail, whatever it is told. */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { inFolder } from "../../bench/support/programs.ts";
import { ROOT } from "../../support/clone.ts";
import { freePort } from "../../support/servers/port.ts";
import { jsonDoor } from "./growing.ts";

const TOKEN = "fuzz-token-0123456789";
const CALL = { jsonrpc: "2.0", id: 1 };
const META = {
  protocolVersion: "2025-06-18",
  capabilities: { elicitation: {} },
  clientInfo: { name: "f", version: "1" },
};
const FUNCTION = { type: "function", name: "look", parameters: { type: "object", properties: {} } };

/** A body for each way in. */
const SEEDS = [
  { to: "webhook", body: { user_id: "ada", message: "hello", conversation_id: "c", metadata: { a: 1 } } },
  {
    to: "responses",
    body: { model: "reborn", input: "hello", instructions: "Be short.", metadata: { a: "b" } },
  },
  {
    to: "responses",
    body: {
      input: [
        { type: "message", role: "user", content: [{ type: "input_text", text: "hello" }] },
        { type: "function_call", call_id: "c1", name: "look", arguments: "{}" },
        { type: "function_call_output", call_id: "c1", output: "x" },
      ],
      tools: [FUNCTION],
      tool_choice: "auto",
      truncation: "auto",
      store: false,
    },
  },
  { to: "mcp", body: { ...CALL, method: "initialize", params: META } },
  { to: "mcp", body: { ...CALL, method: "tools/list", params: { cursor: "" } } },
  {
    to: "mcp",
    body: { ...CALL, method: "tools/call", params: { name: "ask", arguments: { message: "hello" } } },
  },
  { to: "mcp", body: { ...CALL, method: "resources/read", params: { uri: "postern://memory/a" } } },
  { to: "mcp", body: { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } } },
];

export const service = jsonDoor({
  name: "service",
  runs: 150,
  async open() {
    const [gateway, webhook] = [await freePort(), await freePort()];
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    const { promise: ready, resolve: begin, reject: fail } = Promise.withResolvers<void>();
    const done = inFolder(async (home) => {
      const child = spawn(process.execPath, [join(ROOT, "kernel/cli/bin.js"), "serve"], {
        cwd: home,
        stdio: "ignore",
        env: {
          ...process.env,
          POSTERN_HOME: home,
          GATEWAY_PORT: `${gateway}`,
          GATEWAY_AUTH_TOKEN: TOKEN,
          HTTP_ENABLED: "true",
          HTTP_PORT: `${webhook}`,
          HTTP_WEBHOOK_SECRET: TOKEN,
          HTTP_RATE_LIMIT: "1000000",
          CHAT_RATE_LIMIT: "1000000",
          MODEL_PROVIDER: "builtin",
        },
      });
      const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
      void exited.then(() => fail(new Error("the service ended")));
      void isReady(`http://127.0.0.1:${gateway}/ready`).then(begin, fail);
      await Promise.race([over, exited]);
      child.kill("SIGTERM");
      await exited;
    });
    await ready;
    const addresses: ReadonlyMap<unknown, string> = new Map(
      Object.entries({
        webhook: `http://127.0.0.1:${webhook}/webhook`,
        responses: `http://127.0.0.1:${gateway}/api/v1/responses`,
        mcp: `http://127.0.0.1:${gateway}/mcp`,
      }),
    );
    return {
      seeds: SEEDS,
      async answer(input) {
        const { to, body } = Object(input);
        const address = addresses.get(to) ?? `http://127.0.0.1:${gateway}/mcp`;
        const reply = await fetch(address, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            accept: "application/json, text/event-stream",
            authorization: `Bearer ${TOKEN}`,
            "x-webhook-secret": TOKEN,
          },
          body: JSON.stringify(body) ?? "",
        });
        const text = await reply.text();
        if (reply.status >= 500)
          throw new Error(`${address} answered ${reply.status}: ${text.slice(0, 500)}`);
        return `${address} ${reply.status} ${text.replace(/[0-9a-f-]{12,}/g, "…")}`;
      },
      async close() {
        end();
        await done;
      },
    };
  },
});

async function isReady(address: string): Promise<void> {
  for (;;) {
    const reply = await fetch(address).catch(() => undefined);
    await reply?.arrayBuffer();
    if (reply?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
