import { expect, test } from "vitest";
import { servePluginOf } from "../../support/processes/readme-plugin.ts";

test("the channel in plugins/agent/README.md runs as it is printed there", async () => {
  const service = await servePluginOf("plugins/agent/README.md", {
    MODEL_PROVIDER: "builtin",
    MEMORY_VECTORS: "false",
  });
  expect(service.stdout()).toMatch(/hello\s+on\s+\S+/);
  service.kill("SIGTERM");
  expect(await service.ended).toBe(0);
});
