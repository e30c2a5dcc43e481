/** The agent's memory: documents of each user, searched by words and by meaning. */

import { createMutex, createTextThreads } from "../../kernel/kit/concurrency.ts";
import { Fault, type Log } from "../../kernel/plugin.ts";
import type { Store, UserStorage } from "../store/services.ts";
import { createDocuments } from "./documents.ts";
import { createEmbedder, type EmbedderOptions, embedTexts } from "./embedder.ts";
import { createIndexer } from "./indexer.ts";
import { cleanPath } from "./path.ts";
import { createRemovedDocuments } from "./removed.ts";
import { search } from "./search/search.ts";
import type { Memory } from "./services.ts";
import { MIGRATIONS } from "./tables.ts";
import { giveDocuments } from "./transfer.ts";
import { createVectors } from "./vectors.ts";
import { findUnfinished, indexLater, indexUnfinished, type LaterRows } from "./word-index.ts";

export interface OpenMemory extends Required<Memory> {
  /** True once the embedding model is loaded; false where vectors are off or cannot be had. */
  vectorsReady(): Promise<boolean>;
  settled(): Promise<void>;
  close(): Promise<void>;
}

export interface MemoryOptions {
  readonly store: Store;
  /** Absent where nothing is counted. */
  readonly storage?: Pick<UserStorage, "take">;
  readonly vectors: boolean | Pick<EmbedderOptions, "worker" | "idleMillis">;
  readonly log: Log;
}

const USUAL_HITS = 10;

// A long transaction would keep everybody else waiting.
const REMOVED_AT_ONCE = 500;

export async function createMemory({
  store,
  storage,
  vectors: isOn,
  log,
}: MemoryOptions): Promise<OpenMemory> {
  const sql = await store.tables("memory", MIGRATIONS);
  const documents = createDocuments(sql);
  const removed = createRemovedDocuments(sql);
  const embedder = isOn === false ? undefined : createEmbedder({ log, ...(isOn === true ? {} : isOn) });
  const vectors = createVectors(sql);
  const indexer = embedder && createIndexer(sql, embedder, vectors, log);
  const meaning = embedder && { embedder, vectors };
  const threads = createTextThreads();
  // A long text keeps the store busy for a while: other users' writes come in between.
  const oneAtATime = createMutex();
  let isBehind = true;
  let catchingUp: Promise<void> = Promise.resolve();

  /** Indexes what a crash or a full disk left; what fails is tried again with the next search or write. */
  function catchUp(): void {
    if (!isBehind) return;
    isBehind = false;
    catchingUp = catchingUp
      .then(async () => {
        for (const { id, user } of await findUnfinished(sql))
          await oneAtATime(user, () => indexUnfinished(sql, id));
      })
      .catch(fallBehind);
  }

  function fallBehind(error: unknown): void {
    isBehind = true;
    log.warn({ error }, "a long document is not found by all of its words yet, retrying later");
  }

  catchUp();
  return {
    read: documents.read,
    readVersion: documents.readVersion,
    history: documents.history,
    tree: documents.tree,
    write: (user, path, given, writing) =>
      oneAtATime(user, async () => {
        const text = documents.cleanText(path, given);
        // The text, and its version.
        await storage?.take(user, 2 * Buffer.byteLength(text));
        const words = await threads.words(`${cleanPath(path)} ${text}`);
        const later: LaterRows = [];
        const { changed, id, ...written } = await sql.transaction(async (tx) => {
          later.length = 0;
          const { path: at, ...rest } = await documents.write(tx, user, path, text, writing, {
            words,
            later,
          });
          await writing?.done?.(tx, { path: at, version: rest.version });
          return { path: at, ...rest };
        });
        catchUp();
        // The document is stored: a writer who was told otherwise would write it again.
        await indexLater(sql, later, id, written.version).catch(fallBehind);
        if (changed) indexer?.wake();
        return written;
      }),
    remove: removed.remove,
    removed: removed.list,
    async restore(user, path, removedAt) {
      const restored = await removed.restore(user, path, removedAt);
      if (restored) indexer?.wake();
      return restored;
    },
    async giveUser(tx, from, to) {
      await giveDocuments(tx, sql.engine, from, to);
      await tx.run('UPDATE memory_removed SET "user" = ? WHERE "user" = ?', to, from);
      indexer?.wake();
    },
    async removeUser(user) {
      let gone: number;
      do {
        gone = await sql.transaction((tx) => documents.removeSome(tx, user, REMOVED_AT_ONCE));
      } while (gone === REMOVED_AT_ONCE);
      await sql.run('DELETE FROM memory_removed WHERE "user" = ?', user);
      await sql.run('DELETE FROM memory_changes WHERE "user" = ?', user);
    },
    search(user, q, limit = USUAL_HITS) {
      indexer?.wake();
      catchUp();
      return search({ sql, documents, meaning }, user, q, limit);
    },
    async embed(texts, signal) {
      if (embedder === undefined) {
        const message =
          "This service makes no embeddings: MEMORY_VECTORS is false. Ask its operator to turn it on.";
        throw new Fault("invalid", "embeddings_off", message);
      }
      return embedTexts(embedder, texts, signal);
    },
    vectorsReady: async () => (await embedder?.whenReady()) ?? false,
    settled: async () => indexer?.settled(),
    async close() {
      indexer?.stop();
      await Promise.all([embedder?.close(), threads.close()]);
      await Promise.all([catchingUp, indexer?.settled()]);
    },
  };
}
