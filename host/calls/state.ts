/** The state of tools, for each tool and user: read once in a call, and stored in one transaction when it has succeeded. */

import { defineTables, type KeptBytes } from "../../kernel/kit/store.ts";
import { Fault, type Queries, type Transaction } from "../../kernel/plugin.ts";
import type { Store, UserStorage } from "../../plugins/store/services.ts";
import type { StateReply, StateRequest } from "../sandbox/protocol.ts";

export const OWNER = "tool-state";

export const TABLES = defineTables(
  ({ text, integer, bytes, strict, keyed }) => `
  CREATE TABLE tool_state (
    tool ${text} NOT NULL,
    "user" ${text} NOT NULL,
    key ${text} NOT NULL,
    value ${bytes} NOT NULL,
    PRIMARY KEY (tool, "user", key)
  ) ${strict};
  CREATE INDEX tool_state_by_user ON tool_state ("user");
  -- How much there is; a transaction that writes locks its row first, so that two at once cannot exceed the quota together.
  CREATE TABLE tool_state_sizes (
    "user" ${text} NOT NULL,
    tool ${text} NOT NULL,
    bytes ${integer} NOT NULL,
    PRIMARY KEY ("user", tool)
  ) ${keyed};`,
);

export const PERSONAL = ["tool_state", "tool_state_sizes"];

/** A tool's state belongs together: it moves whole where the other user has none of that tool, and is deleted otherwise. */
export async function giveState(tx: Transaction, from: string, to: string): Promise<void> {
  await tx.run('DELETE FROM tool_state_sizes WHERE "user" = ? AND bytes = 0', to);
  // In this order: the sizes tell which tools the other has state of.
  for (const table of PERSONAL)
    await tx.run(
      `UPDATE ${table} SET "user" = ? WHERE "user" = ? AND tool NOT IN (SELECT tool FROM tool_state_sizes WHERE "user" = ?)`,
      to,
      from,
      to,
    );
  for (const table of PERSONAL) await tx.run(`DELETE FROM ${table} WHERE "user" = ?`, from);
}

/** Counted in what a user keeps, beside the quota of each tool. */
export const KEEPS: readonly KeptBytes[] = [
  { kind: "tools", bytes: 'SELECT sum(bytes) FROM tool_state_sizes WHERE "user" = ?' },
];

const MAX_KEYS = 10_000;
const MB = 1_000_000;

export type Entries = ReadonlyMap<string, Uint8Array>;

export type CallState = ReturnType<typeof openCallState>;

export function openCallState(maxMb: number, read: () => Promise<Entries>) {
  let before: Entries | undefined;
  let entries = new Map<string, Uint8Array>();
  let bytes = 0;
  let isReading = false;
  const written = new Map<string, Uint8Array | undefined>();

  const put = (key: string, value: Uint8Array | undefined): StateReply => {
    const old = entries.get(key);
    const after =
      bytes + (value === undefined ? 0 : sizeOf(key, value)) - (old === undefined ? 0 : sizeOf(key, old));
    const keys = entries.size + (old === undefined && value !== undefined ? 1 : 0);
    // A state that became too large with another version of the tool can still be made smaller.
    const problem = value === undefined || after <= bytes ? undefined : tooMuch(after, keys, maxMb);
    if (problem !== undefined) return { ok: false, error: problem };
    bytes = after;
    if (value === undefined) entries.delete(key);
    else entries.set(key, value);
    if (value !== undefined || before?.has(key) || written.has(key)) written.set(key, value);
    return DONE;
  };

  return {
    async answer({ op, key, body }: StateRequest): Promise<StateReply> {
      if (before === undefined) {
        // A guest waits for each answer: only a hostile process asks for two things at once.
        if (isReading) return { ok: false, error: "ask for one thing at a time" };
        isReading = true;
        try {
          before = await read();
        } finally {
          isReading = false;
        }
        entries = new Map(before);
        for (const [name, value] of entries) bytes += sizeOf(name, value);
      }
      switch (op) {
        case "get": {
          const value = entries.get(key);
          return { ok: true, isThere: value !== undefined, body: value ?? NOTHING };
        }
        case "set":
          return put(key, body ?? NOTHING);
        case "delete":
          return put(key, undefined);
        case "list": {
          const keys = [...entries.keys()].filter((name) => name.startsWith(key)).sort();
          return { ok: true, body: NOTHING, keys };
        }
      }
    },
    /** Returns the entries as they were when the call first asked; undefined if it never did. */
    before: (): Entries | undefined => before,
    /** Returns its writes; a deleted key maps to undefined. */
    written: (): ReadonlyMap<string, Uint8Array | undefined> => written,
  };
}

