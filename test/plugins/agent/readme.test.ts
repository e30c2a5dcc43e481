import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../support/home.ts";
import { startPostern } from "../../support/processes/postern.ts";

test("the channel in plugins/agent/README.md runs as it is printed there", async () => {
  const page = readFileSync(new URL("../../../plugins/agent/README.md", import.meta.url), "utf8");
  const [, source] = /```ts\n([\s\S]+?)```/.exec(page) ?? [];
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, "hello.ts"), source ?? "");
  const env = {
    POSTERN_HOME: join(cwd, "home"),
    PLUGINS: "./hello.ts",
    GATEWAY_ENABLED: "false",
    MODEL_PROVIDER: "builtin",
    MEMORY_VECTORS: "false",
  };
  const service = startPostern(["serve"], { env, cwd });
  await service.printed("ready in");
  expect(service.stdout()).toMatch(/hello\s+on\s+\S+/);
  service.kill("SIGTERM");
  expect(await service.ended).toBe(0);
});
