/** What becomes of a user's turns, jobs and data when the user is removed. */
import type { Agent, Jobs, Memory, SyncSql, Threads } from "../../../kernel/plugin.ts";

export interface UserRemovalParts {
  readonly sql: SyncSql;
  readonly threads: Threads;
  readonly jobs: Pick<Jobs, "list" | "cancel">;
  readonly memory: Pick<Memory, "tree" | "remove">;
  /** Stops what runs on a thread. */
  cancelThread(thread: string): void;
}

const PAGE = 200;

export function createUserRemoval(parts: UserRemovalParts): Agent["removeUser"] {
  const { sql, threads, jobs, memory } = parts;

  function stopJobs(user: string): void {
    for (const status of ["queued", "running"] as const) {
      let before: string | undefined;
      do {
        const page = jobs.list({ user, status, limit: PAGE, ...(before !== undefined && { before }) });
        for (const { id } of page.items) jobs.cancel(id);
        before = page.next;
      } while (before !== undefined);
    }
  }

  return (user, { withData }) => {
    // Webhook identities that were this user speak for themselves again.
    sql.run("DELETE FROM pairings WHERE ? IN (account, identity)", user);
    stopJobs(user);
    const busy = sql.all<{ thread: string }>(
      "SELECT DISTINCT thread FROM turns WHERE user = ? AND status = 'running'",
      user,
    );
    for (const { thread } of busy) parts.cancelThread(thread);
    if (!withData) return;
    for (;;) {
      const { items } = threads.list(user, { limit: PAGE });
      for (const { id } of items) threads.remove(user, id);
      if (items.length < PAGE) break;
    }
    for (const { path } of memory.tree(user)) memory.remove(user, path);
    sql.transaction(() => {
      for (const table of ["jobs", "conversations", "approvals", "spending", "missions"])
        sql.run(`DELETE FROM ${table} WHERE user = ?`, user);
    });
  };
}
