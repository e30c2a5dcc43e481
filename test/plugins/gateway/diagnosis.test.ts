import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Off } from "../../../kernel/plugin.ts";
import { Settings, type Variables } from "../../../kernel/settings/env.ts";
import { diagnose } from "../../../plugins/gateway/diagnosis.ts";
import { type GatewayConfig, readSettings } from "../../../plugins/gateway/settings.ts";
import { temporaryFolder } from "../../support/home.ts";
import { diagnosing } from "../../support/services/diagnosis.ts";
import { openGateway } from "../../support/services/gateway.ts";

async function portOfSomebodyElse(): Promise<number> {
  const server = createServer((_, response) => response.end("{}")).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

const configOf = (variables: Variables): GatewayConfig => {
  const config = readSettings(new Settings(variables).for("gateway"));
  if (config instanceof Off) throw new Error("it is on");
  return config;
};

test("a token of any length is accepted; under 16 characters doctor and the start-up table warn", async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, "webui-token"), "short\n");
  const warnings = (
    await diagnosing(home, configOf({ GATEWAY_PORT: "0", GATEWAY_AUTH_TOKEN: "x" }), diagnose)
  ).slice(1);
  expect(warnings).toMatchObject([
    { ok: true, warning: true, detail: expect.stringContaining("GATEWAY_AUTH_TOKEN has only 1 character:") },
    { ok: true, warning: true, detail: expect.stringContaining("webui-token has only 5 characters:") },
  ]);
  const long = { GATEWAY_PORT: "0", GATEWAY_AUTH_TOKEN: "sixteen-letters-" };
  expect(await diagnosing(temporaryFolder(), configOf(long), diagnose)).toHaveLength(1);

  const { ask } = await openGateway({ variables: { SERVICE_REBORN_WEBUI_TOKEN: "x" } });
  const { status, body } = await ask("/api/status", { token: "x" });
  expect(status).toBe(200);
  expect(body.channels).toContainEqual({
    name: "gateway",
    on: true,
    detail: expect.stringContaining(
      "(SERVICE_REBORN_WEBUI_TOKEN has only 1 character: use at least 16, or it can be guessed)",
    ),
  });
});

test("doctor finds a free port, the one that this service has, and one that somebody else has", async () => {
  const at = (port: number, running?: string) =>
    diagnosing(temporaryFolder(), configOf({ GATEWAY_PORT: String(port) }), (context) =>
      diagnose({ ...context, running }),
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
