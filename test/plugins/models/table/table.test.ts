import { expect, test } from "vitest";
import { parseModelTable } from "../../../../plugins/home/model-table.ts";
import { createLookup, priceOf } from "../../../../plugins/models/table/lookup.ts";
import shipped from "../../../../plugins/models/table/models.json" with { type: "json" };
import { readModelsDev } from "../../../../plugins/models/table/models-dev.ts";

const TABLE = parseModelTable(JSON.stringify(shipped), "models.json");
const lookup = createLookup([TABLE]);
const inputPrice = (name: string, tokens = 1, day = "2026-11-18") => {
  const row = lookup.find(name);
  return row && priceOf(row, tokens, day)?.input;
};

test("the shipped table is sound: replacements and defaults are in it, and none of them retires", () => {
  const named = [
    ...Object.values(TABLE.models).flatMap(({ replaced_by }) => replaced_by ?? []),
    ...Object.values(TABLE.defaults ?? {}).flat(),
  ];
  for (const name of named) expect(TABLE.models[name], name).toMatchObject({ prices: expect.anything() });
  for (const name of named) expect(TABLE.models[name]?.retires, name).toBeUndefined();
  expect(Object.keys(TABLE.models).length).toBeGreaterThan(55);
  expect(JSON.stringify(TABLE).length).toBeLessThan(25_000);
});

test.each([
  ["claude-opus-4-8", "5"],
  ["anthropic/claude-opus-4.8", "5"],
  ["claude-sonnet-4-5-20250929", "3"],
  ["claude-sonnet-4-5@20250929", "3"],
  ["openai/gpt-5-mini-2025-08-07", "0.25"],
  ["GPT-5.1", "1.25"],
  ["o3-pro", "20"],
  ["gpt-5-pro", "15"],
  ["gpt-5-codex", undefined],
  ["gpt-6", undefined],
  ["mistral-large", undefined],
  ["claude-opus-4-8-turbo", undefined],
])("%s is found by its own name and never by a shorter one", (name, price) => {
  expect(inputPrice(name)).toBe(price);
});

test("a price has tiers and dates", () => {
  expect(inputPrice("gpt-6.1-terra", 272_000)).toBe("1");
  expect(inputPrice("gpt-6.1-terra", 272_001)).toBe("2");
  expect(inputPrice("gemini-4-argon", 1, "2026-11-30")).toBe("2");
  expect(inputPrice("gemini-4-argon", 1, "2026-12-01")).toBe("4");
  expect(inputPrice("gemini-2.5-pro", 300_000, "2026-11-30")).toBe("2.5");
  expect(inputPrice("gemini-2.5-pro", 300_000, "2026-12-01")).toBe("0.75");
});

test("a later table wins field by field, and may write the name in another way", () => {
  const own = { models: { "gpt-6-1-terra": { window: 200_000 }, mine: { window: 1000 } } };
  const { find } = createLookup([TABLE, own]);
  expect(find("gpt-6.1-terra")).toMatchObject({ window: 200_000, output: 128_000 });
  expect(find("mine")).toEqual({ window: 1000 });
});

test("models.dev's file refreshes what it says, and what it does not say stays", () => {
  const model = (id: string, more = {}) => ({
    id,
    tool_call: true,
    modalities: { input: ["text", "image", "pdf", "video"], output: ["text"] },
    limit: { context: 1_000_000, input: 900_000, output: 128_000 },
    cost: {
      ...{ input: 3, output: 15.5, cache_read: 0.1, cache_write: 3.75 },
      tiers: [{ input: 6, output: 31, tier: { type: "context", size: 200_000 } }],
    },
    ...more,
  });
  const models = [
    model("claude-sonnet-4-5"),
    model("claude-sonnet-6", {
      temperature: false,
      reasoning_options: [{ type: "effort", values: ["low"] }],
    }),
    model("claude-sonnet-6-20270101"),
    model("claude-next-preview"),
    model("claude-deaf", { tool_call: false }),
    model("claude-old", { status: "deprecated" }),
  ];
  const document = {
    anthropic: { models: Object.fromEntries(models.map((each) => [each.id, each])) },
    reseller: { models: { "claude-cheap": model("claude-cheap") } },
  };
  const read = readModelsDev(document, TABLE, "2027-01-01");
  const added = Object.keys(read.models).filter((name) => !(name in TABLE.models));
  expect([read.date, added]).toEqual(["2027-01-01", ["claude-sonnet-6"]]);
  expect(read.models["claude-sonnet-6"]).toEqual({
    provider: "anthropic",
    window: 900_000,
    output: 128_000,
    prices: [
      { input: "3", output: "15.5", read: "0.1", write: "3.75", write_1h: "6" },
      { above: 200_000, input: "6", output: "31" },
    ],
    inputs: ["image", "file"],
    levels: ["low"],
    sampling: false,
  });
  expect(read.models["claude-sonnet-4-5"]).toMatchObject({
    window: 900_000,
    retires: "2026-11-30",
    replaced_by: "claude-sonnet-5-5",
  });
  expect(read.models["gpt-5"]).toEqual(TABLE.models["gpt-5"]);
  expect(() => parseModelTable(JSON.stringify(read), "it")).not.toThrow();
});

test("what is not a table is refused with what is wrong", () => {
  const refuse = (table: unknown) => () => parseModelTable(JSON.stringify(table), "models.json");
  expect(refuse({ models: { a: { prices: [{ input: 1, output: "2" }] } } })).toThrow(
    /prices\[0\]\.input.*"1\.25"/,
  );
  expect(refuse({ models: { a: { input: "1" } } })).toThrow(
    /models\.json is not a table of models like .*input/,
  );
  expect(refuse({ models: { a: { retires: "soon" } } })).toThrow(/a day such as/);
  expect(() => parseModelTable("cheap", "models.json")).toThrow("models.json is not a table");
});
