import { once } from "node:events";
import { expect, test } from "vitest";
import WebSocket from "ws";
import { routesOf } from "../../../kernel/net/route.ts";
import type { AnyPlugin } from "../../../kernel/plugin.ts";
import type { Web } from "../../../plugins/gateway/services.ts";
import { OPERATOR_TOKEN, openGateway } from "../../support/services/gateway.ts";

const SIGNED_IN = { authorization: `Bearer ${OPERATOR_TOKEN}` };

const socketStatus = async (url: string): Promise<number | undefined> => {
  const socket = new WebSocket(url.replace("http", "ws"), { headers: SIGNED_IN });
  const [, response] = await once(socket, "unexpected-response");
  response.resume();
  return response.statusCode;
};

test("until every plugin has started, what is not mounted yet is 503 with a time to try again", async () => {
  const seen: Record<string, unknown> = {};
  const late = {
    name: "late",
    needs: ["web"],
    configure: () => ({}),
    async start({ use: { web } }: { use: { web: Web } }) {
      const ask = (path: string, headers: Record<string, string> = SIGNED_IN) =>
        fetch(web.url + path, { headers });
      const route = await ask("/late");
      seen["route"] = [route.status, route.headers.get("retry-after"), await route.json()];
      seen["post"] = (await fetch(`${web.url}/api/late`, { method: "POST", headers: SIGNED_IN })).status;
      seen["stranger"] = (await ask("/late", {})).status;
      seen["socket"] = await socketStatus(`${web.url}/late/ws`);
      seen["health"] = (await ask("/health")).status;
      const ready = await ask("/ready");
      seen["ready"] = [ready.status, ((await ready.json()) as { checks: unknown[] }).checks[0]];
      seen["thread"] = (await ask("/api/threads/none")).status;
      web.mount([
        routesOf("late")("GET /late", { summary: "Late", answer: "text/plain", handle: () => "here" }),
      ]);
    },
  } as unknown as AnyPlugin;
  const { url } = await openGateway({ plugins: [late] });
  expect(seen).toEqual({
    route: [
      503,
      "1",
      {
        error: {
          message: "The service is starting: try again in a second.",
          type: "server_error",
          param: null,
          code: "starting",
        },
      },
    ],
    post: 503,
    stranger: 401,
    socket: 503,
    health: 200,
    ready: [503, { name: "service", ok: false, millis: 0 }],
    thread: 404,
  });
  expect(await (await fetch(`${url}/late`, { headers: SIGNED_IN })).text()).toBe("here");
  expect((await fetch(`${url}/later`, { headers: SIGNED_IN })).status).toBe(404);
  expect(await socketStatus(`${url}/late/ws`)).toBe(404);
  expect((await fetch(`${url}/ready`)).status).toBe(200);
});

test("until the limit of writes is set, nothing can be written", async () => {
  let status: number | undefined;
  const early = {
    name: "early",
    needs: ["web"],
    extends: ["web"],
    configure: () => ({}),
    async start({ use: { web } }: { use: { web: Web } }) {
      web.mount([
        routesOf("early")("POST /early", { summary: "Early", answer: "text/plain", handle: () => "here" }),
      ]);
      status = (await fetch(`${web.url}/early`, { method: "POST", headers: SIGNED_IN })).status;
    },
  } as unknown as AnyPlugin;
  const { url } = await openGateway({ plugins: [early] });
  expect(status).toBe(503);
  expect((await fetch(`${url}/early`, { method: "POST", headers: SIGNED_IN })).status).toBe(200);
});
