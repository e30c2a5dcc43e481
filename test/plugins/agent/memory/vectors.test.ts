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
    const { memory, folder, close } = await openMemory(undefined, true);
    await memory.write("ann", "bike.md", "my bicycle is painted scarlet");
    await memory.write("ann", "cat.md", "the cat sleeps all day");
    expect((await memory.search("ann", "bicycle")).map(({ path }) => path)).toEqual(["bike.md"]);
    expect(await memory.vectorsReady()).toBe(true);
    await memory.settled();
    const find = (of: typeof memory, query: string) =>
      expect.poll(async () => (await of.search("ann", query)).map(({ path }) => path), { timeout: 20_000 });
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

  test("among thousands the nearest is found, replaced and forgotten, by who wrote it, after a restart and on another node", async () => {
    const store = openStore(join(temporaryFolder(), "store.sqlite"));
    onTestFinished(() => store.close());
    const sql = await store.tables("memory", MIGRATIONS);
    const documents = createDocuments(sql);
    const [vectors, elsewhere] = [createVectors(sql), createVectors(sql)];
    const find = async (reader: typeof vectors, vector: Float32Array) =>
      await reader.search("ann", vector, (await reader.lastChange("ann")) ?? 0);
    const put = (path: string, vector: Float32Array) =>
      sql.transaction(async (tx) => {
        const { id } = await documents.write(tx, "ann", path, "x");
        await vectors.put(tx, "ann", id, [vector]);
        return id;
      });
    await Promise.all(Array.from({ length: 3000 }, (_, at) => put(`${at + 1}.md`, vectorOf(at + 1))));
    for (const reader of [vectors, elsewhere, createVectors(sql)]) {
      for (const seed of [1, 1500, 3000]) {
        const [best] = await find(reader, vectorOf(seed));
        expect(best?.score).toBeGreaterThan(0.97);
        const found = await documents.fetch("ann", [best?.id ?? 0]);
        expect(found.get(best?.id ?? 0)?.path).toBe(`${seed}.md`);
      }
    }
    const id = await put("1500.md", vectorOf(9999));
    for (const reader of [vectors, elsewhere]) {
      expect((await find(reader, vectorOf(1500))).map((hit) => hit.id)).not.toContain(id);
      expect((await find(reader, vectorOf(9999)))[0]?.id).toBe(id);
    }
    await documents.remove("ann", "1500.md");
    for (const reader of [vectors, elsewhere])
      expect((await find(reader, vectorOf(9999))).map((hit) => hit.id)).not.toContain(id);
    const last = await put("last.md", vectorOf(7777));
    for (const reader of [vectors, elsewhere]) expect((await find(reader, vectorOf(7777)))[0]?.id).toBe(last);
  });

  test("so many documents may go elsewhere that all that looks near is gone, and what is left is found", async () => {
    const store = openStore(join(temporaryFolder(), "store.sqlite"));
    onTestFinished(() => store.close());
    const sql = await store.tables("memory", MIGRATIONS);
    const documents = createDocuments(sql);
    const [vectors, elsewhere] = [createVectors(sql), createVectors(sql)];
    const find = async (reader: typeof vectors) =>
      await reader.search("ann", vectorOf(1), (await reader.lastChange("ann")) ?? 0);
    await sql.transaction(async (tx) => {
      for (let at = 0; at < 200; at += 1) {
        const { id } = await documents.write(tx, "ann", `near/${at}.md`, "x");
        await vectors.put(tx, "ann", id, [vectorOf(1)]);
      }
      const far = vectorOf(1).map((value, at) => (at % 5 === 0 ? -value : value));
      await vectors.put(tx, "ann", (await documents.write(tx, "ann", "far.md", "x")).id, [far]);
    });
    expect(await find(elsewhere)).toHaveLength(64);
    await sql.transaction(async (tx) => {
      await tx.run("DELETE FROM memory_documents WHERE path LIKE 'near/%'");
    });
    for (const reader of [vectors, elsewhere]) expect(await find(reader)).toHaveLength(1);
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
