import { expect, test } from "vitest";
import { describeEngines } from "../../support/processes/engines.ts";
import { servePluginOf } from "../../support/processes/readme-plugin.ts";

describeEngines("the plugin in plugins/store/README.md", (_, fresh) => {
  test("runs as it is printed there", async () => {
    const { url } = await fresh();
    const key = Buffer.alloc(32, 7).toString("base64");
    const service = await servePluginOf("plugins/store/README.md", {
      STORE_URL: url,
      POSTERN_SECRETS_KEY: key,
      VISITOR: "Ann",
    });
    expect(service.stdout()).toMatch(/visits\s+on\s+Ann is number 1/);
    service.kill("SIGTERM");
    expect(await service.ended).toBe(0);
  });
});
