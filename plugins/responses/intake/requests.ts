/** Requests as they were taken: what a response says again, and what keeps a repeated request from running twice. */
import type { Store, SyncSql } from "../../../kernel/plugin.ts";
import type { Echo } from "../answer/response.ts";
import type { WireError } from "../answer/wire.ts";
import type { SaidItem } from "./items.ts";

export interface TakenRequest {
  /** The response's UUID, which is its turn's too. */
  readonly id: string;
  readonly user: string;
  readonly thread: string;
  readonly createdAt: string;
  readonly echo: Echo;
  readonly input: readonly SaidItem[];
  /** Why no turn began, or why it was cut; the turn itself does not know. */
  readonly error?: WireError | undefined;
}

/** The caller's key of a request, and a digest of the body it came with. */
export interface RepeatKey {
  readonly key: string;
  readonly digest: string;
}

export interface Requests {
  add(request: TakenRequest, repeat: RepeatKey | undefined): void;
  find(user: string, id: string): TakenRequest | undefined;
  /** The request that first came with this key, for as long as the key holds. */
  findRepeated(user: string, key: string): (TakenRequest & { readonly digest: string }) | undefined;
  setError(id: string, error: WireError): void;
  remove(id: string): void;
  /** How many responses of this thread are left. */
  countOf(user: string, thread: string): number;
  /** Threads with requests, in the order of their ids. */
  threadsAfter(thread: string, limit: number): readonly { readonly user: string; readonly thread: string }[];
  removeThread(user: string, thread: string): void;
}

const KEY_HOLDS_MILLIS = 24 * 60 * 60 * 1000;

const MIGRATIONS = [
  `CREATE TABLE responses (
    id TEXT PRIMARY KEY,
    user TEXT NOT NULL,
    thread TEXT NOT NULL,
    created_at TEXT NOT NULL,
    echo TEXT NOT NULL,
    input TEXT NOT NULL,
    error TEXT,
    repeat_key TEXT,
    digest TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX responses_by_thread ON responses (thread);
  CREATE INDEX responses_by_key ON responses (user, repeat_key, created_at) WHERE repeat_key IS NOT NULL;`,
];

interface Columns {
  readonly id: string;
  readonly user: string;
  readonly thread: string;
  readonly created_at: string;
  readonly echo: string;
  readonly input: string;
  readonly error: string | null;
  readonly digest: string | null;
}

export function createRequests(store: Store): { readonly requests: Requests; readonly sql: SyncSql } {
  const sql = store.syncTables("responses", MIGRATIONS);
  const requests: Requests = {
    add({ id, user, thread, createdAt, echo, input, error }, repeat) {
      sql.run(
        "INSERT INTO responses VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        id,
        user,
        thread,
        createdAt,
        JSON.stringify(echo),
        JSON.stringify(input),
        error ? JSON.stringify(error) : null,
        repeat?.key ?? null,
        repeat?.digest ?? null,
      );
    },
    find(user, id) {
      const row = sql.get<Columns>("SELECT * FROM responses WHERE id = ? AND user = ?", id, user);
      return row && read(row);
    },
    findRepeated(user, key) {
      const row = sql.get<Columns>(
        `SELECT * FROM responses WHERE user = ? AND repeat_key = ? AND created_at > ?
         ORDER BY created_at LIMIT 1`,
        user,
        key,
        new Date(Date.now() - KEY_HOLDS_MILLIS).toISOString(),
      );
      return row && { ...read(row), digest: row.digest ?? "" };
    },
    setError: (id, error) =>
      void sql.run("UPDATE responses SET error = ? WHERE id = ?", JSON.stringify(error), id),
    remove: (id) => void sql.run("DELETE FROM responses WHERE id = ?", id),
    countOf: (user, thread) =>
      sql.get<{ count: number }>(
        "SELECT count(*) AS count FROM responses WHERE thread = ? AND user = ?",
        thread,
        user,
      )?.count ?? 0,
    threadsAfter: (thread, limit) =>
      sql.all(
        "SELECT thread, user FROM responses WHERE thread > ? GROUP BY thread, user ORDER BY thread LIMIT ?",
        thread,
        limit,
      ),
    removeThread: (user, thread) =>
      void sql.run("DELETE FROM responses WHERE thread = ? AND user = ?", thread, user),
  };
  return { requests, sql };
}

const read = (row: Columns): TakenRequest => ({
  id: row.id,
  user: row.user,
  thread: row.thread,
  createdAt: row.created_at,
  echo: JSON.parse(row.echo) as Echo,
  input: JSON.parse(row.input) as SaidItem[],
  error: row.error === null ? undefined : (JSON.parse(row.error) as WireError),
});
