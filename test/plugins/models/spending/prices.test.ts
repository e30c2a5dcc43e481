import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { NO_USAGE } from "../../../../kernel/kit/turns.ts";
import { openFolderFiles } from "../../../../plugins/home/folder.ts";
import { homeFilesOf } from "../../../../plugins/home/open.ts";
import { readPrices } from "../../../../plugins/models/spending/prices.ts";
import { temporaryFolder } from "../../../support/home.ts";

const TOKENS = { inputTokens: 3, outputTokens: 1, cachedTokens: 1, reasoningTokens: 0 };
const gpt = (name: string, provider = "openai") => ({ provider, name });

async function pricesOf(own?: object) {
  const home = temporaryFolder();
  if (own !== undefined) writeFileSync(join(home, "models.json"), JSON.stringify(own));
  return readPrices(homeFilesOf(openFolderFiles(home)));
}

test("costs are exact decimals, without floating point", async () => {
  const prices = await pricesOf();
  let usage = NO_USAGE;
  for (let count = 0; count < 3; count++) usage = prices.add(usage, gpt("gpt-4o-mini"), TOKENS, false);
  expect(usage).toEqual({
    inputTokens: 9,
    outputTokens: 3,
    cachedTokens: 3,
    reasoningTokens: 0,
    inputCost: "0.000001125",
    outputCost: "0.0000018",
    totalCost: "0.000002925",
    savedCost: "0.000000225",
  });
});

test("what a provider writes to its cache costs more, and above a tier all of the request does", async () => {
  const prices = await pricesOf();
  const cost = (name: string, tokens: object) =>
    prices.add(NO_USAGE, gpt(name, "anthropic"), { ...TOKENS, ...tokens }, false).inputCost;
  expect(cost("claude-opus-5-5", { inputTokens: 1000, cachedTokens: 400, cacheWriteTokens: 600 })).toBe(
    "0.00308",
  );
  expect(
    cost("claude-fable-5", {
      inputTokens: 1000,
      cachedTokens: 0,
      cacheWriteTokens: 600,
      hourWriteTokens: 200,
    }),
  ).toBe("0.013");
  expect(cost("claude-haiku-5-5", { inputTokens: 100_000, cachedTokens: 0 })).toBe("0.01");
  expect(cost("claude-haiku-5-5", { inputTokens: 100_001, cachedTokens: 0 })).toBe("0.0500005");
});

test("what caching saved is what the input would have cost without it, less what was written", async () => {
  const prices = await pricesOf();
  const saved = (tokens: object, usage = NO_USAGE) =>
    prices.add(usage, gpt("claude-fable-5", "anthropic"), { ...TOKENS, ...tokens }, false);
  const first = saved({ inputTokens: 1000, cachedTokens: 0, cacheWriteTokens: 1000 });
  expect(first.savedCost).toBe("-0.0025");
  expect(saved({ inputTokens: 1000, cachedTokens: 1000 }, first).savedCost).toBe("0.0065");
  expect(saved({ cachedTokens: 0 })).not.toHaveProperty("savedCost");
});

test("a model whose price is not known costs 0 and counts as the dearest of its provider, or of all", async () => {
  const prices = await pricesOf();
  const million = { inputTokens: 1_000_000, outputTokens: 0, cachedTokens: 0, reasoningTokens: 0 };
  const counted = (name: string, provider: string, isLocal = false) => {
    const { totalCost, estimatedCost } = prices.add(NO_USAGE, gpt(name, provider), million, isLocal);
    return [totalCost, estimatedCost];
  };
  expect(counted("claude-opus-9", "anthropic")).toEqual(["0", "10"]);
  expect(counted("mystery", "openai-compatible")).toEqual(["0", "60"]);
  expect(counted("deepseek/deepseek-v9", "openai-compatible")).toEqual(["0", "1.32"]);
  expect(counted("mystery", "openai-compatible", true)).toEqual(["0", undefined]);
  expect(counted("llama3.2", "ollama")).toEqual(["0", undefined]);
  expect(counted("gpt-5.1", "openai-compatible", true)).toEqual(["1.25", undefined]);
});

test("what a server says it charged is the cost, whatever the table says", async () => {
  const prices = await pricesOf();
  const charged = { ...TOKENS, costUsd: 0.00001234 };
  expect(prices.add(NO_USAGE, gpt("gpt-4o-mini"), charged, false)).toMatchObject({
    ...{ inputCost: "0.00001174", outputCost: "0.0000006", totalCost: "0.00001234" },
  });
  const unknown = prices.add(NO_USAGE, gpt("vendor/mystery", "openai-compatible"), charged, false);
  expect([unknown.totalCost, unknown.estimatedCost]).toEqual(["0.00001234", undefined]);
});

test("a models.json in the home wins; a wrong one and an old prices.json say what is right", async () => {
  const own = (price: object) => ({ models: { mystery: { prices: [price] }, "gpt-5.1": { window: 5000 } } });
  const prices = await pricesOf(own({ input: "1", output: "2" }));
  expect(prices.add(NO_USAGE, gpt("mystery"), TOKENS, false).totalCost).toBe("0.000005");
  expect(prices.find(gpt("gpt-5.1"))).toMatchObject({ window: 5000, retires: "2027-04-01" });
  await expect(pricesOf(own({ input: "cheap", output: "2" }))).rejects.toMatchObject({
    kind: "config",
    code: "bad_models",
  });
  const home = temporaryFolder();
  writeFileSync(join(home, "prices.json"), "{}");
  await expect(readPrices(homeFilesOf(openFolderFiles(home)))).rejects.toMatchObject({
    kind: "config",
    code: "old_prices",
    message: expect.stringContaining('write its models to models.json, as {"models"'),
  });
});

test("tables that were read again say whether anything has changed", async () => {
  const home = temporaryFolder();
  const prices = await readPrices(homeFilesOf(openFolderFiles(home)));
  expect(await prices.readAgain()).toBe(false);
  writeFileSync(join(home, "models.json"), JSON.stringify({ models: { mystery: { window: 5000 } } }));
  expect(await prices.readAgain()).toBe(true);
  expect(prices.find(gpt("mystery"))).toMatchObject({ window: 5000 });
  expect(await prices.readAgain()).toBe(false);
});
