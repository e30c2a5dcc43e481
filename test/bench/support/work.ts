/** What a service asks of its store: turns, submitted jobs and searches. */

import { createThreads } from "../../../plugins/agent/threads/threads.ts";
import { createJobs } from "../../../plugins/jobs/queue/jobs.ts";
import { createJobTable } from "../../../plugins/jobs/queue/table.ts";
import { MIGRATIONS as JOBS } from "../../../plugins/jobs/queue/tables.ts";
import { createDocuments } from "../../../plugins/memory/documents.ts";
import { createMemory } from "../../../plugins/memory/memory.ts";
import { MIGRATIONS as MEMORY } from "../../../plugins/memory/tables.ts";
import type { OpenStore } from "../../../plugins/store/engine/open-store.ts";
import { openAgent, SILENT } from "./agent.ts";
import type { Progress } from "./bench.ts";
import { createRandom, createWriter } from "./words.ts";

export const TEXTS = 10_000;
const WORDS_EACH = 40;
const MESSAGES_EACH = 20;
const AT_ONCE = 32;
const WRITTEN_AT_ONCE = 1000;
const USER = "ann";
// In about half of all texts: the word that a search of threads has most to do with.
const COMMON = "word1x";

export type Work = Readonly<Record<Kind, () => Promise<unknown>>> & { stop(): Promise<void> };
export type Kind = "turn" | "submit" | "searchMemory" | "searchThreads" | "searchCommon";

export async function openWork(store: OpenStore, home: string, progress: Progress): Promise<Work> {
  const write = createWriter(createRandom(TEXTS));
  const { agent, sql, turn } = await openAgent(store, home);
  const table = createJobTable(await store.tables("jobs", JOBS), store);
  const threads = createThreads(sql, {
    store,
    onRemove: () => {},
    choose: async ({ provider = "", name }) => ({ provider, name }),
  });
  // Never started: what is submitted stays queued.
  const jobs = createJobs({
    table,
    agent,
    store,
    storage: { take: async () => {} },
    threads,
    log: SILENT,
    concurrency: 1,
    retentionDays: 1,
  });
  const notes = await store.tables("memory", MEMORY);
  const documents = createDocuments(notes);
  const memory = await createMemory({ store, vectors: false, log: SILENT });
  progress(`writing ${TEXTS} documents`);
  for (let from = 0; from < TEXTS; from += WRITTEN_AT_ONCE)
    await notes.transaction(async (tx) => {
      for (let at = from; at < from + WRITTEN_AT_ONCE; at++)
        await documents.write(tx, USER, `notes/${at}.md`, write(WORDS_EACH));
    });
  progress(`writing ${TEXTS} messages`);
  const message = () => ({ type: "message", id: "", role: "user", text: write(WORDS_EACH) }) as const;
  let left = TEXTS / MESSAGES_EACH;
  const fill = async () => {
    while (left-- > 0) {
      const history = Array.from({ length: MESSAGES_EACH }, message);
      const run = await agent.run({
        user: USER,
        channel: "bench",
        preamble: { history },
        input: { type: "message", text: "Go on" },
      });
      await run.record;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, fill));
  let submitted = 0;
  return {
    turn: () => turn(),
    submit: () =>
      jobs.submit({
        user: `webhook/user-${submitted++ % 1000}`,
        channel: "webhook",
        message: "What is 6 times 7?",
      }),
    searchMemory: () => memory.search(USER, write(3)),
    searchThreads: () => threads.list(USER, { q: write(2) }),
    searchCommon: () => threads.list(USER, { q: COMMON }),
    stop: () => agent.stop(),
  };
}
