import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import WebSocket from "ws";
import { routesOf } from "../../../kernel/net/route.ts";
import type { AnyPlugin } from "../../../kernel/plugin.ts";
import { createAccounts } from "../../../plugins/accounts/records/accounts.ts";
import type { Web } from "../../../plugins/gateway/services.ts";
import { openGateway } from "../../support/services/gateway.ts";

const route = routesOf("guest");
const ROUTE = { summary: "A route", answer: "text/plain", handle: () => "here" } as const;
const SOCKET = { summary: "A socket", tag: "guest", largestMessage: 1024, accept: () => {} };

const guest = {
  name: "guest",
  needs: ["web"],
  configure: () => ({}),
  async start({ use: { web } }: { use: { web: Web } }) {
    web.mount([
      route("POST /guest/closed/{id}", ROUTE),
      route("GET /guest/closed/{id}", ROUTE),
      route("POST /guest/open/{id}", { ...ROUTE, scoped: true }),
      { ...route("GET /guest/operator/{id}", { ...ROUTE, scoped: true }), audience: "operator" },
    ]);
    for (const scoped of [undefined, true]) {
      const path = `/guest/${scoped ? "open" : "closed"}`;
      web.mountSocket({ ...SOCKET, path: `${path}-socket`, scoped });
      const handle = async (_: unknown, response: ServerResponse) => void response.writeHead(200).end();
      web.mountProtocol({ path: `${path}-protocol`, title: "Guest", scoped, handle });
    }
  },
} as unknown as AnyPlugin;

test("what a plugin mounts is closed to tokens with a scope unless it says otherwise", async () => {
  const { url, service } = await openGateway({ plugins: [guest] });
  const accounts = await createAccounts(service.service("store"));
  const tokenOf = async (options: object) => (await accounts.createToken("operator", "test", options)).token;
  const [scoped, whole] = [await tokenOf({ tools: "none" }), await tokenOf({})];
  const status = async (token: string, method: string, path: string) =>
    (await fetch(url + path, { method, headers: { authorization: `Bearer ${token}` } })).status;
  const statuses = (token: string) =>
    Array.fromAsync(
      [
        ...["POST /guest/closed/1", "GET /guest/closed/1", "POST /guest/open/1", "GET /guest/operator/1"],
        ...["GET /guest/closed-socket", "GET /guest/open-socket"],
        ...["POST /guest/closed-protocol", "POST /guest/open-protocol"],
      ],
      (line) => status(token, ...(line.split(" ") as [string, string])),
    );
  expect(await statuses(whole)).toEqual([200, 200, 200, 200, 426, 426, 200, 200]);
  expect(await statuses(scoped)).toEqual([403, 403, 200, 403, 403, 426, 403, 200]);

  const upgrade = async (token: string, path: string) => {
    const headers = { authorization: `Bearer ${token}` };
    const socket = new WebSocket(url.replace("http", "ws") + path, { headers });
    const answered = await Promise.race([
      once(socket, "open").then(() => 101),
      once(socket, "unexpected-response").then(([, { statusCode }]) => statusCode as number),
    ]);
    socket.on("error", () => {}).terminate();
    return answered;
  };
  expect(await upgrade(whole, "/guest/closed-socket")).toBe(101);
  expect(await upgrade(scoped, "/guest/closed-socket")).toBe(403);
  expect(await upgrade(scoped, "/guest/open-socket")).toBe(101);
});
