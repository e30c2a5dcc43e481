import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../support/home.ts";
import { startPostern } from "../support/processes/postern.ts";

test("the plugin in kernel/README.md runs as it is printed there", async () => {
  const page = readFileSync(new URL("../../kernel/README.md", import.meta.url), "utf8");
  const [, source] = /```ts\n([\s\S]+?)```/.exec(page) ?? [];
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, "greeter.ts"), source ?? "");
  const env = {
    POSTERN_HOME: join(cwd, "home"),
    PLUGINS: "./greeter.ts",
    GREETER_WORD: "Moin",
    GATEWAY_ENABLED: "false",
  };
  const service = startPostern(["serve"], { env, cwd });
  await service.printed("ready in");
  expect(service.stdout()).toMatch(/greeter\s+on\s+Moin, start 1/);
  service.kill("SIGTERM");
  expect(await service.ended).toBe(0);
});
