import { expect, test } from "vitest";
import type { Attachment } from "../../../../kernel/plugin.ts";
import type { Preamble, Turn } from "../../../../plugins/agent/services.ts";
import { withoutUntaken } from "../../../../plugins/agent/turn/answer/inputs.ts";
import type { Model, ModelMessage } from "../../../../plugins/models/services.ts";
import { bootAgent, scriptedModel } from "../../../support/services/agent.ts";

const data = Buffer.from("pixels");
const attachment = (kind: Attachment["kind"], mime: string): Attachment => ({
  id: "a1",
  kind,
  mime,
  size: data.length,
});
const turnWith = (attached: Attachment): Turn => ({
  user: "ann",
  channel: "test",
  input: { type: "message", text: "What is it?", attachments: [attached] },
  attached: [{ id: "a1", data }],
});

test("what no model takes is refused before the turn opens, in words that say which and what to set", async () => {
  const model = await scriptedModel();
  const kernel = await bootAgent({ model });
  const agent = kernel.service("agent");
  await expect(agent.run(turnWith(attachment("image", "image/png")))).rejects.toThrow(
    expect.objectContaining({
      kind: "invalid",
      code: "unsupported_input",
      param: "input",
      message: expect.stringMatching(/scripted does not take images.*MODEL_INPUTS/),
    }),
  );
  const history: Preamble["history"] = [
    {
      type: "message",
      id: "",
      role: "user",
      text: "Listen",
      attachments: [attachment("audio", "audio/wav")],
    },
  ];
  const brought: Turn = {
    user: "ann",
    channel: "test",
    input: { type: "message", text: "So?" },
    preamble: { history },
  };
  await expect(agent.run(brought)).rejects.toThrow(/does not take audio/);
  expect((await kernel.service("threads").list("ann")).items).toEqual([]);
  const text = await agent.run(turnWith(attachment("file", "text/plain")));
  expect(await text.record).toMatchObject({ status: "completed" });
});

test("a model that takes it is asked", async () => {
  const model = await scriptedModel();
  const kernel = await bootAgent({ model, variables: { MODEL_INPUTS: "text,image" } });
  const turn = await kernel.service("agent").run(turnWith(attachment("image", "image/png")));
  expect(await turn.record).toMatchObject({ status: "completed" });
});

test("of what an earlier message carried, a model that does not take it is told that it was there", () => {
  const image = { kind: "image", mime: "image/png", data, name: "cat.png" } as const;
  const audio = { kind: "audio", mime: "audio/wav", data } as const;
  const messages: ModelMessage[] = [{ role: "user", text: "Look", attachments: [image, audio] }];
  const takes = new Set(["audio"]) as Model["takes"];
  expect(withoutUntaken(messages, { takes } as Model)).toEqual([
    {
      role: "user",
      text: expect.stringMatching(/^Look\n\[Here was an image named "cat\.png"/),
      attachments: [audio],
    },
  ]);
});
