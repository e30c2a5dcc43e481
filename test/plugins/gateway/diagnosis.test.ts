import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { diagnosePort } from "../../../plugins/gateway/diagnosis.ts";
import { openGateway } from "../../support/services/gateway.ts";

async function portOfSomebodyElse(): Promise<number> {
  const server = createServer((_, response) => response.end("{}")).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

test("doctor finds a free port, a Postern that runs, and a port that somebody else has", async () => {
  const at = (port: number) => diagnosePort({ host: "127.0.0.1", port });
  expect(await at(0)).toMatchObject([{ ok: true, detail: expect.stringContaining("free") }]);
  const { url } = await openGateway();
  expect(await at(Number(new URL(url).port))).toMatchObject([
    { ok: true, detail: expect.stringContaining("Postern is running") },
  ]);
  expect(await at(await portOfSomebodyElse())).toMatchObject([
    { ok: false, detail: expect.stringContaining("GATEWAY_PORT") },
  ]);
});
