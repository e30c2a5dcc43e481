/** Messages that wait in line while the service stops and starts again. */
import { expect, test } from "vitest";
import { definePlugin } from "../../../../kernel/plugin.ts";
import type { Turn } from "../../../../plugins/agent/services.ts";
import { bootAgent, message, scriptedModel } from "../../../support/services/agent.ts";

const SENT: Turn = {
  user: "ann",
  channel: "gateway",
  input: message("Hi"),
  keeping: { survivesRestart: true },
};
const picture = { id: "a-picture", kind: "image", mime: "image/png", size: 3 } as const;
const variables = { MODEL_INPUTS: "text,image" };
const bytes = Buffer.from("png");

async function stopWithTwoWaiting(
  more: Partial<Turn> = {},
  atLast = async (_kernel: Awaited<ReturnType<typeof bootAgent>>, _thread: string) => {},
) {
  const model = await scriptedModel();
  model.script({ text: "Half a ", end: "stall" });
  const before = await bootAgent({ model, variables });
  const agent = before.service("agent");
  const first = await agent.run(SENT);
  for await (const event of first) if (event.type === "text") break;
  const waiting = [];
  for (const text of ["One", "Two"])
    waiting.push(await agent.run({ ...SENT, input: message(text), thread: first.thread, ...more }));
  await atLast(before, first.thread);
  await before.stop();
  return { model, home: before.home, first, waiting };
}

const saidIn = (model: Awaited<ReturnType<typeof scriptedModel>>) =>
  model.requests.map(({ messages }) => {
    const content = messages.findLast(({ role }) => role === "user")?.content;
    return typeof content === "string" ? content : JSON.stringify(content);
  });

test("that were sent and not waited for run after the restart, in order, and once", async () => {
  const { model, home, first, waiting } = await stopWithTwoWaiting();
  expect((await first.record).error?.code).toBe("interrupted");
  for (const turn of waiting)
    await expect(turn.record).rejects.toThrow(expect.objectContaining({ code: "stopping" }));
  model.script({ text: "1." }, { text: "2." });
  const kernel = await bootAgent({ model, home, variables });
  const threads = kernel.service("threads");
  for (const { id } of waiting)
    await expect.poll(async () => (await threads.turn("ann", id))?.status).toBe("completed");
  expect(saidIn(model)).toEqual(["Hi", "One", "Two"]);
  await kernel.stop();
  const again = await bootAgent({ model, home, variables });
  const turns = await again.service("threads").turns("ann", first.thread);
  expect(turns.items.map(({ status }) => status)).toEqual(["failed", "completed", "completed"]);
  expect(saidIn(model)).toHaveLength(3);
});

test("never run if the service died as soon as their thread was in the bin, nor once it is restored", async () => {
  const { model, home, first } = await stopWithTwoWaiting({}, async (kernel, thread) => {
    const sql = await kernel.service("store").tables("test", []);
    // What is committed, without what follows it.
    await sql.run("UPDATE threads SET binned_at = ? WHERE id = ?", new Date().toISOString(), thread);
    const open = "thread = ? AND status IN ('queued', 'running')";
    await sql.run(`UPDATE turns SET stop_asked = 1 WHERE ${open}`, thread);
  });
  const kernel = await bootAgent({ model, home, variables });
  const threads = kernel.service("threads");
  expect(await threads.find("ann", first.thread)).toBeUndefined();
  await threads.restore("ann", first.thread);
  const waiting = async () => (await threads.turns("ann", first.thread)).items.slice(1);
  await expect.poll(async () => (await waiting()).map(({ status }) => status)).toEqual(["failed", "failed"]);
  expect(saidIn(model)).toEqual(["Hi"]);
});

test("run before a message that comes while the service starts", async () => {
  const { model, home, first, waiting } = await stopWithTwoWaiting();
  model.script({ text: "1." }, { text: "2." }, { text: "3." });
  const early = definePlugin({
    name: "early",
    needs: ["agent"],
    extends: ["agent"],
    configure: () => ({}),
    async start({ use: { agent } }) {
      await agent.run({ ...SENT, input: message("Three"), thread: first.thread });
    },
  });
  const kernel = await bootAgent({ model, home, variables, plugins: [early] });
  const turns = async () => (await kernel.service("threads").turns("ann", first.thread)).items;
  await expect
    .poll(async () => (await turns()).map(({ status }) => status))
    .toEqual(["failed", "completed", "completed", "completed"]);
  expect(saidIn(model)).toEqual(["Hi", "One", "Two", "Three"]);
  expect((await turns()).map(({ id }) => id).slice(1, 3)).toEqual(waiting.map(({ id }) => id));
});

test("keep their files, instructions and scope", async () => {
  const { model, home, waiting } = await stopWithTwoWaiting({
    input: { ...message("Look"), attachments: [picture] },
    attached: [{ id: picture.id, data: bytes }],
    preamble: { instructionsOnce: "Answer in rhymes.", context: { city: "Ulm" } },
    scope: { token: "t", tools: ["weather"] },
  });
  model.script({ text: "1." }, { text: "2." });
  const kernel = await bootAgent({ model, home, variables });
  const threads = kernel.service("threads");
  const [one] = waiting;
  await expect.poll(async () => (await threads.turn("ann", one?.id ?? ""))?.status).toBe("completed");
  const asked = JSON.stringify(model.requests[1]);
  for (const part of [bytes.toString("base64"), "Answer in rhymes.", "Ulm"]) expect(asked).toContain(part);
  expect(asked).not.toContain("mission_create");
});

test("end as interrupted if their caller waits for the answer in the same request", async () => {
  const { model, home, waiting } = await stopWithTwoWaiting({ keeping: {} });
  for (const { record } of waiting) expect((await record).error?.code).toBe("interrupted");
  await bootAgent({ model, home, variables });
  expect(saidIn(model)).toEqual(["Hi"]);
});

test("do not run if they were stopped while the service was off", async () => {
  const { model, home, first, waiting } = await stopWithTwoWaiting();
  const beside = await bootAgent({ model, home, serving: false });
  await beside.service("agent").cancel("ann", waiting[0]?.id ?? "");
  await beside.stop();
  model.script({ text: "2." });
  const kernel = await bootAgent({ model, home, variables });
  const read = async () =>
    (await kernel.service("threads").turns("ann", first.thread)).items.map(({ status }) => status);
  await expect.poll(read).toEqual(["failed", "failed", "completed"]);
  expect(saidIn(model)).toEqual(["Hi", "Two"]);
});

test("run once if they are looked for twice at the same moment", async () => {
  const { model, home, waiting } = await stopWithTwoWaiting();
  model.otherwise({ text: "Yes." });
  const impatient = definePlugin({
    name: "impatient",
    needs: ["agent"],
    extends: ["agent"],
    configure: () => ({}),
    start: async ({ use: { agent } }) => void (await Promise.all([agent.resume(), agent.resume()])),
  });
  const kernel = await bootAgent({ model, home, plugins: [impatient] });
  const threads = kernel.service("threads");
  const read = async () => await Promise.all(waiting.map(({ id }) => threads.turn("ann", id)));
  await expect.poll(async () => (await read()).every((turn) => turn?.completedAt)).toBe(true);
  await kernel.stop();
  const again = await bootAgent({ model, home, serving: false });
  const ended = await Promise.all(waiting.map(({ id }) => again.service("threads").turn("ann", id)));
  expect(ended.map((turn) => turn?.status)).toEqual(["completed", "completed"]);
  expect(saidIn(model)).toEqual(["Hi", "One", "Two"]);
});
