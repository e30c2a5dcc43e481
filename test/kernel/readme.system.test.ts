import { expect, test } from "vitest";
import { servePluginOf } from "../support/processes/readme-plugin.ts";

test("the plugin in kernel/README.md runs as it is printed there", async () => {
  const service = await servePluginOf("kernel/README.md", { GREETER_WORD: "Moin" });
  expect(service.stdout()).toMatch(/greeter\s+on\s+Moin, start 1/);
  service.kill("SIGTERM");
  expect(await service.ended).toBe(0);
});
