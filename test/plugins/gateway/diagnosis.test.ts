import { createServer } from "node:http";
import { expect, test } from "vitest";
import { Off } from "../../../kernel/plugin.ts";
import { Settings, type Variables } from "../../../kernel/settings/env.ts";
import gateway from "../../../plugins/gateway/plugin.ts";
import { type GatewayConfig, readSettings } from "../../../plugins/gateway/settings.ts";
import { temporaryFolder } from "../../support/home.ts";
import { listen } from "../../support/servers/listening.ts";
import { diagnosing } from "../../support/services/diagnosis.ts";
import { openGateway } from "../../support/services/gateway.ts";

async function portOfSomebodyElse(): Promise<number> {
  return (await listen(createServer((_, response) => response.end("{}")))).port;
}

const configOf = (variables: Variables): GatewayConfig => {
  const config = readSettings(new Settings(variables).for("gateway"));
  if (config instanceof Off) throw new Error("it is on");
  return config;
};

test("doctor finds a free port, the one that this service has, and one that somebody else has", async () => {
  const at = (port: number, running?: string) =>
    diagnosing(
      temporaryFolder(),
      configOf({ GATEWAY_PORT: String(port) }),
      (context) => gateway.operations?.diagnose?.({ ...context, running }) ?? Promise.resolve([]),
    );
  expect(await at(0)).toMatchObject([{ ok: true, detail: expect.stringContaining("free") }]);
  const { url } = await openGateway();
  const port = Number(new URL(url).port);
  expect(await at(port, `${url} (a warning)`)).toMatchObject([
    { ok: true, detail: `Postern is running on 127.0.0.1:${port}` },
  ]);
  // Another home's service is somebody else.
  expect(await at(port)).toMatchObject([{ ok: false, detail: expect.stringContaining("GATEWAY_PORT") }]);
  expect(await at(await portOfSomebodyElse(), url)).toMatchObject([
    { ok: false, detail: expect.stringContaining("GATEWAY_PORT") },
  ]);
});
