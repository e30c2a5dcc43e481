/** The requests that were taken: what their responses echo, and what keeps a repeated request from running twice. */

import { digestText, giveWay } from "../../../kernel/kit/concurrency.ts";
import { defineTables, type KeptBytes } from "../../../kernel/kit/store.ts";
import type { Transaction } from "../../../kernel/plugin.ts";
import type { Store } from "../../store/services.ts";
import type { KeptItem } from "../parse/items.ts";
import type { Echo } from "../parse/request.ts";
import type { WireError } from "../wire/format.ts";
import type { ResponseId } from "../wire/id.ts";

export interface TakenRequest {
  /** The response's UUID, which is its turn's too. */
  readonly id: string;
  readonly user: string;
  readonly thread: string;
  readonly createdAt: string;
  readonly echo: Echo;
  /** The token with a scope that it came with. */
  readonly token?: string;
  /** The new items, when it replays another request. */
  readonly input: readonly KeptItem[];
  /** The id of the request whose input and output it replays before them. */
  readonly goesOn?: string;
  /** A later replay finds this request by the digest of its whole input. */
  readonly inputDigest?: string;
  /** Why no turn began, or why it was cut; the turn itself does not know. */
  readonly error?: WireError;
  /** The turn and thread of a background request that has ended. */
  readonly ran?: { readonly turn: string; readonly thread: string };
}

/** The `Idempotency-Key` of a request, and a digest of the body it came with. */
export interface RepeatKey {
  readonly key: string;
  readonly digest: string;
}

export const OWNER = "responses";

export const MIGRATIONS = defineTables(
  ({ text, integer, keyed }) => `
  CREATE TABLE responses (
    id ${text} PRIMARY KEY,
    "user" ${text} NOT NULL,
    thread ${text} NOT NULL,
    created_at ${text} NOT NULL,
    echo ${text} NOT NULL,
    input ${text} NOT NULL,
    error ${text},
    -- The token with a scope that it came with.
    token ${text},
    repeat_key ${text},
    digest ${text},
    -- For a replay: the response whose input this one continues. The row then holds only what is new in it.
    goes_on ${text},
    input_digest ${text},
    -- Digests of texts that many requests of a thread repeat: each text is kept once, in response_texts.
    tools ${text},
    instructions ${text},
    settings ${text},
    -- The turn and thread of a response in the background: empty until it has ended, null for others.
    ran_turn ${text},
    ran_thread ${text},
    -- Of echo and input.
    bytes ${integer} NOT NULL
  ) ${keyed};
  CREATE INDEX responses_by_user ON responses ("user", bytes);
  CREATE INDEX responses_by_thread ON responses (thread);
  CREATE UNIQUE INDEX responses_by_key ON responses ("user", repeat_key) WHERE repeat_key IS NOT NULL;
  CREATE INDEX responses_by_digest ON responses ("user", input_digest, id) WHERE input_digest IS NOT NULL;
  CREATE INDEX responses_by_origin ON responses (goes_on) WHERE goes_on IS NOT NULL;
  CREATE INDEX responses_by_ran ON responses (ran_thread) WHERE ran_thread IS NOT NULL;

  CREATE TABLE response_texts (
    thread ${text} NOT NULL,
    digest ${text} NOT NULL,
    "user" ${text} NOT NULL,
    text ${text} NOT NULL,
    PRIMARY KEY (thread, digest)
  ) ${keyed};
  CREATE INDEX response_texts_by_user ON response_texts ("user");`,
);

export const KEEPS: readonly KeptBytes[] = [
  { kind: "threads", bytes: 'SELECT sum(bytes) FROM responses WHERE "user" = ?' },
  { kind: "threads", bytes: 'SELECT sum(octet_length(text)) FROM response_texts WHERE "user" = ?' },
];

/** Stands for the turn of a background request that has not ended. */
const NOT_ENDED = "";

export const isBackground = ({ echo }: Pick<TakenRequest, "echo">): boolean =>
  echo.settings?.["background"] === true;

const KEY_LIFETIME_MS = 24 * 60 * 60 * 1000;

type Columns = Readonly<
  Record<"id" | "user" | "thread" | "created_at" | "echo" | "input", string> &
    Record<
      "error" | "digest" | "goes_on" | "input_digest" | "ran_turn" | "ran_thread" | "token",
      string | null
    > &
    Record<`${(typeof SHARED)[number]}_text`, string | null>
>;

/** Fields of the echo that are long and the same in many requests of a thread: each text is stored once. */
const SHARED = ["tools", "instructions", "settings"] as const;
const MIN_SHARED_LENGTH = 65;
/** How many requests of one digest are looked at; there may be more. */
export const MAX_ALIKE = 4;

