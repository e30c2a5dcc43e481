import { expect, test } from "vitest";
import { heapUsed } from "../../support/memory.ts";
import { scriptedModel } from "../../support/services/agent.ts";
import { bootWebhook, SECRET, scripted } from "../../support/services/webhook.ts";

const JOBS = 2000;
const AT_ONCE = 20;
/** Together they are more than three times what the heap may grow by. */
const MESSAGE_BYTES = 35_000;
const BOUND_BYTES = 16 * 1024 * 1024;

test("thousands of queued jobs stay on disk: the heap does not grow with them, and the next is accepted as before", async () => {
  const model = await scriptedModel();
  model.otherwise({ text: ["thinking"], end: "stall" });
  const webhook = await bootWebhook({ ...scripted(model), LOG_LEVEL: "error" });
  const submit = async (count: number) => {
    const answer = await fetch(`${webhook.url}/webhook`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-webhook-secret": SECRET },
      body: JSON.stringify({
        user_id: `user-${count % 100}`,
        message: `job ${count} ${"x".repeat(MESSAGE_BYTES)}`,
      }),
    });
    expect(answer.status).toBe(200);
    await answer.arrayBuffer();
  };
  let sent = 0;
  const sendUpTo = (total: number) =>
    Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        while (sent < total) await submit(sent++);
      }),
    );
  await sendUpTo(500);
  const before = heapUsed();
  await sendUpTo(JOBS);
  expect(heapUsed() - before).toBeLessThan(BOUND_BYTES);
  const { queued, running } = await webhook.kernel.service("jobs").counts();
  expect(queued + running).toBe(JOBS);
  const { json } = await webhook.post({ user_id: "ada", message: "one more" });
  expect(json.status).toBe("queued");
  expect((await webhook.get(`/jobs/${json.job_id}`)).status).toBe(200);
});
