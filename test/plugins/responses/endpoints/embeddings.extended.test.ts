/** `/openai/v1/embeddings` with the `openai` package and the built-in model. */
import OpenAI from "openai";
import { expect, test } from "vitest";
import { type Service, startService, TOKEN } from "../../../support/services/responses.ts";

const clientOf = (service: Service) =>
  new OpenAI({ apiKey: TOKEN, baseURL: `${service.url}/openai/v1`, maxRetries: 0 });

const dot = (one: readonly number[] = [], other: readonly number[] = []) =>
  one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);

test("openai: texts of like meaning are near, in either encoding, shortened or not", async () => {
  const service = await startService();
  const client = clientOf(service);
  const input = ["a dog chases a cat", "a puppy runs after a kitten", "the price of steel rose"];
  // The package asks for base64 unless told otherwise.
  const { data, model, usage } = await client.embeddings.create({ model: "text-embedding-3-small", input });
  expect(data.map(({ index, embedding }) => [index, embedding.length])).toEqual([
    [0, 384],
    [1, 384],
    [2, 384],
  ]);
  const [dog, puppy, steel] = data.map(({ embedding }) => embedding);
  expect(dot(dog, puppy)).toBeGreaterThan(dot(dog, steel) + 0.2);
  expect(dot(dog, dog)).toBeCloseTo(1, 3);
  expect(model).toBe("text-embedding-3-small");
  expect(usage).toEqual({ prompt_tokens: 5 + 7 + 6, total_tokens: 18 });

  const floats = await client.embeddings.create({
    ...{ model: "any", input: "a dog chases a cat", encoding_format: "float", dimensions: 64 },
  });
  const [{ embedding }] = floats.data as [OpenAI.Embedding];
  const length = Math.hypot(...(dog ?? []).slice(0, 64));
  expect(embedding).toHaveLength(64);
  expect(dot(embedding, embedding)).toBeCloseTo(1, 3);
  expect(embedding[0]).toBeCloseTo((dog?.[0] ?? 0) / length, 4);

  // What comes after the 256 tokens that the model reads counts too.
  const long = `${"steel prices and shares. ".repeat(28)}${"a dog chases a cat. ".repeat(35)}`;
  const [whole, half] = (await client.embeddings.create({ model: "any", input: [long, long.slice(0, 700)] }))
    .data;
  expect(dot(whole?.embedding, dog)).toBeGreaterThan(dot(half?.embedding, dog) + 0.1);

  for (const [body, param] of [
    [{ input: "x", dimensions: 385 }, "dimensions"],
    [{ input: "x", dimensions: 0 }, "dimensions"],
  ] as const) {
    const answer = await service.send("POST", "/openai/v1/embeddings", { model: "any", ...body });
    expect([answer.status, (await answer.json()).error.param]).toEqual([400, param]);
  }
});

test("what is no text, or too much of it, is 400 and named, before any is read", async () => {
  const service = await startService();
  const refused = async (body: object) => {
    const answer = await service.send("POST", "/openai/v1/embeddings", { model: "any", ...body });
    return [answer.status, (await answer.json()).error.param];
  };
  for (const [input, param] of [
    [undefined, "input"],
    [null, "input"],
    [7, "input"],
    [[], "input"],
    ["", "input"],
    ["  ", "input"],
    [["a", ""], "input[1]"],
    [[1, 2, 3], "input[0]"],
    [["a", [1]], "input[1]"],
    [Array(2049).fill("a"), "input"],
    ["x".repeat(8192 * 4 + 1), "input"],
    [["a", "x".repeat(8192 * 4 + 1)], "input[1]"],
    [Array(37).fill("x".repeat(8192 * 4)), "input"],
  ] as const)
    expect(await refused({ input }), JSON.stringify(input)?.slice(0, 40)).toEqual([400, param]);
  expect(await refused({ input: "a", encoding_format: "hex" })).toEqual([400, "encoding_format"]);
  expect(await refused({ input: "a", model: "" })).toEqual([400, "model"]);
});

test("a request for embeddings counts as a message: beyond the limit it is 429", async () => {
  const service = await startService({ variables: { CHAT_RATE_LIMIT: "1", MEMORY_VECTORS: "false" } });
  const ask = () => service.send("POST", "/openai/v1/embeddings", { model: "any", input: "a" });
  const off = await ask();
  expect([off.status, (await off.json()).error]).toEqual([
    400,
    expect.objectContaining({
      code: "embeddings_off",
      message: expect.stringContaining("MEMORY_VECTORS is false"),
    }),
  ]);
  expect((await ask()).status).toBe(429);
});