const NOTHING = new Uint8Array();
const DONE: StateReply = { ok: true, body: NOTHING };

function sizeOf(key: string, value: Uint8Array): number {
  return Buffer.byteLength(key) + value.byteLength;
}

function tooMuch(bytes: number, keys: number, maxMb: number): string | undefined {
  if (bytes > maxMb * MB)
    return `the state is full: it may have ${maxMb} MB for each user, and would have ${(bytes / MB).toFixed(2)} MB`;
  return keys > MAX_KEYS ? `the state is full: it may have ${MAX_KEYS} keys for each user` : undefined;
}

export type ToolState = Awaited<ReturnType<typeof openToolState>>;

/** `storage` has the last word on what a user may keep; without it only the tool's own quota holds. */
export async function openToolState(store: Store, storage?: Pick<UserStorage, "take">) {
  const sql = await store.tables(OWNER, TABLES);

  return {
    open: (tool: string, user: string, maxMb: number): CallState =>
      openCallState(maxMb, async () => {
        const rows = await sql.all<{ key: string; value: Uint8Array }>(
          'SELECT key, value FROM tool_state WHERE tool = ? AND "user" = ?',
          tool,
          user,
        );
        return new Map(rows.map(({ key, value }) => [key, value]));
      }),
    /** Stores what a call wrote. Throws a fault, and stores nothing, if calls at once filled the state or there is no room. */
    async keep(tool: string, user: string, maxMb: number, state: CallState): Promise<void> {
      const written = state.written();
      if (written.size === 0) return;
      const growth = growthOf(state.before(), written);
      if (growth > 0) await storage?.take(user, growth);
      const keep = async (tx: Transaction) => {
        await tx.run(
          'INSERT INTO tool_state_sizes ("user", tool, bytes) VALUES (?, ?, 0) ON CONFLICT ("user", tool) DO UPDATE SET bytes = 0',
          user,
          tool,
        );
        const before = await measure(tx, tool, user);
        await Promise.all(
          [...written].map(([key, value]) =>
            value === undefined
              ? tx.run('DELETE FROM tool_state WHERE tool = ? AND "user" = ? AND key = ?', tool, user, key)
              : tx.run(
                  'INSERT INTO tool_state (tool, "user", key, value) VALUES (?, ?, ?, ?) ON CONFLICT (tool, "user", key) DO UPDATE SET value = excluded.value',
                  tool,
                  user,
                  key,
                  value,
                ),
          ),
        );
        const after = await measure(tx, tool, user);
        const problem = after.bytes <= before.bytes ? undefined : tooMuch(after.bytes, after.keys, maxMb);
        if (problem !== undefined) {
          const message = `What the tool wanted to remember was not stored, because of another call at the same time: ${problem}. Its other effects are done.`;
          throw new Fault("limited", "state_full", message);
        }
        await tx.run(
          'UPDATE tool_state_sizes SET bytes = ? WHERE "user" = ? AND tool = ?',
          after.bytes,
          user,
          tool,
        );
      };
      // The turn it belongs to is stored later in the same log, and flushes both.
      await sql.transaction(keep, { flush: false });
    },
    async forget(tool: string): Promise<void> {
      await sql.transaction(async (tx) => {
        await Promise.all(PERSONAL.map((table) => tx.run(`DELETE FROM ${table} WHERE tool = ?`, tool)));
      });
    },
  };
}

function growthOf(before: Entries | undefined, written: ReadonlyMap<string, Uint8Array | undefined>): number {
  let bytes = 0;
  for (const [key, value] of written) {
    const old = before?.get(key);
    bytes += (value === undefined ? 0 : sizeOf(key, value)) - (old === undefined ? 0 : sizeOf(key, old));
  }
  return bytes;
}

async function measure(tx: Queries, tool: string, user: string): Promise<{ bytes: number; keys: number }> {
  const row = await tx.get<{ bytes: number | bigint | string | null; keys: number | bigint | string }>(
    'SELECT sum(octet_length(key) + octet_length(value)) AS bytes, count(*) AS keys FROM tool_state WHERE tool = ? AND "user" = ?',
    tool,
    user,
  );
  return { bytes: Number(row?.bytes ?? 0), keys: Number(row?.keys ?? 0) };
}
