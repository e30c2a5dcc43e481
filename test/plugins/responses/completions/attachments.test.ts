import { expect, test } from "vitest";
import { scriptedModel } from "../../../support/services/agent.ts";
import { complete, completed, type SentError } from "../../../support/services/completions.ts";
import { startService } from "../../../support/services/responses.ts";

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const IMAGE = { type: "image_url", image_url: { url: `data:image/png;base64,${PIXEL}`, detail: "low" } };

const asking = (...parts: readonly object[]) => ({
  messages: [{ role: "user", content: [{ type: "text", text: "What is this?" }, ...parts] }],
});

test("an image reaches the model, and again when the conversation is replayed", async () => {
  const model = await scriptedModel();
  const service = await startService({ model, variables: { MODEL_INPUTS: "image" } });
  const { messages } = asking(IMAGE);
  const one = await completed(service, { messages });
  expect(JSON.stringify(model.requests[0]?.messages)).toContain(PIXEL);
  const again = [...messages, one.choices[0]?.message, { role: "user", content: "And now?" }];
  const two = await completed(service, { messages: again });
  expect(two.x_postern.thread_id).toBe(one.x_postern.thread_id);
  expect(JSON.stringify(model.requests[1]?.messages).split(PIXEL)).toHaveLength(2);
});

test.each([
  ["an image that is no base64", { type: "image_url", image_url: { url: "data:image/png;base64,*" } }],
  [
    "an image of a scheme that is not fetched",
    { type: "image_url", image_url: { url: "file:///etc/passwd" } },
  ],
  ["an image on this machine", { type: "image_url", image_url: { url: "http://127.0.0.1/a.png" } }],
  ["audio that is no base64", { type: "input_audio", input_audio: { data: "*", format: "wav" } }],
  ["a file that is not there", { type: "file", file: { file_id: "file-1" } }],
  ["a file with nothing in it", { type: "file", file: { filename: "a.pdf" } }],
])("%s is refused and names its part", async (_title, part) => {
  const model = await scriptedModel();
  const service = await startService({ model });
  const answer = await complete(service, asking(part));
  expect(answer.status).toBe(400);
  const { error } = (await answer.json()) as SentError;
  expect(error.param).toMatch(/^messages\[0\]\.content\[1\]/);
  expect(model.requests).toHaveLength(0);
});

test("an image is refused in words where the model takes none", async () => {
  const model = await scriptedModel();
  const service = await startService({ model, variables: { MODEL_INPUTS: "text" } });
  const answer = await complete(service, asking(IMAGE));
  expect(answer.status).toBe(400);
  const { error } = (await answer.json()) as SentError;
  expect(error).toMatchObject({ param: "messages", code: "unsupported_input" });
  expect(error.message).toContain("does not take images");
});
