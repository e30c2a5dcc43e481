/** What becomes of a user's turns, jobs and data when the user is removed. */
import type { Agent, Jobs, Kernel, Sql, Store } from "../../kernel/plugin.ts";
import type { OpenMemory } from "../memory/memory.ts";
import type { StoredThreads } from "./threads/threads.ts";

export interface UserRemovalParts {
  readonly sql: Sql;
  readonly threads: Pick<StoredThreads, "removeAll">;
  readonly jobs: Pick<Jobs, "list" | "cancel">;
  readonly memory: Pick<OpenMemory, "removeAll">;
  /** Their routines fire no more. */
  pauseRoutines(user: string): Promise<void>;
  /** Deletes what other plugins keep of a user. */
  removeElsewhere(user: string): Promise<void>;
  /** Stops what runs on a thread. */
  cancelThread(thread: string): Promise<void>;
}

const PAGE = 200;

export function createUserRemoval(parts: UserRemovalParts): Agent["removeUser"] {
  const { sql, threads, jobs, memory } = parts;

  async function stopJobs(user: string): Promise<void> {
    for (const status of ["queued", "running"] as const) {
      let before: string | undefined;
      do {
        const page = await jobs.list({ user, status, limit: PAGE, ...(before !== undefined && { before }) });
        await Promise.all(page.items.map(({ id }) => jobs.cancel(id)));
        before = page.next;
      } while (before !== undefined);
    }
  }

  async function stopTurns(user: string): Promise<void> {
    const busy = await sql.all<{ thread: string }>(
      `SELECT DISTINCT thread FROM turns WHERE "user" = ? AND status = 'running'`,
      user,
    );
    await Promise.all(busy.map(({ thread }) => parts.cancelThread(thread)));
  }

  return async (user, { withData }) => {
    // Webhook identities that were this user speak for themselves again.
    await sql.run("DELETE FROM pairings WHERE account = ? OR identity = ?", user, user);
    // Before its jobs, so that no new one comes behind them.
    await parts.pauseRoutines(user);
    await stopJobs(user);
    await stopTurns(user);
    if (!withData) return;
    await Promise.all([threads.removeAll(user), memory.removeAll(user), parts.removeElsewhere(user)]);
    await sql.transaction(async (tx) => {
      const tables = [
        "jobs",
        "conversations",
        "approvals",
        "destinations",
        "spending",
        "token_spending",
        "missions",
        "uploads",
      ];
      await Promise.all(tables.map((table) => tx.run(`DELETE FROM ${table} WHERE "user" = ?`, user)));
    });
  };
}

/** Deletes the rows of the user in every table that its plugin declares to be personal. */
export function createPersonalRemoval(
  store: Pick<Store, "tables">,
  kernel: Pick<Kernel, "tables">,
): UserRemovalParts["removeElsewhere"] {
  return async (user) => {
    for (const { owner, migrations, personal = [] } of await kernel.tables()) {
      if (personal.length === 0) continue;
      const sql = await store.tables(owner, migrations);
      await sql.transaction(async (tx) => {
        await Promise.all(personal.map((table) => tx.run(`DELETE FROM ${table} WHERE "user" = ?`, user)));
      });
    }
  };
}
