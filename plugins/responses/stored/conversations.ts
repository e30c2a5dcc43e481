/** Conversations: names for threads. Items added before the first response, or between two, go to the next one. */
import { randomUUIDv7 } from "node:crypto";
import { defineTables, type KeptBytes } from "../../../kernel/kit/store.ts";
import { Fault, type Queries, type Services, type Transaction } from "../../../kernel/plugin.ts";
import type { Store, UserStorage } from "../../store/services.ts";
import { invalid } from "../wire/refusal.ts";

type Metadata = Readonly<Record<string, string>>;

export interface Conversation {
  readonly id: string;
  readonly user: string;
  /** Undefined before the first response. */
  readonly thread: string | undefined;
  readonly createdAt: string;
  readonly metadata: Metadata;
  /** The token with a scope that made it. */
  readonly token: string | undefined;
}

/** An item that was added to the conversation without a request. */
export interface AddedItem {
  readonly id: string;
  /** The item as it was sent; null once a response has taken it, whose request holds it now. */
  readonly item: Readonly<Record<string, unknown>> | null;
  /** The response that took it, and its index in that response's input. */
  readonly turn: string | null;
  readonly place: number | null;
}

const MAX_ITEMS = 1000;
const MAX_BYTES = 14 * 1024 * 1024;

export const OWNER = "response conversations";

export const MIGRATIONS = defineTables(
  ({ text, integer, keyed }) => `
  CREATE TABLE response_conversations (
    id ${text} PRIMARY KEY,
    "user" ${text} NOT NULL,
    thread ${text},
    created_at ${text} NOT NULL,
    metadata ${text} NOT NULL,
    -- The token with a scope that it came with.
    token ${text}
  ) ${keyed};
  CREATE INDEX response_conversations_by_user ON response_conversations ("user");
  CREATE TABLE response_conversation_items (
    id ${text} PRIMARY KEY,
    conversation ${text} NOT NULL REFERENCES response_conversations (id) ON DELETE CASCADE,
    item ${text},
    turn ${text},
    place ${integer}
  ) ${keyed};
  CREATE INDEX response_conversation_items_by_conversation ON response_conversation_items (conversation, id);`,
);

export const KEEPS: readonly KeptBytes[] = [
  {
    kind: "threads",
    bytes: `SELECT sum(octet_length(item)) FROM response_conversations AS kept
      JOIN response_conversation_items ON conversation = kept.id WHERE "user" = ?`,
  },
];

interface Columns {
  readonly id: string;
  readonly user: string;
  readonly thread: string | null;
  readonly created_at: string;
  readonly metadata: string;
  readonly token: string | null;
}

const ID = /^conv_[0-9a-f]{32}$/;

const hex = () => randomUUIDv7().replaceAll("-", "");

export type StoredConversations = Awaited<ReturnType<typeof createStoredConversations>>;

