import { expect, test } from "vitest";
import { describeForProvider } from "../../../../plugins/models/providers/flat-schema.ts";

const place = { city: { type: "string" }, units: { enum: ["metric", "imperial"] } };
const SCHEMA = {
  oneOf: [
    {
      type: "object",
      properties: { action: { const: "get_current" }, ...place },
      required: ["action", "city"],
      additionalProperties: false,
    },
    {
      type: "object",
      properties: { action: { const: "get_air_quality" }, lat: { type: "number" } },
      required: ["action", "lat"],
      additionalProperties: false,
    },
  ],
};

test("branches become one object with every property, the common required ones, and every discriminator value", () => {
  const { inputSchema, description } = describeForProvider({
    name: "weather",
    description: "Weather.",
    schema: SCHEMA,
  });
  expect(inputSchema).toEqual({
    type: "object",
    properties: {
      action: { enum: ["get_current", "get_air_quality"] },
      ...place,
      lat: { type: "number" },
    },
    required: ["action"],
    additionalProperties: false,
  });
  expect(description).toContain(JSON.stringify(SCHEMA));
});

test("a schema without branches stays as it is, and always has an object at the top", () => {
  const schema = { type: "object", properties: { a: { type: "number" } }, required: ["a"] };
  expect(describeForProvider({ name: "x", description: "X.", schema })).toEqual({
    description: "X.",
    inputSchema: schema,
  });
  expect(describeForProvider({ name: "x", description: "", schema: {} }).inputSchema).toEqual({
    type: "object",
    properties: {},
  });
});

test("what is no schema among the branches is left out, and many branches take no longer than their text", () => {
  const many = Array.from({ length: 20_000 }, (_, at) => ({ properties: { action: { const: at } } }));
  const schema = { oneOf: [null, true, "x", { properties: null, required: "a" }, ...many] };
  const { inputSchema } = describeForProvider({ name: "x", description: "", schema });
  const { action } = inputSchema["properties"] as { action: { enum: readonly number[] } };
  expect(action.enum).toHaveLength(many.length);
  expect(inputSchema["required"]).toEqual([]);
});