const SELECT = `SELECT r.*, ${SHARED.map((field) => `${field}.text AS ${field}_text`).join(", ")} FROM responses AS r
  ${SHARED.map((field) => `LEFT JOIN response_texts AS ${field} ON ${field}.thread = r.thread AND ${field}.digest = r.${field}`).join("\n  ")}`;

export type Requests = Awaited<ReturnType<typeof createRequests>>["requests"];

export interface RequestTexts {
  readonly inline: string;
  readonly items: string;
  /** Those that stand once for the thread, in the order of their columns; undefined for one that is short, and so in the row. */
  readonly shared: readonly ({ readonly text: string; readonly digest: string } | undefined)[];
  /** The characters of all these texts together. */
  readonly length: number;
}

/** Returns the texts to store. They are made before the transaction, during which nobody else can write. */
export async function textsOf(echo: Echo, input: TakenRequest["input"]): Promise<RequestTexts> {
  const inline: Record<string, unknown> = { ...echo };
  const items = JSON.stringify(input);
  let { length } = items;
  const shared: RequestTexts["shared"][number][] = [];
  for (const field of SHARED) {
    const text = JSON.stringify(echo[field] ?? null);
    const isShared = text.length >= MIN_SHARED_LENGTH;
    shared.push(isShared ? { text, digest: await digestText(text) } : undefined);
    if (isShared) delete inline[field];
    length += text.length;
  }
  await giveWay(length);
  return { inline: JSON.stringify(inline), items, shared, length };
}

