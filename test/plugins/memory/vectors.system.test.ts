import { describe, expect, test } from "vitest";
import { passagesOf } from "../../../plugins/memory/indexer.ts";
import { fuse } from "../../../plugins/memory/search/search.ts";
import { openMemory } from "../../support/services/memory.ts";

describe("search by meaning", () => {
  test("a question is answered by a note that shares no word with it, and by words alone until the model is there", async () => {
    const { memory, folder, close } = await openMemory(undefined, true);
    await memory.write("ann", "bike.md", "my bicycle is painted scarlet");
    await memory.write("ann", "cat.md", "the cat sleeps all day");
    expect((await memory.search("ann", "bicycle")).map(({ path }) => path)).toEqual(["bike.md"]);
    expect(await memory.vectorsReady()).toBe(true);
    await memory.settled();
    const find = (of: typeof memory, query: string) =>
      expect.poll(async () => (await of.search("ann", query)).map(({ path }) => path));
    // A busy machine may answer by words alone for a while.
    await find(memory, "colour of the two-wheeler").toEqual(["bike.md"]);
    await close();

    const again = await openMemory(folder, true);
    expect(await again.memory.vectorsReady()).toBe(true);
    await find(again.memory, "colour of the two-wheeler").toEqual(["bike.md"]);
    expect(await again.memory.search("bob", "colour of the two-wheeler")).toEqual([]);
    await again.memory.write("ann", "bike.md", "a recipe for onion soup");
    await again.memory.settled();
    await find(again.memory, "how to cook dinner").toEqual(["bike.md"]);
    await again.memory.remove("ann", "bike.md");
    expect(await again.memory.search("ann", "how to cook dinner")).toEqual([]);
  });

  test("with vectors off nothing is loaded and words still find", async () => {
    const { memory } = await openMemory();
    await memory.write("ann", "a.md", "red bike");
    expect(await memory.vectorsReady()).toBe(false);
    expect((await memory.search("ann", "bike"))[0]?.path).toBe("a.md");
  });
});

test("ranks are fused: what both lists hold wins over the first of one", () => {
  const fused = fuse([
    [
      { id: 1, score: 9 },
      { id: 2, score: 8 },
    ],
    [
      { id: 3, score: 0.9 },
      { id: 2, score: 0.8 },
    ],
  ]);
  expect(fused.map(({ id }) => id)).toEqual([2, 3, 1]);
  expect(fuse([[{ id: 1, score: 5 }], []])).toEqual([{ id: 1, score: 1 }]);
});

test("a long text is cut into passages at its sentences, up to a limit", () => {
  const text = "This is a sentence of some length. ".repeat(40).trim();
  const passages = passagesOf(text);
  expect(passages.every((passage) => passage.length <= 480 && passage.trimEnd().endsWith("."))).toBe(true);
  expect(passagesOf("x".repeat(100_000)).length).toBe(16);
  expect(passagesOf("  ")).toEqual([]);
});
