import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { scriptedModel } from "../../../support/services/agent.ts";
import { type Frame, OPERATOR_TOKEN, openGateway } from "../../../support/services/gateway.ts";

test("the socket client in the README of the chat's API runs as it is printed there, and survives a drop", async () => {
  const page = readFileSync(new URL("../../../../plugins/agent/routes/README.md", import.meta.url), "utf8");
  const [, source = ""] = /```ts\n([\s\S]+?)```/.exec(page) ?? [];
  // Beside this test, so that it finds the packages it imports.
  const file = fileURLToPath(new URL(`readme-client-${process.pid}.ts`, import.meta.url));
  writeFileSync(file, source);
  onTestFinished(() => rmSync(file));
  const model = await scriptedModel();
  model.script({ text: ["Hel", "lo"] });
  const gateway = await openGateway({ model });
  vi.stubEnv("GATEWAY_URL", gateway.url).stubEnv("TOKEN", OPERATOR_TOKEN);
  onTestFinished(() => void vi.unstubAllEnvs());

  const { listen } = (await import(file)) as { listen(tell: (frame: Frame) => void): void };
  const frames: Frame[] = [];
  listen((frame) => frames.push(frame));
  await expect.poll(() => frames.length).toBe(1);
  await gateway.ask("/api/chat", { method: "POST", body: { message: "Hi" } });
  await expect.poll(() => frames.some(({ type }) => type === "done")).toBe(true);
  expect(frames.map(({ delta }) => delta ?? "").join("")).toBe("Hello");
  const { home } = gateway.service;
  const { port } = new URL(gateway.url);
  await gateway.service.stop();
  await openGateway({ model, home, variables: { GATEWAY_PORT: port } });
  await expect.poll(() => frames.at(-1).type).toBe("resync");
});
