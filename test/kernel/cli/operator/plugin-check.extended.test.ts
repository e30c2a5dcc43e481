import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../support/home.ts";
import { postern } from "../../../support/processes/postern.ts";

test("plugin check promises no start, since a start may fail", async () => {
  const cwd = temporaryFolder();
  const plugin = `import { definePlugin } from "postern/plugin";
export default definePlugin({ name: "clock", provides: ["clock"], configure: () => ({}), start: () => {} });`;
  writeFileSync(join(cwd, "clock.js"), plugin);
  writeFileSync(join(cwd, "package.json"), '{ "type": "module" }');
  const env = { POSTERN_HOME: join(cwd, "home"), GATEWAY_ENABLED: "false", MODEL_PROVIDER: "builtin" };
  const checked = await postern(["plugin", "check", "./clock.js"], { env, cwd });
  expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining("without starting it") });
  const started = await postern(["serve"], { env: { ...env, PLUGINS: "./clock.js" }, cwd });
  expect(started.stderr).toContain('start() did not return the service "clock" it provides');
});
