import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openStore } from "../../../../kernel/store/store.ts";
import { createDocuments } from "../../../../plugins/agent/memory/documents.ts";
import { passagesOf } from "../../../../plugins/agent/memory/indexer.ts";
import { fuse } from "../../../../plugins/agent/memory/search.ts";
import { MIGRATIONS } from "../../../../plugins/agent/memory/tables.ts";
import { createVectors, DIMENSIONS } from "../../../../plugins/agent/memory/vectors.ts";
import { temporaryFolder } from "../../../support/home.ts";
import { openMemory } from "../../../support/services/memory.ts";

/** A unit vector that depends on its number alone. */
function vectorOf(seed: number): Float32Array {
  let state = seed * 2654435761 + 1;
  const vector = Float32Array.from({ length: DIMENSIONS }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32 - 0.5;
  });
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

describe("search by meaning", () => {
  test("a question is answered by a note that shares no word with it, and by words alone until the model is there", async () => {
    const { memory, folder, close } = openMemory(undefined, true);
    memory.write("ann", "bike.md", "my bicycle is painted scarlet");
    memory.write("ann", "cat.md", "the cat sleeps all day");
    expect((await memory.search("ann", "bicycle")).map(({ path }) => path)).toEqual(["bike.md"]);
    expect(await memory.vectorsReady()).toBe(true);
    await memory.settled();
    const find = (of: typeof memory, query: string) =>
      expect.poll(async () => (await of.search("ann", query)).map(({ path }) => path), { timeout: 20_000 });
    // A busy machine may answer by words alone for a while.
    await find(memory, "colour of the two-wheeler").toEqual(["bike.md"]);
    await close();

    const again = openMemory(folder, true);
    expect(await again.memory.vectorsReady()).toBe(true);
    await find(again.memory, "colour of the two-wheeler").toEqual(["bike.md"]);
    expect(await again.memory.search("bob", "colour of the two-wheeler")).toEqual([]);
    again.memory.write("ann", "bike.md", "a recipe for onion soup");
    await again.memory.settled();
    await find(again.memory, "how to cook dinner").toEqual(["bike.md"]);
    again.memory.remove("ann", "bike.md");
    expect(await again.memory.search("ann", "how to cook dinner")).toEqual([]);
  });

  test("with vectors off nothing is loaded and words still find", async () => {
    const { memory } = openMemory();
    memory.write("ann", "a.md", "red bike");
    expect(await memory.vectorsReady()).toBe(false);
    expect((await memory.search("ann", "bike"))[0]?.path).toBe("a.md");
  });

  test("among thousands the nearest is found, replaced and forgotten, in memory and after a restart", () => {
    const folder = temporaryFolder();
    const store = openStore(join(folder, "store.sqlite"));
    onTestFinished(() => store.close());
    const sql = store.syncTables("memory", MIGRATIONS);
    const documents = createDocuments(sql);
    const vectors = createVectors(sql);
    sql.transaction(() => {
      for (let seed = 1; seed <= 3000; seed += 1)
        vectors.put("ann", documents.write("ann", `${seed}.md`, "x").id, [vectorOf(seed)]);
    });
    for (const reader of [vectors, createVectors(sql)]) {
      for (const seed of [1, 1500, 3000]) {
        const [best] = reader.search("ann", vectorOf(seed));
        expect(best?.score).toBeGreaterThan(0.97);
        expect(documents.fetch("ann", [best?.id ?? 0]).get(best?.id ?? 0)?.path).toBe(`${seed}.md`);
      }
    }
    const id = documents.idOf("ann", "1500.md") ?? 0;
    vectors.put("ann", id, [vectorOf(9999)]);
    expect(vectors.search("ann", vectorOf(1500)).find((hit) => hit.id === id)).toBeUndefined();
    expect(vectors.search("ann", vectorOf(9999))[0]?.id).toBe(id);
    vectors.forget("ann", id);
    expect(vectors.search("ann", vectorOf(9999)).find((hit) => hit.id === id)).toBeUndefined();
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
