/** Gives documents their vectors in the background, newest first; what a restart interrupted is taken up again. */
import { type Log, reason, type Sql } from "../../kernel/plugin.ts";
import type { Embedder } from "./embedder.ts";
import type { Vectors } from "./vectors.ts";

const PASSAGE = 480;
const MAX_PASSAGES = 16;

export function createIndexer(sql: Sql, embedder: Embedder, vectors: Vectors, log: Log) {
  let running: Promise<void> | undefined;
  let isAsked = false;
  let isStopped = false;

  async function work(): Promise<void> {
    while (!isStopped) {
      isAsked = false;
      const row = await sql.get<{ id: number; user: string; text: string; path: string; version: number }>(
        'SELECT id, "user", path, text, version FROM memory_documents WHERE embedded < version ORDER BY id DESC LIMIT 1',
      );
      if (row === undefined && !isAsked) return;
      if (row === undefined) continue;
      const found = await embedAll(passagesOf(row.text || row.path), row.path);
      if (isStopped) return;
      await sql.transaction(async (tx) => {
        // Not where it was written, given away or embedded elsewhere meanwhile.
        const isStill = await tx.run(
          'UPDATE memory_documents SET embedded = version WHERE id = ? AND version = ? AND "user" = ? AND embedded < version',
          row.id,
          row.version,
          row.user,
        );
        if (isStill > 0) await vectors.put(tx, row.user, row.id, found);
      });
    }
  }

  /** A text the model cannot take is left to the words; where there is no model, all wait. */
  async function embedAll(passages: readonly string[], path: string): Promise<Float32Array[]> {
    const found: Float32Array[] = [];
    for (const passage of passages) {
      try {
        found.push(await embedder.embed(passage));
      } catch (error) {
        if (!embedder.isReady()) throw error;
        log.warn({ path, why: reason(error) }, "a passage has no vector; it is found by its words only");
      }
    }
    return found;
  }

  return {
    /** Looks for documents without vectors. */
    wake(): void {
      if (isStopped) return;
      isAsked = true;
      running ??= work()
        .catch((error: unknown) => {
          if (!isStopped) log.debug({ why: reason(error) }, "documents are waiting for their vectors");
        })
        .finally(() => {
          running = undefined;
        });
    },
    settled: async (): Promise<void> => running,
    stop(): void {
      isStopped = true;
    },
  };
}

/** Cut at the end of a sentence or line where there is one, else at a space. */
export function passagesOf(text: string): string[] {
  const passages: string[] = [];
  let rest = text.trim();
  while (rest !== "" && passages.length < MAX_PASSAGES) {
    const head = rest.slice(0, PASSAGE);
    const end = rest.length <= PASSAGE ? head.length : (lastBreak(head) ?? PASSAGE);
    passages.push(rest.slice(0, end).toWellFormed());
    rest = rest.slice(end).trimStart();
  }
  return passages;
}

function lastBreak(head: string): number | undefined {
  for (const pattern of [/^[\s\S]*(?:[.!?]\s|\n)/u, /^[\s\S]*\s/u]) {
    const found = pattern.exec(head)?.[0].length;
    if (found !== undefined && found > PASSAGE / 3) return found;
  }
  return undefined;
}
