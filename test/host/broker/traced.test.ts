import { expect, test } from "vitest";
import type { Span } from "../../../plugins/telemetry/services.ts";
import { ask, everywhere, withServer } from "../../support/services/brokerage.ts";

const HEADER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/** A span that writes down what becomes of its children. */
function recording() {
  const told: unknown[] = [];
  const span = (name: string): Span => ({
    traceparent: HEADER,
    set: (attributes) => void told.push(attributes),
    event: () => {},
    child: (child, options) => {
      told.push([child, options]);
      return span(child);
    },
    end: (error) => void told.push([name, "ended", error]),
  });
  return { told, span: span("call") };
}

test("a tool's request is part of the call's trace, without path or query; only hosts the operator names are told", async () => {
  const { server, opened, url } = await withServer((_, response) => response.writeHead(404).end());
  const { told, span } = recording();
  for (const isTold of [true, false]) {
    const call = opened.open(everywhere("api.test"), { trace: { span, tellsHost: () => isTold } });
    await ask(call, `${url}/planted-path?planted=query`);
  }
  expect(server.requests[0]?.headers).toMatchObject({ traceparent: HEADER });
  expect(server.requests[1]?.headers).not.toHaveProperty("traceparent");
  expect(told.slice(0, 3)).toEqual([
    [
      "GET",
      {
        kind: "client",
        attributes: expect.objectContaining({ "http.request.method": "GET", "server.address": "api.test" }),
      },
    ],
    { "http.response.status_code": 404 },
    ["GET", "ended", "404"],
  ]);
  expect(JSON.stringify(told)).not.toContain("planted");
});
