/** A clock that is set back while the service runs, as when a machine learns the right time late. */
import { expect, test } from "vitest";
import { serveUnderAttack } from "../support/processes/attacked.ts";
import { afterThisTest } from "../support/undo.ts";

/** Loaded into the service: its clock is a day ahead until it is told to be right. Timers go by another clock, as they do in truth. */
const AHEAD = `data:text/javascript,${encodeURIComponent(`
  const { Date } = globalThis;
  let ahead = 86_400_000;
  process.on("SIGUSR2", () => { ahead = 0; process.stderr.write("the clock is set back\\n"); });
  const now = () => Date.now() + ahead;
  globalThis.Date = class extends Date {
    constructor(...given) { super(...(given.length > 0 ? given : [now()])); }
    static now = now;
  };`)}`;

test("a clock that is set back stops no chat, no job and no limit, and a thread keeps its order", async () => {
  const { served, webhook, send } = await serveUnderAttack(afterThisTest, {
    NODE_OPTIONS: `--import=${AHEAD}`,
    CHAT_RATE_LIMIT: "2",
  });
  served.model.otherwise(({ messages }) => ({ text: `Answer to ${messages.at(-1)?.content}` }));
  const chat = (message: string, thread_id?: string) => send("POST", "/api/chat", { message, thread_id });
  const submit = async (message: string) => (await webhook.post({ user_id: "ann", message })).json.job_id;
  const { json: first } = await chat("one");
  const jobs = [await submit("before")];
  served.process.kill("SIGUSR2");
  await served.process.printed("the clock is set back");
  const { json: second } = await chat("two", first.thread_id);
  expect(second).toMatchObject({ thread_id: first.thread_id, status: "completed" });
  const third = await chat("three");
  expect(third.status).toBe(429);
  expect(third.text).toMatch(/next request in \d+ s\./);
  jobs.push(await submit("after"));
  for (const id of jobs)
    await expect.poll(async () => (await webhook.get(`/jobs/${id}`)).json.status).toBe("completed");
  const { json: thread } = await send("GET", `/api/threads/${first.thread_id}`);
  expect(thread.turns.map(({ input }: { input: { text: string } }) => input.text)).toEqual(["one", "two"]);
});
