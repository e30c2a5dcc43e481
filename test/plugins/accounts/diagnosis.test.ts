import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Settings, type Variables } from "../../../kernel/settings/env.ts";
import { diagnose } from "../../../plugins/accounts/diagnosis.ts";
import { readSettings } from "../../../plugins/accounts/settings.ts";
import { temporaryFolder } from "../../support/home.ts";
import { diagnosing } from "../../support/services/diagnosis.ts";
import { openGateway } from "../../support/services/gateway.ts";

const configOf = (variables: Variables) => readSettings(new Settings(variables).for("accounts"));

test("a token of any length is accepted; under 16 characters doctor and the start-up table warn", async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, "webui-token"), "short\n");
  expect(await diagnosing(home, configOf({ GATEWAY_AUTH_TOKEN: "x" }), diagnose)).toMatchObject([
    { ok: true, warning: true, detail: expect.stringContaining("GATEWAY_AUTH_TOKEN has only 1 character:") },
    { ok: true, warning: true, detail: expect.stringContaining("webui-token has only 5 characters:") },
  ]);
  const long = { GATEWAY_AUTH_TOKEN: "sixteen-letters-" };
  expect(await diagnosing(temporaryFolder(), configOf(long), diagnose)).toEqual([]);

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
