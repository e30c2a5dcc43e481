import { expect, test } from "vitest";
import type { CallOutcome } from "../../../../host/services.ts";
import { bootAgent, eventsOf, message, scriptedModel } from "../../../support/services/agent.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

const image = (data: Uint8Array, mime = "image/png") => ({
  attachment: { id: "same", kind: "image", mime, size: 1, name: "plot.png" } as const,
  data,
});

async function bootWith(outcome: CallOutcome, variables = {}) {
  const model = await scriptedModel();
  model.script({ calls: [{ id: "c1", name: "plot_draw", arguments: {} }] }, { text: "Drawn." });
  const kernel = await bootAgent({ model, variables, tools: { plot_draw: { run: () => outcome } } });
  const turn = await kernel.service("agent").run({ user: "ann", channel: "test", input: message("Draw") });
  const events = await eventsOf(turn);
  const { items } = await turn.record;
  return {
    model,
    kernel,
    events,
    result: items.find((item) => item.type === "tool_result"),
    thread: turn.thread,
  };
}

test("an image that a tool returns is kept with its result, and goes to a model that takes images", async () => {
  const outcome: CallOutcome = {
    status: "ok",
    output: "A plot.",
    attached: [image(PNG, "text/html")],
    structured: { secret: "for nobody" },
  };
  const { model, kernel, events, result, thread } = await bootWith(outcome, { MODEL_INPUTS: "text,image" });
  const attachments = [{ kind: "image", mime: "image/png", size: PNG.length, name: "plot.png" }];
  expect(result).toMatchObject({ outcome: { status: "ok", output: "A plot." }, attachments });
  expect(events).toContainEqual(
    expect.objectContaining({
      type: "tool_finished",
      attachments: [expect.objectContaining(attachments[0])],
    }),
  );
  expect(JSON.stringify([result, events])).not.toContain("for nobody");
  expect(JSON.stringify(model.requests[1])).toContain(PNG.toString("base64"));
  const id = result?.attachments?.[0]?.id ?? "";
  const threads = kernel.service("threads");
  expect(Buffer.from((await threads.attachment("ann", id))?.data ?? [])).toEqual(PNG);
  expect(await threads.attachment("eve", id)).toBeUndefined();
  // Later turns show it too, from the store.
  model.script({ text: "Yes." });
  const agent = kernel.service("agent");
  await (await agent.run({ user: "ann", channel: "test", thread, input: message("Sure?") })).record;
  expect(JSON.stringify(model.requests[2])).toContain(PNG.toString("base64"));
});

test("a model that takes no images reads that there was one", async () => {
  const { model } = await bootWith({ status: "ok", output: "A plot.", attached: [image(PNG)] });
  expect(model.requests[1]?.messages.at(-1)?.content).toContain('[Here was an image named "plot.png"');
});

test("what is no image by its bytes, too large, or one too many is left out in words", async () => {
  const large = Buffer.concat([PNG, Buffer.alloc(5 * 2 ** 20)]);
  const script = Buffer.from("<script>alert(1)</script>");
  const attached = [image(script), image(large), ...Array.from({ length: 7 }, () => image(PNG))];
  const { result } = await bootWith({ status: "ok", output: "Plots.", attached });
  expect(result?.attachments).toHaveLength(6);
  expect(result).toMatchObject({
    outcome: {
      output: [
        "Plots.",
        "[An attachment was left out: it is no PNG, JPEG, GIF or WebP image.]",
        "[An image was left out: it is too large.]",
        "[1 more image was left out.]",
      ].join("\n"),
    },
  });
});
