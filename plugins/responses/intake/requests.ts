/** Requests as they were taken: what a response says again, and what keeps a repeated request from running twice. */
import type { Sql, SqlValue, Store, Transaction } from "../../../kernel/plugin.ts";
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
  /** False where another request has come with this key, which holds: nothing was added. */
  add(tx: Transaction, request: TakenRequest, repeat: RepeatKey | undefined): Promise<boolean>;
  find(user: string, id: string, tx?: Transaction): Promise<TakenRequest | undefined>;
  /** The request that first came with this key, for as long as the key holds. */
  findRepeated(user: string, key: string): Promise<(TakenRequest & { readonly digest: string }) | undefined>;
  setError(id: string, error: WireError): Promise<void>;
  remove(id: string): Promise<void>;
  /** How many responses of this thread are left. */
  countOf(user: string, thread: string): Promise<number>;
  /** Threads with requests, in the order of their ids. */
  threadsAfter(
    thread: string,
    limit: number,
  ): Promise<readonly { readonly user: string; readonly thread: string }[]>;
  removeThread(user: string, thread: string): Promise<void>;
}

const KEY_HOLDS_MILLIS = 24 * 60 * 60 * 1000;

const SQLITE = [
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

  // A key is its first request's, for as long as it holds. The newest comes last, since ids are made in order of time.
  `UPDATE responses SET repeat_key = NULL WHERE repeat_key IS NOT NULL AND EXISTS (
    SELECT 1 FROM responses AS later
    WHERE later.user = responses.user AND later.repeat_key = responses.repeat_key AND later.id > responses.id);
  DROP INDEX responses_by_key;
  CREATE UNIQUE INDEX responses_by_key ON responses (user, repeat_key) WHERE repeat_key IS NOT NULL;`,
];

const POSTGRES = [
  `CREATE TABLE responses (
    id TEXT COLLATE "C" PRIMARY KEY,
    "user" TEXT COLLATE "C" NOT NULL,
    thread TEXT COLLATE "C" NOT NULL,
    created_at TEXT COLLATE "C" NOT NULL,
    echo TEXT COLLATE "C" NOT NULL,
    input TEXT COLLATE "C" NOT NULL,
    error TEXT COLLATE "C",
    repeat_key TEXT COLLATE "C",
    digest TEXT COLLATE "C"
  );
  CREATE INDEX responses_by_thread ON responses (thread);
  CREATE UNIQUE INDEX responses_by_key ON responses ("user", repeat_key) WHERE repeat_key IS NOT NULL;`,
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

export const MIGRATIONS = { sqlite: SQLITE, postgres: POSTGRES };

export async function createRequests(
  store: Store,
): Promise<{ readonly requests: Requests; readonly sql: Sql }> {
  const sql = await store.tables("responses", MIGRATIONS);
  const holdsSince = () => new Date(Date.now() - KEY_HOLDS_MILLIS).toISOString();

  const change = async (statement: string, ...values: SqlValue[]): Promise<void> => {
    await sql.run(statement, ...values);
  };

  const requests: Requests = {
    async add(tx, { id, user, thread, createdAt, echo, input, error }, repeat) {
      if (repeat)
        void tx.run(
          `UPDATE responses SET repeat_key = NULL WHERE "user" = ? AND repeat_key = ? AND created_at <= ?`,
          user,
          repeat.key,
          holdsSince(),
        );
      const added = await tx.run(
        `INSERT INTO responses (id, "user", thread, created_at, echo, input, error, repeat_key, digest)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT ("user", repeat_key) WHERE repeat_key IS NOT NULL DO NOTHING`,
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
      return added > 0;
    },
    async find(user, id, tx) {
      const query = 'SELECT * FROM responses WHERE id = ? AND "user" = ?';
      const row = await (tx ?? sql).get<Columns>(query, id, user);
      return row && read(row);
    },
    async findRepeated(user, key) {
      const row = await sql.get<Columns>(
        'SELECT * FROM responses WHERE "user" = ? AND repeat_key = ? AND created_at > ?',
        user,
        key,
        holdsSince(),
      );
      return row && { ...read(row), digest: row.digest ?? "" };
    },
    setError: (id, error) => change("UPDATE responses SET error = ? WHERE id = ?", JSON.stringify(error), id),
    remove: (id) => change("DELETE FROM responses WHERE id = ?", id),
    async countOf(user, thread) {
      const query = 'SELECT count(*) AS count FROM responses WHERE thread = ? AND "user" = ?';
      return (await sql.get<{ count: number }>(query, thread, user))?.count ?? 0;
    },
    threadsAfter: (thread, limit) =>
      sql.all(
        'SELECT thread, "user" FROM responses WHERE thread > ? GROUP BY thread, "user" ORDER BY thread LIMIT ?',
        thread,
        limit,
      ),
    removeThread: (user, thread) =>
      change('DELETE FROM responses WHERE thread = ? AND "user" = ?', thread, user),
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
