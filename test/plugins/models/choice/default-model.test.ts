import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openFolderFiles } from "../../../../plugins/home/folder.ts";
import { homeFilesOf } from "../../../../plugins/home/open.ts";
import { createDefaults } from "../../../../plugins/models/choice/default-model.ts";
import { readPrices } from "../../../../plugins/models/spending/prices.ts";
import { temporaryFolder } from "../../../support/home.ts";

/** A place for the choice, and what the operator is told. */
async function setUp(own: object = { models: {} }) {
  const home = temporaryFolder();
  writeFileSync(join(home, "models.json"), JSON.stringify(own));
  const kept = new Map<string, string>();
  const told: string[] = [];
  const prices = await readPrices(homeFilesOf(openFolderFiles(home)));
  const defaults = createDefaults(
    prices,
    { get: async (key) => kept.get(key), set: async (key, name) => void kept.set(key, name) },
    (line) => told.push(line),
  );
  const choose = (provider: string, ...names: string[]) => defaults.choose(provider, names);
  return { choose, defaults, kept, told };
}

test("the first of the list that the key may use is taken and kept, until it is gone, which is said", async () => {
  const { choose, kept, told } = await setUp();
  expect(await choose("anthropic", "claude-sonnet-4-5", "claude-sonnet-5")).toBe("claude-sonnet-5");
  expect(await choose("anthropic", "claude-sonnet-5-5", "claude-sonnet-5")).toBe("claude-sonnet-5");
  expect(told).toEqual([]);
  expect(await choose("anthropic", "claude-sonnet-5-5")).toBe("claude-sonnet-5-5");
  expect(told).toEqual([
    "claude-sonnet-5 (anthropic) is not available any more: claude-sonnet-5-5 answers from now on. MODEL_NAME sets another.",
  ]);
  expect([...kept]).toEqual([["anthropic", "claude-sonnet-5-5"]]);
});

test("a model that retires soon is not taken, and one that has retired is left", async () => {
  const soon = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
  const { choose, kept, told } = await setUp({
    models: { "gpt-6.1-terra": { retires: soon }, "gpt-5.6-terra": { retires: "2026-01-01" } },
  });
  kept.set("openai", "gpt-6.1-terra");
  expect(await choose("openai", "gpt-6.1-terra", "gpt-6-luna")).toBe("gpt-6.1-terra");
  kept.set("openai", "gpt-5.6-terra");
  expect(await choose("openai", "gpt-6.1-terra", "gpt-5.6-terra", "gpt-6-luna")).toBe("gpt-6-luna");
  expect(told).toHaveLength(1);
});

test("if none of the list is offered it is the newest of the family, and if there is none it is said", async () => {
  const { choose, told } = await setUp();
  expect(await choose("anthropic", "claude-sonnet-9", "claude-sonnet-9-1", "claude-opus-9-5")).toBe(
    "claude-sonnet-9-1",
  );
  expect(await choose("openai", "gpt-8-terra", "gpt-10.2-luna", "gpt-image-3")).toBe("gpt-10.2-luna");
  const other = await setUp();
  expect(await other.choose("openai", "gpt-image-3")).toBeUndefined();
  expect([...told, ...other.told]).toEqual([
    "openai offers none of the models that Postern would choose by itself: set MODEL_NAME.",
  ]);
});

test("a server that lists nothing leaves the kept choice, or the first of the list, which is not kept", async () => {
  const { choose, defaults, kept } = await setUp();
  expect(await choose("anthropic")).toBe(defaults.first("anthropic"));
  expect(kept.size).toBe(0);
  kept.set("anthropic", "claude-opus-9");
  expect(await choose("anthropic")).toBe("claude-opus-9");
});