export async function createRequests(store: Store) {
  const sql = await store.tables(OWNER, MIGRATIONS);
  const holdsSince = () => new Date(Date.now() - KEY_LIFETIME_MS).toISOString();

  const requests = {
    /** Returns false, and adds nothing, when another request came with this key within a day. */
    async add(
      tx: Transaction,
      request: TakenRequest,
      { inline, items, shared }: RequestTexts,
      repeat: RepeatKey | undefined,
    ): Promise<boolean> {
      const { id, user, thread, createdAt, error, goesOn, inputDigest, token } = request;
      if (repeat)
        void tx.run(
          `UPDATE responses SET repeat_key = NULL WHERE "user" = ? AND repeat_key = ? AND created_at <= ?`,
          ...[user, repeat.key, holdsSince()],
        );
      for (const one of shared)
        if (one)
          void tx.run(
            `INSERT INTO response_texts (thread, digest, "user", text) VALUES (?, ?, ?, ?) ON CONFLICT (thread, digest) DO NOTHING`,
            ...[thread, one.digest, user, one.text],
          );
      const added = await tx.run(
        `INSERT INTO responses (id, "user", thread, created_at, echo, input, error, repeat_key, digest, goes_on,
           input_digest, ran_turn, token, bytes, ${SHARED.join(", ")})
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT ("user", repeat_key) WHERE repeat_key IS NOT NULL DO NOTHING`,
        ...[id, user, thread, createdAt, inline, items],
        ...[error ? JSON.stringify(error) : null, repeat?.key ?? null, repeat?.digest ?? null],
        ...[goesOn ?? null, inputDigest ?? null, isBackground(request) ? NOT_ENDED : null],
        ...[token ?? null, Buffer.byteLength(inline) + Buffer.byteLength(items)],
        ...shared.map((one) => one?.digest ?? null),
      );
      return added > 0;
    },
    /** Fails the transaction with this error unless the user has such a request. */
    demand(tx: Transaction, unmet: Error, user: string, { turn, thread }: ResponseId): void {
      const find = 'SELECT 1 FROM responses WHERE id = ? AND "user" = ? AND thread = ?';
      tx.demand(unmet, find, turn, user, thread);
    },
    async find(user: string, id: string): Promise<TakenRequest | undefined> {
      const row = await sql.get<Columns>(`${SELECT} WHERE r.id = ? AND r."user" = ?`, id, user);
      return row && read(row);
    },
    /** The request that came first with this key, within a day. */
    async findRepeated(user: string, key: string) {
      const row = await sql.get<Columns>(
        `${SELECT} WHERE r."user" = ? AND r.repeat_key = ? AND r.created_at > ?`,
        ...[user, key, holdsSince()],
      );
      return row && { ...read(row), digest: row.digest ?? "" };
    },
    /** Requests whose whole input has one of these digests: the newest few of each. */
    async findByDigest(user: string, digests: readonly string[]) {
      if (digests.length === 0) return [];
      // Each digest has its own limit: a question that is asked every minute has any number of requests.
      const newest = `SELECT * FROM (SELECT id, input_digest AS digest FROM responses
        WHERE "user" = ? AND input_digest = ? ORDER BY id DESC LIMIT ${MAX_ALIKE}) AS newest`;
      return await sql.all<{ readonly id: string; readonly digest: string }>(
        digests.map(() => newest).join(" UNION ALL "),
        ...digests.flatMap((digest) => [user, digest]),
      );
    },
    /** This request and all that it replays, the oldest first. */
    async chainOf(user: string, id: string): Promise<readonly TakenRequest[]> {
      const rows = await sql.all<Columns & { readonly depth: number }>(
        `WITH RECURSIVE chain (id, goes_on, depth) AS (
           SELECT id, goes_on, 0 FROM responses WHERE id = ? AND "user" = ?
           UNION ALL SELECT earlier.id, earlier.goes_on, depth + 1 FROM responses AS earlier
             JOIN chain ON earlier.id = chain.goes_on WHERE earlier."user" = ?
         ) ${SELECT.replace("SELECT r.*", "SELECT chain.depth, r.*")} JOIN chain ON chain.id = r.id ORDER BY depth DESC`,
        ...[id, user, user],
      );
      return rows.map(read);
    },
    setError: (id: string, error: WireError) =>
      sql.run("UPDATE responses SET error = ? WHERE id = ?", JSON.stringify(error), id),
    setPlace: (id: string, { turn, thread }: NonNullable<TakenRequest["ran"]>) =>
      sql.run("UPDATE responses SET ran_turn = ?, ran_thread = ? WHERE id = ?", turn, thread, id),
    /** Background requests whose ids name this thread, which need not exist. */
    async inBackground(user: string, thread: string): Promise<readonly TakenRequest[]> {
      const query = `${SELECT} WHERE r.thread = ? AND r."user" = ? AND r.ran_turn IS NOT NULL`;
      return (await sql.all<Columns>(query, thread, user)).map(read);
    },
    /** Requests that replay it now replay what it replayed: its items are gone from their listings too. */
    remove: (id: string) =>
      sql.transaction(async (tx) => {
        void tx.run(
          "UPDATE responses SET goes_on = (SELECT goes_on FROM responses WHERE id = ?) WHERE goes_on = ?",
          ...[id, id],
        );
        await tx.run("DELETE FROM responses WHERE id = ?", id);
      }),
    /** How many responses of this thread are left; a background one that continued it counts twice. */
    async countOf(user: string, thread: string): Promise<number> {
      const countBy = (column: string) =>
        `(SELECT count(*) FROM responses WHERE ${column} = ? AND "user" = ?)`;
      const query = `SELECT ${countBy("thread")} + ${countBy("ran_thread")} AS count`;
      return (await sql.get<{ count: number }>(query, thread, user, thread, user))?.count ?? 0;
    },
    /** Threads with requests, in the order of their ids. */
    threadsAfter: (thread: string, limit: number) =>
      sql.all<Pick<TakenRequest, "user" | "thread">>(
        'SELECT thread, "user" FROM responses WHERE thread > ? GROUP BY thread, "user" ORDER BY thread LIMIT ?',
        ...[thread, limit],
      ),
    removeThread: (user: string, thread: string) =>
      sql.transaction(async (tx) => {
        void tx.run('DELETE FROM response_texts WHERE thread = ? AND "user" = ?', thread, user);
        await tx.run('DELETE FROM responses WHERE thread = ? AND "user" = ?', thread, user);
      }),
    /** Deletes texts of threads that have no requests left. */
    removeUnusedTexts: () =>
      sql.run(
        `DELETE FROM response_texts WHERE NOT EXISTS (
           SELECT 1 FROM responses WHERE responses.thread = response_texts.thread)`,
      ),
  };
  return { requests, sql };
}

function read(row: Columns): TakenRequest {
  const shared = SHARED.flatMap((field) => {
    const text = row[`${field}_text`];
    return text === null ? [] : [[field, JSON.parse(text)] as const];
  });
  return {
    id: row.id,
    user: row.user,
    thread: row.thread,
    createdAt: row.created_at,
    token: row.token ?? undefined,
    echo: { ...(JSON.parse(row.echo) as Echo), ...Object.fromEntries(shared) },
    input: JSON.parse(row.input) as KeptItem[],
    goesOn: row.goes_on ?? undefined,
    ran: row.ran_turn && row.ran_thread ? { turn: row.ran_turn, thread: row.ran_thread } : undefined,
    inputDigest: row.input_digest ?? undefined,
    error: row.error === null ? undefined : (JSON.parse(row.error) as WireError),
  };
}
