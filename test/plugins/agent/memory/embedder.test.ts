import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import type { Log } from "../../../../kernel/plugin.ts";
import { createEmbedder } from "../../../../plugins/agent/memory/embedder.ts";
import { createMemory } from "../../../../plugins/agent/memory/memory.ts";
import { openStore } from "../../../../plugins/store/sqlite/store.ts";
import { temporaryFolder } from "../../../support/home.ts";
import { quiet } from "../../../support/services/memory.ts";

const thread = (name: string) =>
  fileURLToPath(new URL(`../../../fixtures/threads/${name}.ts`, import.meta.url));
const counting = thread("counting-worker");
const broken = thread("broken-worker");

async function openWith(worker: string, warnings: string[] = []) {
  const log: Log = { ...quiet, warn: (_fields, message) => void warnings.push(message ?? "") };
  const store = openStore(join(temporaryFolder(), "store.sqlite"));
  const memory = await createMemory({ store, vectors: { worker }, log });
  onTestFinished(async () => {
    await memory.close();
    await store.close();
  });
  return memory;
}

test("where the model cannot be loaded, the operator is told once and words still find", async () => {
  const warnings: string[] = [];
  const memory = await openWith(broken, warnings);
  await memory.write("ann", "a.md", "red bike");
  expect(await memory.vectorsReady()).toBe(false);
  await memory.write("ann", "b.md", "blue car");
  expect((await memory.search("ann", "bike")).map(({ path }) => path)).toEqual(["a.md"]);
  expect(warnings).toEqual(["vector search is off until the next start; memory is searched by words only"]);
});

test("a text the model cannot take keeps no other from its vector", async () => {
  const memory = await openWith(counting);
  await memory.write("ann", "a.md", "apple");
  await memory.write("ann", "p.md", "poison");
  await memory.write("ann", "z.md", "zebra");
  await memory.vectorsReady();
  await memory.settled();
  await expect.poll(async () => (await memory.search("ann", "a")).map(({ path }) => path)).toEqual(["a.md"]);
  expect((await memory.search("ann", "poison")).map(({ path }) => path)).toContain("p.md");
});

test("a question goes before the documents that wait", async () => {
  const embedder = createEmbedder({ log: quiet, worker: counting });
  onTestFinished(() => embedder.close());
  await embedder.whenReady();
  const order: string[] = [];
  const waiting = ["one", "two", "three"].map((text) => embedder.embed(text).then(() => order.push(text)));
  await embedder.embed("question", true).then(() => order.push("question"));
  await Promise.all(waiting);
  expect(order).toEqual(["one", "question", "two", "three"]);
});

test("a thread that was idle is ended, and started again when it is needed", async () => {
  const embedder = createEmbedder({ log: quiet, worker: counting, idleMillis: 30 });
  onTestFinished(() => embedder.close());
  expect(await embedder.whenReady()).toBe(true);
  const first = await embedder.embed("a");
  await expect.poll(() => embedder.isReady()).toBe(false);
  expect(await embedder.embed("a")).toEqual(first);
});

test("what waits when memory closes is refused, not forgotten in silence", async () => {
  const embedder = createEmbedder({ log: quiet, worker: counting });
  await embedder.whenReady();
  const waiting = embedder.embed("a");
  const refused = expect(waiting).rejects.toThrow("memory is closed");
  await embedder.close();
  await refused;
  await expect(embedder.embed("b")).rejects.toThrow("memory is closed");
});
