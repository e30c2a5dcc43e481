/** Which threads may go when they are old. */
import type { AgingRows } from "../../../kernel/kit.ts";
import { threadTexts } from "./texts.ts";

const OPEN = "('queued', 'running')";

/**
 * Not what somebody pinned, and nothing that waits for an answer or for its turn. The tables `jobs` and `conversations` belong to
 * the plugin `jobs` and are read here all the same: a job that is submitted meanwhile must keep its thread, so the condition has to
 * hold in the transaction that deletes. The store makes every owner's tables before it deletes anything that is old.
 */
export const OLD_THREADS: AgingRows = {
  kind: "threads",
  table: "threads",
  key: "id",
  order: "seq",
  time: "updated_at",
  when: `pinned = 0 AND gate IS NULL AND pending IS NULL AND ephemeral = 0
    AND NOT EXISTS (SELECT 1 FROM turns WHERE turns.thread = threads.id AND turns.status IN ${OPEN})
    AND threads.id NOT IN (SELECT jobs.thread FROM jobs WHERE jobs.status IN ${OPEN} AND jobs.thread IS NOT NULL)
    AND threads.id NOT IN (
      SELECT conversations.thread FROM jobs JOIN conversations
        ON conversations."user" = jobs."user" AND conversations.name = jobs.conversation
      WHERE jobs.status IN ${OPEN})`,
  bytes: `(SELECT COALESCE(sum(octet_length(turn_items.body)), 0) FROM turn_items JOIN turns ON turns.id = turn_items.turn
      WHERE turns.thread = threads.id)
    + (SELECT COALESCE(sum(octet_length(data)), 0) FROM attachments WHERE attachments.thread = threads.id)`,
  async removeRest(tx, engine, keys) {
    await threadTexts({ engine }).removeThreads(tx, keys);
    await tx.run(`DELETE FROM conversations WHERE thread IN (${keys.map(() => "?").join()})`, ...keys);
  },
};
