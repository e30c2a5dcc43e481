/** What comes with messages and outputs besides their text. */
import { expect, test } from "vitest";
import { createMask } from "../../../../kernel/mask/mask.ts";
import type { Attachment } from "../../../../kernel/plugin.ts";
import { createAttacher } from "../../../../plugins/agent/context/attached-bytes.ts";
import type { Turn } from "../../../../plugins/agent/services.ts";
import { MIGRATIONS } from "../../../../plugins/agent/threads/tables.ts";
import { type AgentOptions, bootAgent, message, scriptedModel } from "../../../support/services/agent.ts";

const PNG = Buffer.from("89504e470d0a1a0a", "hex");
const image = (id: string, more: Partial<Attachment> = {}): Attachment => ({
  ...{ id, kind: "image", mime: "image/png", size: PNG.length },
  ...more,
});
const look = (text: string, ...attachments: Attachment[]) => ({ ...message(text), attachments });

async function start(options: AgentOptions = {}) {
  const model = await scriptedModel();
  const kernel = await bootAgent({
    model,
    ...options,
    variables: { MODEL_NAME: "gpt-4o", ...options.variables },
  });
  const sql = await kernel.service("store").tables("agent", MIGRATIONS);
  const stored = async () =>
    (await sql.get<{ count: number }>("SELECT count(*) AS count FROM attachments"))?.count;
  const run = async (turn: Partial<Turn> & Pick<Turn, "input">) => {
    const running = await kernel.service("agent").run({ user: "ann", channel: "test", ...turn });
    return await running.record;
  };
  /** Returns what each message of the last request carries. */
  const shown = () =>
    (model.requests.at(-1)?.messages ?? [])
      .filter(({ role }) => role !== "system")
      .map(({ content }) => JSON.stringify(content).split("data:image/png;base64,").length - 1);
  return { model, kernel, run, shown, stored, threads: kernel.service("threads") };
}

test("what is attached to a message is shown with it, also on later turns and after a restart", async () => {
  const { model, kernel, run, shown, threads } = await start();
  const attached = [{ id: "one", data: PNG }];
  const record = await run({ input: look("What is this?", image("one", { name: "cat.png" })), attached });
  expect(record.items[0]).toMatchObject({ text: "What is this?", attachments: [{ id: "one" }] });
  expect(shown()).toEqual([1]);
  expect(JSON.stringify(model.requests.at(-1))).toContain(PNG.toString("base64"));
  await run({ thread: record.thread, input: message("And its colour?") });
  expect(shown()).toEqual([1, 0, 0]);
  expect(await threads.attachment("ann", "one")).toEqual({
    mime: "image/png",
    name: "cat.png",
    data: expect.objectContaining({ length: PNG.length }),
  });
  expect(Buffer.from((await threads.attachment("ann", "one"))?.data ?? []).equals(PNG)).toBe(true);
  expect(await threads.attachment("eve", "one")).toBeUndefined();
  await kernel.stop();
  const again = await start({ home: kernel.home });
  await again.run({ thread: record.thread, input: message("Still there?") });
  expect(again.shown()).toEqual([1, 0, 0, 0, 0]);
});

test("it goes with its thread, and only what the input or the history names is stored", async () => {
  const { run, shown, stored, threads } = await start();
  const history = [
    { type: "message", id: "", role: "user", text: "Look", attachments: [image("a")] },
    { type: "message", id: "", role: "assistant", text: "I see" },
  ] as const;
  const attached = ["a", "b", "c"].map((id) => ({ id, data: PNG }));
  const record = await run({ preamble: { history }, input: look("Compare", image("b")), attached });
  expect(shown()).toEqual([1, 0, 1]);
  expect(await stored()).toBe(2);
  await threads.remove("ann", record.thread);
  expect(await stored()).toBe(0);
  await run({ input: look("Nothing stays", image("a")), attached, keeping: { ephemeral: true } });
  expect(shown()).toEqual([1]);
  expect(await stored()).toBe(0);
});

test("a message may be nothing but an image, and outputs of calls may carry one", async () => {
  const { model, run, stored } = await start();
  model.script({ calls: [{ id: "call_1", name: "snap", arguments: {} }] }, { text: "A cat." });
  const tools = [{ name: "snap" }];
  const first = await run({
    input: look("", image("a")),
    attached: [{ id: "a", data: PNG }],
    answer: { tools },
  });
  const outputs = [{ call: "call_1", output: "taken", attachments: [image("b")] }];
  const { items } = await run({
    thread: first.thread,
    input: { type: "tool_outputs", outputs },
    attached: [{ id: "b", data: PNG }],
  });
  expect(items).toMatchObject([{ type: "tool_result", attachments: [{ id: "b" }] }, { text: "A cat." }]);
  expect(JSON.stringify(model.requests.at(-1)).split(PNG.toString("base64"))).toHaveLength(3);
  expect(await stored()).toBe(2);
});

test("one that is neither brought nor stored is said to be missing; each is read once", async () => {
  const reads: (readonly string[])[] = [];
  const read = async (ids: readonly string[]) => {
    reads.push(ids);
    return new Map([["kept", PNG]]);
  };
  const attach = createAttacher({ attached: [{ id: "own", data: PNG }] }, read, createMask());
  const messages = [
    {
      role: "user",
      text: "Look",
      attachments: [image("own"), image("kept"), image("gone", { name: "x.png" })],
    },
    { role: "tool", call: { id: "c", name: "snap", params: "{}" }, output: "", failed: false },
    { role: "user", text: "", attachments: [image("lost")] },
  ] as const;
  for (let count = 0; count < 2; count++) {
    const [first, , last] = await attach(messages);
    expect(first).toMatchObject({ text: "Look\n[image x.png no longer available]" });
    expect(first?.role === "user" && first.attachments).toHaveLength(2);
    expect(last).toMatchObject({ text: "[image no longer available]", attachments: [] });
  }
  expect(reads).toEqual([["kept", "gone", "lost"]]);
});
