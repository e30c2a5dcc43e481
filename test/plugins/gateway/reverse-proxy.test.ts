import { createServer, request as forward } from "node:http";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import WebSocket from "ws";
import { listen } from "../../support/servers/listening.ts";
import { scriptedModel } from "../../support/services/agent.ts";
import { OPERATOR_TOKEN, openGateway } from "../../support/services/gateway.ts";

/** A reverse proxy as people run one: it ends TLS elsewhere, names itself in X-Forwarded-*, passes upgrades. */
async function startProxy(target: string): Promise<string> {
  const { hostname, port } = new URL(target);
  const added = {
    "x-forwarded-proto": "https",
    "x-forwarded-host": "chat.example.org",
    "x-forwarded-for": "203.0.113.7",
  };
  const server = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, ...added, host: "internal" };
    const onward = forward(
      { hostname, port, path: incoming.url, method: incoming.method, headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    incoming.pipe(onward);
  });
  server.on("upgrade", (incoming, socket) => {
    const headers = { ...incoming.headers, ...added, host: "internal" };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    const onward = connect(Number(port), hostname, () => {
      onward.write(`GET ${incoming.url} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
      onward.pipe(socket).pipe(onward);
    });
    onward.on("error", () => socket.destroy());
    socket.on("error", () => onward.destroy());
  });
  return (await listen(server)).url;
}

test("§5 behind a trusted reverse proxy sign-in, chat and the socket work, and the cookie is Secure", async () => {
  const model = await scriptedModel();
  model.script({ text: "through the proxy" });
  const gateway = await openGateway({ model, variables: { TRUSTED_PROXIES: "127.0.0.1, ::1" } });
  const url = await startProxy(gateway.url);
  const origin = "https://chat.example.org";
  const post = (path: string, body: object, cookie = "") =>
    fetch(url + path, {
      method: "POST",
      headers: { "content-type": "application/json", origin, cookie },
      body: JSON.stringify(body),
    });
  const signedIn = await post("/api/session", { token: OPERATOR_TOKEN });
  expect(signedIn.status).toBe(200);
  expect(signedIn.headers.get("set-cookie")).toContain("; Secure");
  const cookie = (signedIn.headers.get("set-cookie") ?? "").split(";")[0] as string;

  const socket = new WebSocket(`${url.replace("http", "ws")}/api/chat/ws`, { headers: { cookie, origin } });
  onTestFinished(() => socket.terminate());
  const types: string[] = [];
  socket.on("message", (data) => void types.push(JSON.parse(String(data)).type));
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  const sent = await post("/api/chat/send", { message: "Hi" }, cookie);
  expect(sent.status).toBe(202);
  await expect.poll(() => types.at(-1)).toBe("done");
  expect(gateway.service.logged.join("")).toContain('"address":"203.0.113.7"');
});