export async function createStoredConversations(
  store: Store,
  storage: Pick<UserStorage, "take">,
  threads: Pick<Services["threads"], "find" | "isBinned">,
) {
  const sql = await store.tables(OWNER, MIGRATIONS);

  async function addItems(
    queries: Queries,
    conversation: string,
    items: readonly object[],
  ): Promise<readonly AddedItem[]> {
    // The ids keep the order of the items, though all are made in the same moment.
    const stem = hex();
    const added = items.map((item, index) => {
      const kind = Object(item).type === "message" ? "msg" : "fc";
      return { id: `${kind}_${stem}_${String(index).padStart(2, "0")}`, item, turn: null, place: null };
    });
    await Promise.all(
      added.map(({ id, item }) =>
        queries.run(
          "INSERT INTO response_conversation_items (id, conversation, item) VALUES (?, ?, ?)",
          ...[id, conversation, JSON.stringify(item)],
        ),
      ),
    );
    return added as readonly AddedItem[];
  }

  return {
    async create(
      user: string,
      metadata: Metadata,
      items: readonly object[],
      token: string | undefined,
    ): Promise<Conversation> {
      await storage.take(user, sizeOf([metadata, ...items]));
      const id = `conv_${hex()}`;
      const createdAt = new Date().toISOString();
      await sql.transaction(async (tx) => {
        await tx.run(
          'INSERT INTO response_conversations (id, "user", created_at, metadata, token) VALUES (?, ?, ?, ?, ?)',
          ...[id, user, createdAt, JSON.stringify(metadata), token ?? null],
        );
        await addItems(tx, id, items);
      });
      return { id, user, thread: undefined, createdAt, metadata, token };
    },
    /** Undefined also when its thread was deleted: the conversation goes with it. One whose thread is in the bin may come back. */
    async find(user: string, id: string): Promise<Conversation | undefined> {
      if (!ID.test(id)) return undefined;
      const query = 'SELECT * FROM response_conversations WHERE id = ? AND "user" = ?';
      const row = await sql.get<Columns>(query, id, user);
      if (row === undefined) return undefined;
      if (row.thread !== null && (await threads.find(user, row.thread)) === undefined) {
        if ((await threads.isBinned(user, row.thread)) === undefined)
          await sql.run("DELETE FROM response_conversations WHERE id = ?", id);
        return undefined;
      }
      return read(row);
    },
    async ofThread(user: string, thread: string): Promise<readonly Conversation[]> {
      const query = 'SELECT * FROM response_conversations WHERE "user" = ? AND thread = ?';
      return (await sql.all<Columns>(query, user, thread)).map(read);
    },
    async update(conversation: Conversation, metadata: Metadata): Promise<Conversation> {
      const statement = "UPDATE response_conversations SET metadata = ? WHERE id = ?";
      await sql.run(statement, JSON.stringify(metadata), conversation.id);
      return { ...conversation, metadata };
    },
    remove: ({ id }: Conversation) => sql.run("DELETE FROM response_conversations WHERE id = ?", id),
    // Two requests at once must not both take the last room.
    add: ({ id, user }: Conversation, items: readonly object[]): Promise<readonly AddedItem[]> =>
      store.exclusive(`items of ${id}`, async () => {
        const held = await sql.get<{ count: number; bytes: number }>(
          `SELECT count(*) AS count, CAST(coalesce(sum(octet_length(item)), 0) AS BIGINT) AS bytes
           FROM response_conversation_items WHERE conversation = ? AND turn IS NULL`,
          id,
        );
        const more = sizeOf(items);
        if ((held?.count ?? 0) + items.length > MAX_ITEMS || (held?.bytes ?? 0) + more > MAX_BYTES) {
          const message = `A conversation holds at most ${MAX_ITEMS} items of 14 MiB together that no response has taken yet.`;
          throw invalid("items", "too_many_items", message);
        }
        await storage.take(user, more);
        return await sql.transaction((tx) => addItems(tx, id, items));
      }),
    async added({ id }: Conversation): Promise<readonly AddedItem[]> {
      const rows = await sql.all<Omit<AddedItem, "item"> & { readonly item: string | null }>(
        "SELECT id, item, turn, place FROM response_conversation_items WHERE conversation = ?",
        id,
      );
      return rows
        .map((row) => ({ ...row, item: row.item === null ? null : JSON.parse(row.item) }))
        .sort((one, other) => (order(one.id) < order(other.id) ? -1 : 1));
    },
    /** Returns false when a response has taken the item, or when there is none. */
    async removeItem({ id: conversation }: Conversation, id: string): Promise<boolean> {
      const statement =
        "DELETE FROM response_conversation_items WHERE id = ? AND conversation = ? AND turn IS NULL";
      return (await sql.run(statement, id, conversation)) > 0;
    },
    /** Gives these items and the thread to the turn, in the transaction that opens it. */
    async claim(
      tx: Transaction,
      { id }: Conversation,
      items: readonly AddedItem[],
      turn: { readonly id: string; readonly thread: string },
    ): Promise<void> {
      const claimed = await Promise.all([
        tx.run(
          "UPDATE response_conversations SET thread = ? WHERE id = ? AND (thread IS NULL OR thread = ?)",
          ...[turn.thread, id, turn.thread],
        ),
        ...items.map((item, place) =>
          tx.run(
            "UPDATE response_conversation_items SET turn = ?, place = ?, item = NULL WHERE id = ? AND turn IS NULL",
            ...[turn.id, place, item.id],
          ),
        ),
      ]);
      if (claimed.some((rows) => rows === 0)) throw locked();
    },
  };
}

const sizeOf = (items: readonly object[]): number => Buffer.byteLength(JSON.stringify(items));

/** Without the kind, ids ascend with time. */
const order = (id: string): string => id.slice(id.indexOf("_") + 1);

const read = ({ id, user, thread, created_at, metadata, token }: Columns): Conversation => ({
  ...{ id, user, thread: thread ?? undefined, createdAt: created_at },
  metadata: JSON.parse(metadata) as Metadata,
  token: token ?? undefined,
});

export const conversationNotFound = (param: string) =>
  new Fault("missing", "conversation_not_found", "You have no conversation with this id.", { param });

const locked = () =>
  invalid(
    "conversation",
    "conversation_locked",
    "Another request has continued this conversation meanwhile. Send this one again.",
  );
