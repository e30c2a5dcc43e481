import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../support/home.ts";
import { startPostern } from "../../../support/processes/postern.ts";
import { bootAgent, message, scriptedModel } from "../../../support/services/agent.ts";

const ASKER = fileURLToPath(new URL("../../../fixtures/third-party/asker.ts", import.meta.url));

test("a process that is killed in the middle of a turn and of a job loses neither", async () => {
  const model = await scriptedModel();
  // Each answer goes on for seconds, so that the kill falls into it.
  model.otherwise({ text: Array.from({ length: 400 }, (_, count) => `word ${count} `), delay: 20 });
  const home = temporaryFolder();
  const postern = startPostern(["serve"], {
    env: {
      POSTERN_HOME: home,
      PLUGINS: ASKER,
      MODEL_BASE_URL: model.url,
      GATEWAY_ENABLED: "false",
      MEMORY_VECTORS: "false",
    },
    cwd: home,
  });
  await postern.printed("asked ");
  const [, turn, thread, job] = /asked (\S+) (\S+) (\S+)/.exec(postern.stdout()) ?? [];
  await expect.poll(() => model.requests.length, { timeout: 20_000 }).toBe(2);
  // Long enough for a checkpoint of what has been said.
  await new Promise((resolve) => setTimeout(resolve, 2500));
  postern.kill("SIGKILL");
  await postern.ended;

  model.otherwise({ text: "Done." });
  const kernel = await bootAgent({ model, home });
  const record = kernel.service("threads").turn("ann", turn ?? "");
  expect(record).toMatchObject({
    status: "failed",
    error: { code: "interrupted", message: expect.stringContaining("restart") },
    items: [
      { role: "user", text: "Tell me a story" },
      { role: "assistant", text: expect.stringContaining("word 10 ") },
    ],
  });
  expect(kernel.service("threads").list("ann", { q: "story" }).items).toHaveLength(1);
  const done = await kernel.service("jobs").wait(job ?? "", 20_000);
  expect(done).toMatchObject({ status: "completed", response: "Done." });
  const next = kernel
    .service("agent")
    .run({ user: "ann", channel: "test", thread: thread ?? "", input: message("Go on") });
  expect((await next.record).status).toBe("completed");
});
