import { expect, test } from "vitest";
import type { ResponseObject } from "../../../../plugins/responses/wire/format.ts";
import { scriptedModel } from "../../../support/services/agent.ts";
import { startService } from "../../../support/services/responses.ts";

test("reasoning that a caller brings back sealed reaches the model, though nothing was stored", async () => {
  const model = await scriptedModel();
  model.script(
    { reasoning: "The file comes first.", calls: [{ id: "c1", name: "read", arguments: { path: "a" } }] },
    { text: "It is empty." },
  );
  const service = await startService({ model });
  const tools = [{ type: "function", name: "read", parameters: { type: "object" } }];
  const asked = { type: "message", role: "user", content: "What is in the file?" };
  const send = async (input: readonly unknown[]): Promise<ResponseObject> => {
    const include = ["reasoning.encrypted_content"];
    const body = { model: "m", store: false, include, tools, input };
    return (await (await service.send("POST", "/openai/v1/responses", body)).json()) as ResponseObject;
  };
  const { output } = await send([asked]);
  expect(output).toMatchObject([
    { type: "reasoning", encrypted_content: expect.any(String) },
    { type: "function_call", call_id: "c1" },
  ]);
  // Readable words of it are not what counts.
  const brought = output.map((item) => (item.type === "reasoning" ? { ...item, summary: [] } : item));
  await send([asked, ...brought, { type: "function_call_output", call_id: "c1", output: "" }]);
  const [, , said] = model.requests[1]?.messages ?? [];
  expect(said).toMatchObject({ role: "assistant", reasoning_content: "The file comes first." });
});
