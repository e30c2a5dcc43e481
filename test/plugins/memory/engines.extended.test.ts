/** What holds on either engine, with several nodes on one store. */
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import type { Sql } from "../../../kernel/plugin.ts";
import { createDocuments } from "../../../plugins/memory/documents.ts";
import { createMemory, type OpenMemory } from "../../../plugins/memory/memory.ts";
import { createRemovedDocuments } from "../../../plugins/memory/removed.ts";
import { MIGRATIONS } from "../../../plugins/memory/tables.ts";
import { createVectors, DIMENSIONS } from "../../../plugins/memory/vectors.ts";
import { findAll, findEach, indexAllDocuments } from "../../../plugins/memory/word-index.ts";
import { describeEngines } from "../../support/processes/engines.ts";
import { quiet, toolsOf } from "../../support/services/memory.ts";
import { afterThisFile } from "../../support/undo.ts";

/** Side by side: they share a commit. */
/** A hundred at a time: on a busy machine thousands would wait for a connection longer than anybody may. */
async function many(count: number, write: (at: number) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < count; from += 100) {
    const batch = Array.from({ length: Math.min(100, count - from) }, (_, at) => write(from + at));
    await Promise.all(batch);
  }
}

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

describeEngines("memory", (_engine, fresh) => {
  const later = afterThisFile();
  let memory: OpenMemory;
  let elsewhere: OpenMemory;
  let sql: Sql;
  beforeAll(async () => {
    const place = await fresh(later);
    const [one, other] = [await place.open(), await place.open()];
    sql = await one.tables("memory", MIGRATIONS);
    memory = await createMemory({ store: one, vectors: false, log: quiet });
    elsewhere = await createMemory({ store: other, vectors: false, log: quiet });
  });
  /** For one test: people whom no other test knows. */
  const open = async () => ({ memory, elsewhere, sql, ann: randomUUID(), bob: randomUUID() });

  test("what one node writes another reads, finds, replaces and forgets", async () => {
    const { memory, elsewhere, ann } = await open();
    await memory.write(ann, "a.md", "red bikes");
    expect((await elsewhere.search(ann, "bike"))[0]).toMatchObject({ path: "a.md", snippet: "red bikes" });
    expect(await elsewhere.write(ann, "a.md", "blue cars")).toEqual({ path: "a.md", version: 2 });
    expect(await memory.search(ann, "bike")).toEqual([]);
    expect((await memory.readVersion(ann, "a.md", 1))?.text).toBe("red bikes");
    expect([await memory.remove(ann, "a.md"), await elsewhere.remove(ann, "a.md")]).toEqual([true, false]);
    expect(await elsewhere.search(ann, "car")).toEqual([]);
    expect(await elsewhere.tree(ann)).toEqual([]);
  });

  test("of those who write what they read at once, one does and the others are told", async () => {
    const { memory, elsewhere, ann } = await open();
    const nodes = [memory, elsewhere, memory, elsewhere];
    const writes = await Promise.allSettled(
      nodes.map((node, at) => node.write(ann, "a.md", `${at}`, { expected: 0 })),
    );
    expect(writes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(writes.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { code: "memory_changed" },
    });
    expect(await memory.tree(ann)).toHaveLength(1);
    expect(await memory.readVersion(ann, "a.md", 2)).toBeUndefined();
  });

  test("all who add to a document at once do", async () => {
    const { memory, elsewhere, ann } = await open();
    const add = (node: OpenMemory, text: string) =>
      toolsOf(node)
        .find(({ name }) => name === "memory_write")
        ?.run({ path: "a.md", text, append: true }, { user: ann, thread: "t" });
    await Promise.all([add(memory, "one"), add(elsewhere, "two"), add(memory, "three")]);
    expect((await memory.read(ann, "a.md"))?.text.split("\n").sort()).toEqual(["one", "three", "two"]);
  });

  test("documents that are given are found by their new owner alone, below a folder where the path is taken", async () => {
    const { memory, sql, ann, bob } = await open();
    await memory.write(ann, "bike.md", "scarlet");
    await memory.write(ann, "trip.md", "sailing to Lisbon");
    await memory.write(bob, "bike.md", "green");
    await sql.transaction((tx) => memory.giveUser(tx, ann, bob));
    expect((await memory.tree(bob)).map(({ path }) => path).sort()).toEqual(
      [`${ann}/bike.md`, "bike.md", "trip.md"].sort(),
    );
    expect((await memory.search(bob, "sail"))[0]?.path).toBe("trip.md");
    expect((await memory.search(bob, "scarlet"))[0]?.path).toBe(`${ann}/bike.md`);
    expect((await memory.search(bob, "green"))[0]?.path).toBe("bike.md");
    expect([await memory.tree(ann), await memory.search(ann, "scarlet sail")]).toEqual([[], []]);
    await memory.removeUser(bob);
    expect([await memory.tree(bob), await memory.search(bob, "sail")]).toEqual([[], []]);
  });

  test("a text of the largest size is found by its last word", async () => {
    const { memory, ann } = await open();
    const words = Array.from({ length: 24_000 }, (_, at) => `w${at}`).join(" ");
    await memory.write(ann, "words.md", `${words} zebra`);
    await memory.write(ann, "one.md", `${"x".repeat(200_000)} giraffe`);
    await memory.write(ann, "odd.md", "\ufdfa".repeat(80_000));
    expect((await memory.search(ann, "zebra"))[0]?.path).toBe("words.md");
    expect((await memory.search(ann, "giraffe"))[0]?.path).toBe("one.md");
  });

  test("a rarer word weighs more, and other forms of a word are found", async () => {
    const { memory, ann } = await open();
    await many(50, (at) => memory.write(ann, `day/${at}.md`, `breakfast number ${at} with coffee`));
    await memory.write(ann, "trip.md", "breakfast in Lisbon, then sailing");
    const hits = await memory.search(ann, "breakfast when we sailed");
    expect(hits[0]?.path).toBe("trip.md");
    expect(hits[0]?.score).toBeGreaterThan(hits[1]?.score ?? 0);
  });

  test("what holds all of several common words is found, however old it is", async () => {
    const { memory, ann } = await open();
    await memory.write(ann, "old.md", "alpha beta");
    await many(300, (at) => memory.write(ann, `n/${at}.md`, `alpha ${at}`));
    await many(300, (at) => memory.write(ann, `m/${at}.md`, `beta ${at}`));
    expect((await memory.search(ann, "alpha beta"))[0]?.path).toBe("old.md");
  });

  test("of a common word the newest are found, of a rarer one all, and nothing of anybody else", async () => {
    const { memory, ann, bob } = await open();
    await memory.write(ann, "first.md", "apple quince");
    await many(300, (at) => memory.write(ann, `n/${at}.md`, `apple ${at}`));
    await many(300, (at) => memory.write(bob, `n/${at}.md`, `apple quince ${at}`));
    const common = (await memory.search(ann, "apples", 50)).map(({ path }) => path);
    expect(common).toHaveLength(40);
    expect(common).not.toContain("first.md");
    expect((await memory.search(ann, "quince", 50)).map(({ path }) => path)).toEqual(["first.md"]);
    expect((await memory.search(ann, "apple quince", 50))[0]?.path).toBe("first.md");
  });

  test("the words of a document go with it, and with a user", async () => {
    const { memory, sql, ann, bob } = await open();
    const count = async () =>
      Number((await sql.get<{ n: number }>("SELECT count(*) AS n FROM memory_words"))?.n);
    const before = await count();
    await memory.write(ann, "a.md", "scarlet bike");
    await memory.write(ann, "b.md", "green boat");
    await memory.write(ann, "b.md", "blue boat");
    expect(await memory.search(ann, "green")).toEqual([]);
    await memory.remove(ann, "a.md");
    expect(await memory.search(ann, "scarlet")).toEqual([]);
    await memory.restore(ann, "a.md");
    expect((await memory.search(ann, "scarlet"))[0]?.path).toBe("a.md");
    await sql.transaction((tx) => memory.giveUser(tx, ann, bob));
    expect((await memory.search(bob, "blue"))[0]?.path).toBe("b.md");
    await memory.removeUser(bob);
    expect(await count()).toBe(before);
  });

  test("a long document is found by words far apart in it, once, and among the newest", async () => {
    const { memory, sql, ann } = await open();
    const filler = (at: number) => Array.from({ length: 5000 }, (_, word) => `w${at}x${word}`).join(" ");
    const long = `zebra running ${filler(1)} quagga ${filler(2)} runs ${filler(3)} okapi`;
    await many(20, (at) => memory.write(ann, `${at}.md`, `okapi zebra run ${at}`));
    await memory.write(ann, "long.md", long);
    const id = (
      await sql.get<{ id: number }>('SELECT max(id) AS id FROM memory_documents WHERE "user" = ?', ann)
    )?.id;
    expect(await findAll(sql, ann, ["zebra", "quagga"], 5)).toEqual([id]);
    const [first, ...others] = await findAll(sql, ann, ["run", "okapi"], 5);
    expect([first, others.includes(id ?? 0)]).toEqual([id, false]);
    for (const found of await findEach(sql, ann, ["okapi", "run"], 5)) {
      expect(found[0]).toBe(id);
      expect(new Set(found).size).toBe(5);
    }
  });

  test("the index of words can be made anew", async () => {
    const { memory, sql, ann } = await open();
    await memory.write(ann, "a.md", "scarlet bikes");
    await indexAllDocuments(sql);
    expect((await memory.search(ann, "bike"))[0]?.path).toBe("a.md");
    await memory.remove(ann, "a.md");
    expect(await memory.search(ann, "bike")).toEqual([]);
  });

  test("operators of the index's own language are only words", async () => {
    const { memory, ann } = await open();
    await memory.write(ann, "a.md", "near the station");
    for (const query of ['"', "NEAR(", "text:x OR owner:*", "AND OR NOT", "a* -b ^c", "') --"])
      await memory.search(ann, query);
    expect((await memory.search(ann, 'NEAR "station"'))[0]?.path).toBe("a.md");
  });

  test.each([
    ["Crème brûlée", "creme BRULEE"],
    ["한국어 수업", "수업"],
    ["ガラス の 家", "ガラス"],
    ["हिन्दी किताब", "किताब"],
  ])("%j is found by %j", async (text, query) => {
    const { memory, ann } = await open();
    await memory.write(ann, "a.md", text);
    await memory.write(ann, "b.md", "something else");
    expect((await memory.search(ann, query)).map(({ path }) => path)).toEqual(["a.md"]);
  });

  test("a long text is shown where the words are", async () => {
    const { memory, ann } = await open();
    await memory.write(
      ann,
      "long.md",
      `${"filler words everywhere ".repeat(100)}the zebra sleeps ${"more filler ".repeat(100)}`,
    );
    const [hit] = await memory.search(ann, "zebra");
    expect(hit?.snippet).toContain("the zebra sleeps");
    expect(hit?.snippet.length).toBeLessThan(300);
  });

  test("the limit is kept", async () => {
    const { memory, ann } = await open();
    await many(30, (at) => memory.write(ann, `${at}.md`, `apple ${at}`));
    expect(await memory.search(ann, "apple", 3)).toHaveLength(3);
  });
  test("whatever text is written, it is read back, and any query is answered", async () => {
    const { memory, ann } = await open();
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: "binary", maxLength: 300 }),
        fc.string({ unit: "grapheme", maxLength: 100 }),
        async (text, query) => {
          await memory.write(ann, "any.md", text);
          expect((await memory.read(ann, "any.md"))?.text).toBe(text.replaceAll("\0", ""));
          await memory.search(ann, query);
        },
      ),
      { numRuns: 30 },
    );
  });

  test("among thousands the nearest is found, replaced and forgotten, where it was written, after a restart and on another node", async () => {
    const { sql, ann } = await open();
    const documents = createDocuments(sql);
    const [vectors, elsewhere] = [createVectors(sql), createVectors(sql)];
    const find = async (reader: typeof vectors, vector: Float32Array) =>
      await reader.search(ann, vector, (await reader.lastChange(ann)) ?? 0);
    const put = (path: string, vector: Float32Array) =>
      sql.transaction(async (tx) => {
        const { id } = await documents.write(tx, ann, path, "x");
        await vectors.put(tx, ann, id, [vector]);
        return id;
      });
    await many(3000, (at) => put(`${at + 1}.md`, vectorOf(at + 1)));
    for (const reader of [vectors, elsewhere, createVectors(sql)]) {
      for (const seed of [1, 1500, 3000]) {
        const [best] = await find(reader, vectorOf(seed));
        expect(best?.score).toBeGreaterThan(0.97);
        const found = await documents.fetch(ann, [best?.id ?? 0]);
        expect(found.get(best?.id ?? 0)?.path).toBe(`${seed}.md`);
      }
    }
    const id = await put("1500.md", vectorOf(9999));
    for (const reader of [vectors, elsewhere]) {
      expect((await find(reader, vectorOf(1500))).map((hit) => hit.id)).not.toContain(id);
      expect((await find(reader, vectorOf(9999)))[0]?.id).toBe(id);
    }
    await createRemovedDocuments(sql).remove(ann, "1500.md");
    for (const reader of [vectors, elsewhere])
      expect((await find(reader, vectorOf(9999))).map((hit) => hit.id)).not.toContain(id);
    const last = await put("last.md", vectorOf(7777));
    for (const reader of [vectors, elsewhere]) expect((await find(reader, vectorOf(7777)))[0]?.id).toBe(last);
  });

  test("more passages than are read at once are all found, by several who search at the same time", async () => {
    const { sql, ann, bob } = await open();
    const documents = createDocuments(sql);
    const [vectors, elsewhere] = [createVectors(sql), createVectors(sql)];
    const seeds = (at: number) => Array.from({ length: 16 }, (_, passage) => at * 16 + passage + 1);
    const ids: number[] = [];
    await sql.transaction(async (tx) => {
      for (let at = 0; at < 350; at += 1) {
        const { id } = await documents.write(tx, ann, `${at}.md`, "x");
        await vectors.put(tx, ann, id, seeds(at).map(vectorOf));
        ids.push(id);
      }
    });
    const change = (await elsewhere.lastChange(ann)) ?? 0;
    // The limit of what is read at once falls into the passages of number 312.
    const wanted = [0, 100, 311, 312, 313, 349];
    const found = await Promise.all(
      wanted.flatMap((at) => seeds(at).map((seed) => elsewhere.search(ann, vectorOf(seed), change))),
    );
    expect(found.map(([best]) => best?.id)).toEqual(wanted.flatMap((at) => seeds(at).map(() => ids[at])));
    expect(await elsewhere.search(bob, vectorOf(1), 0)).toEqual([]);
  });

  test("so many documents may go elsewhere that all that looks near is gone, and what is left is found", async () => {
    const { sql, ann } = await open();
    const documents = createDocuments(sql);
    const [vectors, elsewhere] = [createVectors(sql), createVectors(sql)];
    const find = async (reader: typeof vectors) =>
      await reader.search(ann, vectorOf(1), (await reader.lastChange(ann)) ?? 0);
    await sql.transaction(async (tx) => {
      for (let at = 0; at < 200; at += 1) {
        const { id } = await documents.write(tx, ann, `near/${at}.md`, "x");
        await vectors.put(tx, ann, id, [vectorOf(1)]);
      }
      const far = vectorOf(1).map((value, at) => (at % 5 === 0 ? -value : value));
      await vectors.put(tx, ann, (await documents.write(tx, ann, "far.md", "x")).id, [far]);
    });
    expect(await find(elsewhere)).toHaveLength(100);
    await sql.transaction(async (tx) => {
      await tx.run("DELETE FROM memory_documents WHERE \"user\" = ? AND path LIKE 'near/%'", ann);
    });
    for (const reader of [vectors, elsewhere]) expect(await find(reader)).toHaveLength(1);
  });
});
