/** The agent's memory: documents of each user, searched by words and by meaning. */
import type { Log, Memory, Store } from "../../../kernel/plugin.ts";
import type { OwnTool } from "../turn/own-tool.ts";
import { createDocuments, type Document } from "./documents.ts";
import { createEmbedder, type EmbedderOptions } from "./embedder.ts";
import { createIndexer } from "./indexer.ts";
import { search } from "./search.ts";
import { MIGRATIONS } from "./tables.ts";
import { memoryTools } from "./tools.ts";
import { createVectors } from "./vectors.ts";

export interface OpenMemory extends Memory {
  readonly tools: readonly OwnTool[];
  /** The texts of those that are there, by path. */
  readTexts(user: string, paths: readonly string[]): ReadonlyMap<string, string>;
  /** Gives all documents of one user to another, below a folder of that name where the other has the path. */
  giveAll(from: string, to: string): void;
  /** An earlier text of a document. */
  readVersion(user: string, path: string, version: number): Document | undefined;
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

export function createMemory({ store, vectors: isOn, log }: MemoryOptions): OpenMemory {
  const sql = store.syncTables("memory", MIGRATIONS);
  const documents = createDocuments(sql);
  const embedder = isOn === false ? undefined : createEmbedder({ log, ...(isOn === true ? {} : isOn) });
  const vectors = createVectors(sql);
  const indexer = embedder && createIndexer(sql, embedder, vectors, log);
  const meaning = embedder && { embedder, vectors };

  const memory = {
    read: documents.read,
    readTexts: documents.readTexts,
    readVersion: documents.readVersion,
    tree: documents.tree,
    write(user: string, path: string, text: string) {
      const { path: kept, version, changed } = documents.write(user, path, text);
      if (changed) indexer?.wake();
      return { path: kept, version };
    },
    remove(user: string, path: string) {
      const id = documents.idOf(user, path);
      if (id === undefined) return false;
      sql.transaction(() => {
        vectors.forget(user, id);
        documents.remove(id);
      });
      return true;
    },
    giveAll(from: string, to: string) {
      for (const { path } of documents.tree(from)) {
        const id = documents.idOf(from, path);
        if (id !== undefined) documents.give(id, to, from);
      }
      indexer?.wake();
    },
    search(user: string, q: string, limit = USUAL_HITS) {
      indexer?.wake();
      return search({ sql, documents, meaning }, user, q, limit);
    },
  };
  return {
    ...memory,
    tools: memoryTools(memory),
    vectorsReady: async () => (await embedder?.whenReady()) ?? false,
    settled: async () => indexer?.settled(),
    async close() {
      indexer?.stop();
      await embedder?.close();
    },
  };
}
