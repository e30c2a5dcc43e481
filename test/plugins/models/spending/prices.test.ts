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

test("costs are exact decimals, without floating point", async () => {
  const prices = await readPrices(homeFilesOf(openFolderFiles(temporaryFolder())));
  let usage = NO_USAGE;
  for (let count = 0; count < 3; count++) usage = prices.add(usage, gpt("gpt-4o-mini"), TOKENS);
  expect(usage).toEqual({
    inputTokens: 9,
    outputTokens: 3,
    cachedTokens: 3,
    reasoningTokens: 0,
    inputCost: "0.000001125",
    outputCost: "0.0000018",
    totalCost: "0.000002925",
  });
});

test("a dated or routed name is priced as its model, the longest name winning; an unknown one is 0", async () => {
  const prices = await readPrices(homeFilesOf(openFolderFiles(temporaryFolder())));
  expect(prices.find(gpt("gpt-5-mini-2025-08-07"))?.input).toBe("0.25");
  expect(prices.find(gpt("openai/gpt-4o"))?.input).toBe("2.5");
  expect(prices.find(gpt("gpt-4o", "ollama"))).toBeUndefined();
  expect(prices.add(NO_USAGE, gpt("mystery"), TOKENS).totalCost).toBe("0");
});

test("a prices.json in the home adds to the table and wins; a wrong one says what is right", async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, "prices.json"), '{"models":{"mystery":{"input":"1","output":"2"}}}');
  expect(
    (await readPrices(homeFilesOf(openFolderFiles(home)))).add(NO_USAGE, gpt("mystery"), TOKENS).totalCost,
  ).toBe("0.000005");
  writeFileSync(join(home, "prices.json"), '{"models":{"mystery":{"input":"cheap","output":"2"}}}');
  await expect(readPrices(homeFilesOf(openFolderFiles(home)))).rejects.toMatchObject({
    kind: "config",
    code: "bad_prices",
  });
});
