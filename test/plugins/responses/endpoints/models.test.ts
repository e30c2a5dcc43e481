/** `/openai/v1/models` with the `openai` package. */
import OpenAI from "openai";
import { expect, test } from "vitest";
import { scriptedModel } from "../../../support/services/agent.ts";
import { startService, TOKEN } from "../../../support/services/responses.ts";

test("every model that is listed can be fetched by its id; another is 404 with model_not_found", async () => {
  const service = await startService({ model: await scriptedModel() });
  const client = new OpenAI({ apiKey: TOKEN, baseURL: `${service.url}/openai/v1`, maxRetries: 0 });
  const listed = [];
  for await (const model of client.models.list()) listed.push(model);
  expect(listed.map(({ id }) => id)).toEqual(["reborn", "scripted"]);
  for (const model of listed) expect(await client.models.retrieve(model.id)).toEqual(model);
  for (const unknown of ["gpt-5", "a/b", "__proto__"])
    await expect(client.models.retrieve(unknown)).rejects.toMatchObject({
      status: 404,
      code: "model_not_found",
      param: "model",
      type: "not_found_error",
    });
});
