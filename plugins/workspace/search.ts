/** Searches files by words or by a pattern, in a thread, within bounds of time, files and bytes. */
import { createThreads } from "../../kernel/kit/concurrency.ts";
import { moduleFile } from "../../kernel/kit/files.ts";
import { Fault, type Origin } from "../../kernel/plugin.ts";
import type { SearchQuery, SearchResult } from "./services.ts";

const MAX_HITS = 1000;
const DEFAULT_HITS = 100;
const MAX_PATTERN_LENGTH = 1000;
const MAX_WORDS = 20;
const MAX_BYTES = 256 * 2 ** 20;
const BATCH_BYTES = 4 * 2 ** 20;
const BATCH_FILES = 200;
const TIMEOUT_MS = 10_000;
const MAX_THREADS = 2;

export interface SearchTask {
  readonly words?: readonly string[] | undefined;
  readonly pattern?: string | undefined;
  readonly files: readonly Uint8Array[];
  readonly limit: number;
}

export type SearchAnswer =
  | { readonly hits: readonly { readonly file: number; readonly line: number; readonly text: string }[] }
  | { readonly problem: string };

export interface SearchedFile {
  readonly path: string;
  readonly bytes: number;
  readonly digest: string | undefined;
  readonly origins: readonly Origin[] | undefined;
}

/** Gives the texts of files, a few at a time and in their order. */
export interface SearchSource {
  files(folder: string): AsyncIterable<SearchedFile>;
  read(files: readonly SearchedFile[]): Promise<readonly Uint8Array[]>;
}

export function createSearch() {
  const { pool, close } = createThreads(moduleFile("plugins/workspace/search-worker"), MAX_THREADS);

  return {
    async search(source: SearchSource, folder: string, query: SearchQuery): Promise<SearchResult> {
      const asked = readQuery(query);
      const limit = Math.max(1, Math.min(MAX_HITS, Math.floor(query.limit ?? DEFAULT_HITS)));
      const threads = await pool();
      // Loading a thread does not count: on a busy machine that is what takes longest.
      await threads.run(undefined);
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const hits: SearchResult["hits"][number][] = [];
      let bytes = 0;
      try {
        for await (const batch of batches(source.files(folder))) {
          bytes += sumOf(batch);
          if (bytes > MAX_BYTES || signal.aborted) return { hits, isComplete: false };
          const files = await source.read(batch);
          // One more than is shown tells whether there are more.
          const task: SearchTask = { ...asked, files, limit: limit + 1 - hits.length };
          const answer = (await threads.run(task, { signal })) as SearchAnswer;
          if ("problem" in answer) throw badPattern(answer.problem);
          for (const { file, line, text } of answer.hits) {
            const { path, origins } = batch[file] as SearchedFile;
            hits.push({ path, line, text, origins });
          }
          if (hits.length > limit) return { hits: hits.slice(0, limit), isComplete: false };
        }
        return { hits, isComplete: true };
      } catch (error) {
        if (signal.aborted) return { hits, isComplete: false };
        throw error;
      }
    },
    close,
  };
}

const sumOf = (files: readonly SearchedFile[]) => files.reduce((sum, { bytes }) => sum + bytes, 0);

async function* batches(files: AsyncIterable<SearchedFile>): AsyncGenerator<SearchedFile[]> {
  let batch: SearchedFile[] = [];
  let bytes = 0;
  for await (const file of files) {
    if (batch.length > 0 && (bytes + file.bytes > BATCH_BYTES || batch.length === BATCH_FILES)) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(file);
    bytes += file.bytes;
  }
  if (batch.length > 0) yield batch;
}

function readQuery({ words, pattern }: SearchQuery): Pick<SearchTask, "words" | "pattern"> {
  const split = words?.split(/\s+/).filter((word) => word !== "") ?? [];
  if ((pattern === undefined || pattern === "") === (split.length === 0))
    throw new Fault("invalid", "bad_pattern", "Search for words or for a pattern, one of the two.", {
      param: "words",
    });
  if (split.length > MAX_WORDS || (words?.length ?? 0) > MAX_PATTERN_LENGTH)
    throw new Fault("invalid", "bad_pattern", `Search for at most ${MAX_WORDS} words.`, { param: "words" });
  if ((pattern?.length ?? 0) > MAX_PATTERN_LENGTH)
    throw badPattern(`it is longer than ${MAX_PATTERN_LENGTH} characters`);
  return split.length > 0 ? { words: split } : { pattern };
}

const badPattern = (why: string): Fault =>
  new Fault(
    "invalid",
    "bad_pattern",
    `The pattern cannot be used: ${why}. Write a regular expression without look-around and back-references.`,
    { param: "pattern" },
  );
