/** The agent's memory: documents of each user, searched by words and by meaning. */

import { Fault, type Log, type Store, type Transaction } from "../../kernel/plugin.ts";
import { createDocuments } from "./documents.ts";
import { createEmbedder, type EmbedderOptions, embedTexts } from "./embedder.ts";
import { createIndexer } from "./indexer.ts";
import { search } from "./search/search.ts";
import type { Memory, Writing } from "./services.ts";
import { MIGRATIONS } from "./tables.ts";
import { giveDocuments } from "./transfer.ts";
import { createVectors } from "./vectors.ts";

export interface OpenMemory extends Required<Memory> {
  /** True once the embedding model is loaded; false where vectors are off or cannot be had. */
  vectorsReady(): Promise<boolean>;
  /** Resolves when every document has its vectors. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

export interface MemoryOptions {
  readonly store: Store;
  readonly vectors: boolean | Pick<EmbedderOptions, "worker" | "idleMillis">;
  readonly log: Log;
}

const USUAL_HITS = 10;

// A long transaction would keep everybody else waiting.
const REMOVED_AT_ONCE = 500;

export async function createMemory({ store, vectors: isOn, log }: MemoryOptions): Promise<OpenMemory> {
  const sql = await store.tables("memory", MIGRATIONS);
  const documents = createDocuments(sql);
  const embedder = isOn === false ? undefined : createEmbedder({ log, ...(isOn === true ? {} : isOn) });
  const vectors = createVectors(sql);
  const indexer = embedder && createIndexer(sql, embedder, vectors, log);
  const meaning = embedder && { embedder, vectors };

  return {
    read: documents.read,
    readVersion: documents.readVersion,
    history: documents.history,
    tree: documents.tree,
    async write(user: string, path: string, text: string, writing?: Writing) {
      const written = await sql.transaction((tx) => documents.write(tx, user, path, text, writing));
      if (written.changed) indexer?.wake();
      return { path: written.path, version: written.version };
    },
    remove: documents.remove,
    async giveUser(tx: Transaction, from: string, to: string) {
      await giveDocuments(tx, sql.engine, { from, to, folder: from });
      indexer?.wake();
    },
    async removeUser(user: string) {
      let gone: number;
      do {
        gone = await sql.transaction((tx) => documents.removeSome(tx, user, REMOVED_AT_ONCE));
      } while (gone === REMOVED_AT_ONCE);
      await sql.run('DELETE FROM memory_changes WHERE "user" = ?', user);
    },
    search(user: string, q: string, limit = USUAL_HITS) {
      indexer?.wake();
      return search({ sql, documents, meaning }, user, q, limit);
    },
    async embed(texts: readonly string[], signal?: AbortSignal) {
      if (embedder === undefined)
        throw new Fault(
          "invalid",
          "embeddings_off",
          "This service makes no embeddings: MEMORY_VECTORS is false. Ask its operator to turn it on.",
        );
      return embedTexts(embedder, texts, signal);
    },
    vectorsReady: async () => (await embedder?.whenReady()) ?? false,
    settled: async () => indexer?.settled(),
    async close() {
      indexer?.stop();
      await embedder?.close();
      await indexer?.settled();
    },
  };
}
