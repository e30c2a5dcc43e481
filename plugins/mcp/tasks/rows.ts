/** Tasks in the store: any node can read one, and continue it when an answer arrives. */

import { defineTables, type KeptBytes } from "../../../kernel/kit/store.ts";
import type { Sql } from "../../../kernel/plugin.ts";
import type { Node } from "../../store/services.ts";

export const OWNER = "mcp tasks";

/** The state of a call, in the protocol's own words. */
export type TaskState =
  | { readonly status: "working" | "cancelled" }
  | {
      readonly status: "input_required";
      readonly requests: Readonly<Record<string, unknown>>;
      readonly answers: Readonly<Record<string, unknown>>;
      readonly requestState?: string;
    }
  | { readonly status: "completed"; readonly result: Readonly<Record<string, unknown>> }
  | { readonly status: "failed"; readonly error: { readonly code: number; readonly message: string } };

/** A task is for the user who made it and, where the token had a scope, for that token. */
export interface TaskOwner {
  readonly user: string;
  readonly token: string;
}

export type Task = TaskState & {
  readonly id: string;
  readonly owner: TaskOwner;
  /** The params of the call, to repeat it with an answer. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly ttlMillis: number;
};

interface Columns {
  readonly id: string;
  readonly status: Task["status"];
  readonly detail: string;
  readonly params: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly expires_at: number;
  readonly is_lost: number;
}

const MAX_TASKS = 100;
/** For the params and results of one user's tasks. */
const MAX_BYTES = 64 * 1024 * 1024;
const INTERNAL_ERROR = -32603;
/** A node that is not among the living and has not renewed its tasks for this long is gone. */
const LOST_AFTER_MS = 15_000;

const LOST = {
  status: "failed",
  error: { code: INTERNAL_ERROR, message: "The node that ran this call has stopped. Call the tool again." },
} as const;

export const MIGRATIONS = defineTables(
  ({ text, integer, keyed }) => `
  CREATE TABLE mcp_tasks (
    id ${text} PRIMARY KEY,
    "user" ${text} NOT NULL,
    -- The id of a token with a scope, or empty.
    token ${text} NOT NULL,
    node ${text} NOT NULL,
    status ${text} NOT NULL,
    detail ${text} NOT NULL,
    params ${text} NOT NULL,
    created_at ${integer} NOT NULL,
    updated_at ${integer} NOT NULL,
    renewed_at ${integer} NOT NULL,
    expires_at ${integer} NOT NULL
  ) ${keyed};
  CREATE INDEX mcp_tasks_by_user ON mcp_tasks ("user");
  CREATE INDEX mcp_tasks_by_expiry ON mcp_tasks (expires_at);`,
);

export const KEEPS: readonly KeptBytes[] = [
  {
    kind: "jobs",
    bytes: 'SELECT sum(octet_length(params) + octet_length(detail)) FROM mcp_tasks WHERE "user" = ?',
  },
];

export function createTaskRows(sql: Sql, node: Node) {
  // On SQLite a command is a second process that no list of nodes has: what it renews is alive too.
  const lost = `status = 'working' AND node NOT IN ${node.living} AND renewed_at < ?`;

  /** Returns false if the task has changed in the meantime. A working task belongs to this node from then on. */
  async function change(id: string, from: TaskState, to: TaskState): Promise<boolean> {
    const now = Date.now();
    const changed = await sql.run(
      `UPDATE mcp_tasks SET status = ?, detail = ?, node = ?, updated_at = ?, renewed_at = ?
       WHERE id = ? AND status = ? AND detail = ?`,
      ...[to.status, detailOf(to), node.id, now, now, id, from.status, detailOf(from)],
    );
    return changed > 0;
  }

  return {
    /** Returns false if this user has too many tasks, or too large ones. */
    add: (task: Task): Promise<boolean> =>
      sql.transaction(async (tx) => {
        const params = JSON.stringify(task.params);
        const kept = await tx.get<{ readonly count: number; readonly bytes: number }>(
          `SELECT count(*) AS count, CAST(coalesce(sum(octet_length(params) + octet_length(detail)), 0) AS BIGINT) AS bytes
           FROM mcp_tasks WHERE "user" = ? AND expires_at > ?`,
          ...[task.owner.user, Date.now()],
        );
        const { count = 0, bytes = 0 } = kept ?? {};
        if (count >= MAX_TASKS || bytes + Buffer.byteLength(params) > MAX_BYTES) return false;
        await tx.run(
          `INSERT INTO mcp_tasks
             (id, "user", token, node, status, detail, params, created_at, updated_at, renewed_at, expires_at)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          ...[task.id, task.owner.user, task.owner.token, node.id, task.status, detailOf(task), params],
          ...[task.createdAt, task.updatedAt, task.createdAt, task.createdAt + task.ttlMillis],
        );
        return true;
      }),

    async find(owner: TaskOwner, id: string): Promise<Task | undefined> {
      const now = Date.now();
      const row = await sql.get<Columns>(
        `SELECT id, status, detail, params, created_at, updated_at, expires_at,
           CASE WHEN ${lost} THEN 1 ELSE 0 END AS is_lost
         FROM mcp_tasks WHERE id = ? AND "user" = ? AND token = ? AND expires_at > ?`,
        ...[now - LOST_AFTER_MS, id, owner.user, owner.token, now],
      );
      if (row === undefined) return undefined;
      const task = toTask(row, owner);
      if (row.is_lost === 0) return task;
      await change(id, task, LOST);
      return { ...task, ...LOST };
    },

    change,

    /** Marks this node's tasks as still running. Returns those that are neither cancelled nor expired. */
    async renew(): Promise<readonly string[]> {
      await sql.run(
        "UPDATE mcp_tasks SET renewed_at = ? WHERE node = ? AND status = 'working'",
        ...[Date.now(), node.id],
      );
      const still = await sql.all<{ readonly id: string }>(
        "SELECT id FROM mcp_tasks WHERE node = ? AND status = 'working' AND expires_at > ?",
        ...[node.id, Date.now()],
      );
      return still.map(({ id }) => id);
    },

    /** Marks all running tasks of this node as failed. */
    abandon: () =>
      sql.run(
        "UPDATE mcp_tasks SET status = ?, detail = ?, updated_at = ? WHERE node = ? AND status = 'working'",
        ...[LOST.status, detailOf(LOST), Date.now(), node.id],
      ),

    removeExpired: () => sql.run("DELETE FROM mcp_tasks WHERE expires_at <= ?", Date.now()),
  };
}

/** The fields of a state without its name, as JSON. */
function detailOf(state: TaskState): string {
  const { requests, answers, requestState, result, error } = state as Readonly<Record<string, unknown>>;
  return JSON.stringify({ requests, answers, requestState, result, error });
}

function toTask(row: Columns, owner: TaskOwner): Task {
  return {
    id: row.id,
    owner,
    params: JSON.parse(row.params),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ttlMillis: row.expires_at - row.created_at,
    status: row.status,
    ...JSON.parse(row.detail),
  };
}
