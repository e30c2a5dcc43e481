/** What delegated tasks ask, asked in the chat that their conversation is in. */
import type { Gates } from "./gates.ts";
import type { Recipient } from "./outbox.ts";
import type { ChannelParts } from "./parts.ts";

type TaskParts = Pick<ChannelParts, "sql" | "outbox" | "jobs" | "threads" | "tasks" | "conversations">;

export function createTaskGates(parts: TaskParts, gates: Gates) {
  const { sql, outbox, threads, tasks } = parts;
  const known = new Set<string>();
  return {
    /** Asks what is not asked here yet, and forgets what waits no more. */
    async ask(): Promise<void> {
      const waiting = new Set<string>();
      for (const { user, thread, rootThread } of (await tasks?.open()) ?? []) {
        const gate = (await threads.find(user, thread))?.gate;
        if (gate === undefined) continue;
        waiting.add(gate.id);
        const to = known.has(gate.id) ? undefined : await recipientIn(parts, user, rootThread);
        const asking = to && gates.ask(gate, to);
        if (!asking) continue;
        await sql.transaction(async (tx) => {
          if (await gates.isAsked(tx, gate.id)) return;
          await asking.keep(tx);
          await outbox.sayAside(tx, to, asking.content);
        });
        // One that was answered is forgotten a moment before its turn begins.
        known.add(gate.id);
      }
      for (const id of known) if (!waiting.has(id)) known.delete(id);
    },
  };
}

/** The chat in which this thread goes on. */
async function recipientIn(
  { outbox, jobs, conversations }: TaskParts,
  user: string,
  thread: string,
): Promise<Recipient | undefined> {
  // In a group others may have written since.
  const owed = (await outbox.owedBy(user)).map((row) => ({ ...row, thread: null }));
  for (const { conversation, line, thread: chosen, job } of [...owed, ...(await conversations.of(user))]) {
    const its = chosen ?? (job === null ? undefined : (await jobs.find(job))?.thread);
    if (its === thread) return { conversation, line, user };
  }
  return undefined;
}
