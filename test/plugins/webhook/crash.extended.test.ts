import { expect, test } from "vitest";
import { temporaryFolder } from "../../support/home.ts";
import { countAnswers, submitUnderKills } from "../../support/processes/kills.ts";
import { bootWebhook } from "../../support/services/webhook.ts";

test("killed at random moments under load, every acknowledged job completes exactly once or says why not", async () => {
  const home = temporaryFolder();
  const { acknowledged, outcomes } = await submitUnderKills(home, 50, (kills) => kills === 5);
  for (const { response, error } of outcomes) {
    expect(response).toMatch(/./);
    // Nothing here calls a tool, so nothing may give up: an interrupted job is simply run again.
    expect(error).toBeUndefined();
  }
  const { kernel } = await bootWebhook({}, { home });
  const answered = await countAnswers(kernel.service("threads"));
  for (const message of acknowledged.values()) expect([message, answered.get(message)]).toEqual([message, 1]);
});
