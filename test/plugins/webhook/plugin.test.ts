import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { Off } from "../../../kernel/plugin.ts";
import { Settings, type Variables } from "../../../kernel/settings/env.ts";
import plugin from "../../../plugins/webhook/plugin.ts";
import { temporaryFolder } from "../../support/home.ts";
import { scriptedModel } from "../../support/services/agent.ts";
import { diagnosing } from "../../support/services/diagnosis.ts";
import { bootWebhook, SECRET, scripted } from "../../support/services/webhook.ts";

const configure = (variables: Variables) => {
  const settings = new Settings(variables);
  const config = plugin.configure(settings.for("webhook"));
  return { config, problems: settings.problems.map(({ name }) => name) };
};

test("§2.1 the channel is off unless HTTP_ENABLED is true, and says so", () => {
  const { config } = configure({});
  expect(config).toBeInstanceOf(Off);
  expect((config as Off).why).toContain("HTTP_ENABLED");
});

test("§2.1 HTTP_HOST is 0.0.0.0 and HTTP_PORT is 8080 by default; §8 the rate is 60", () => {
  const { config } = configure({ HTTP_ENABLED: "true" });
  expect(config).toMatchObject({ host: "0.0.0.0", port: 8080, rate: 60, secret: undefined });
});

test.for([
  ["TRUSTED_PROXIES", { TRUSTED_PROXIES: "10.0.0.0/8,example.org" }],
  ["HTTP_CALLBACK_URL", { HTTP_CALLBACK_URL: "http://example.org/" }],
  ["HTTP_CALLBACK_URL", { HTTP_CALLBACK_URL: "https://user:pass@example.org/" }],
  ["HTTP_CALLBACK_PRIVATE_HOSTS", { HTTP_CALLBACK_PRIVATE_HOSTS: "10.0.0.1" }],
  ["HTTP_RATE_LIMIT", { HTTP_RATE_LIMIT: "0" }],
] as const)("a wrong %s is a configuration problem: %j", ([name, variables]) => {
  expect(configure({ HTTP_WEBHOOK_SECRET: SECRET, ...variables }).problems).toEqual([name]);
});

test("plain http is allowed to a listed host and port only", () => {
  const HTTP_CALLBACK_PRIVATE_HOSTS = "hooks.internal:8000";
  const to = (HTTP_CALLBACK_URL: string) =>
    configure({ HTTP_WEBHOOK_SECRET: SECRET, HTTP_CALLBACK_URL, HTTP_CALLBACK_PRIVATE_HOSTS }).problems;
  expect(to("http://hooks.internal:8000/done")).toEqual([]);
  expect(to("http://hooks.internal:8001/done")).toEqual(["HTTP_CALLBACK_URL"]);
});

test("a stop answers those who wait for a job instead of cutting them off", async () => {
  const model = await scriptedModel();
  model.otherwise({ text: ["thinking"], end: "stall" });
  const webhook = await bootWebhook(scripted(model));
  const waiting = webhook.post({ user_id: "ada", message: "slow" }, { prefer: "wait=60" });
  await expect.poll(async () => (await webhook.kernel.service("jobs").counts()).running).toBe(1);
  await webhook.kernel.stop();
  expect((await waiting).status).toBe(200);
});

test("doctor finds a port in use and a secret that is not set, and says what to do", async () => {
  const squatter = createServer();
  await new Promise<void>((resolve) => squatter.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void squatter.close());
  const { port } = squatter.address() as AddressInfo;
  const { config } = configure({ HTTP_ENABLED: "true", HTTP_HOST: "127.0.0.1", HTTP_PORT: String(port) });
  if (config instanceof Off) throw new Error("it is on");
  const findings = await diagnosing(temporaryFolder(), config, async (context) =>
    plugin.operations?.diagnose?.(context),
  );
  expect(findings).toEqual([
    { name: "webhook port", ok: false, detail: expect.stringContaining("HTTP_PORT") },
    { name: "webhook secret", ok: false, detail: expect.stringContaining("HTTP_WEBHOOK_SECRET") },
  ]);
});

test("a secret of any length is accepted; under 16 characters doctor warns", async () => {
  const findingOf = async (HTTP_WEBHOOK_SECRET: string) => {
    const { config } = configure({ HTTP_ENABLED: "true", HTTP_PORT: "0", HTTP_WEBHOOK_SECRET });
    if (config instanceof Off) throw new Error("it is on");
    return (
      await diagnosing(temporaryFolder(), config, async (context) => plugin.operations?.diagnose?.(context))
    )?.[1];
  };
  const detail = "HTTP_WEBHOOK_SECRET has only 3 characters: use at least 16, or it can be guessed";
  expect(await findingOf("abc")).toEqual({ name: "webhook secret", ok: true, warning: true, detail });
  expect(await findingOf("sixteen-letters-")).toEqual({ name: "webhook secret", ok: true, detail: "set" });
});

test.for([
  ["https://127.0.0.1/", {}, false, "127.0.0.1 is a loopback address"],
  ["https://no-such-host.invalid/", {}, false, "HTTP_CALLBACK_URL"],
  ["http://localhost:9/", { HTTP_CALLBACK_PRIVATE_HOSTS: "localhost:9" }, true, "localhost"],
] as const)("doctor looks up where callbacks go: %s", async ([url, more, ok, words]) => {
  const settings = {
    HTTP_ENABLED: "true",
    HTTP_HOST: "127.0.0.1",
    HTTP_PORT: "0",
    HTTP_WEBHOOK_SECRET: SECRET,
  };
  const { config } = configure({ ...settings, HTTP_CALLBACK_URL: url, ...more });
  if (config instanceof Off) throw new Error("it is on");
  const findings =
    (await diagnosing(temporaryFolder(), config, async (context) =>
      plugin.operations?.diagnose?.(context),
    )) ?? [];
  expect(findings.at(-1)).toEqual({ name: "webhook callback", ok, detail: expect.stringContaining(words) });
});
