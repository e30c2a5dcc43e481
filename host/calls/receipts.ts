/** The audit table: what every tool call did, in so far as the host saw it. No params, no output, no secret. */

import { type AgingRows, defineTables, type SqlValue } from "../../kernel/kit/store.ts";
import type { Figures } from "../../kernel/kit/turns.ts";
import type { Queries, Transaction } from "../../kernel/plugin.ts";
import type { FiguresQuery, Store } from "../../plugins/store/services.ts";
import type { TrafficEntry } from "../broker/grant.ts";
import type { ToolReceipt } from "../wire.ts";

export interface Receipt extends ToolReceipt {
  readonly digest: string;
  readonly requests: readonly TrafficEntry[];
  readonly logsDropped: number;
}

export type Receipts = Awaited<ReturnType<typeof openReceipts>>;

export interface Retention {
  readonly count: number;
  readonly bytes: number;
}

export const MIGRATIONS = defineTables(
  ({ text, real, serialOnce }) => `
  CREATE TABLE tool_receipts (
    number ${serialOnce},
    id ${text} NOT NULL UNIQUE,
    tool ${text} NOT NULL,
    receipt ${text} NOT NULL,
    -- What is counted and searched for, apart from the receipt.
    "user" ${text} NOT NULL,
    at ${text} NOT NULL,
    channel ${text},
    status ${text} NOT NULL,
    millis ${real} NOT NULL
  );
  CREATE INDEX tool_receipts_by_tool ON tool_receipts (tool, number);
  CREATE INDEX tool_receipts_by_user ON tool_receipts ("user", number);
  CREATE INDEX tool_receipts_by_time ON tool_receipts (at, "user", tool, channel, status, millis);`,
);

export const OLD_RECEIPTS: AgingRows = {
  kind: "receipts",
  table: "tool_receipts",
  key: "id",
  order: "number",
  time: "at",
  when: "1 = 1",
  bytes: "octet_length(receipt)",
};

const COUNTED = {
  table: "tool_receipts",
  index: "tool_receipts_by_time",
  time: "at",
  number: "number",
  // A call that asked for a credential or for an answer has not failed.
  failed: "status = 'error'",
  timed: "status = 'ok'",
  inputTokens: "0",
  outputTokens: "0",
  usd: "0.0",
  groups: { tool: "tool", user: '"user"', channel: "COALESCE(channel, '')" },
} as const;

const KEPT: Retention = { count: 10_000, bytes: 64 * 1024 * 1024 };
const TRIM_EVERY = 500;
const INSERT =
  'INSERT INTO tool_receipts (id, tool, "user", receipt, at, channel, status, millis) VALUES (?, ?, ?, ?, ?, ?, ?, ?)';
const MAX_MESSAGE_BYTES = 4096;

interface Row {
  receipt: string;
}

/** Receipts that are stored in one transaction: those that come before it begins. */
interface Batch {
  readonly rows: (readonly SqlValue[])[];
  mustTrim: boolean;
  hasBegun: boolean;
}

export async function openReceipts(store: Store, kept: Retention = KEPT) {
  const sql = await store.tables("tools", MIGRATIONS);
  // The first of a process trims: many short lives would otherwise never come to it.
  let sinceTrim = TRIM_EVERY - 1;
  let bytesSinceTrim = 0;
  /** Those under way: who reads waits for them. */
  let storing: Promise<unknown> = Promise.resolve();
  const usage = store.figures(COUNTED);
  let batch: (Batch & { readonly stored: Promise<void> }) | undefined;

  const begin = (row: Batch["rows"][number]) => {
    const made: Batch = { rows: [row], mustTrim: false, hasBegun: false };
    const insertion = async (tx: Transaction) => {
      made.hasBegun = true;
      for (const values of made.rows) await tx.run(INSERT, ...values);
      if (made.mustTrim) await trim(tx, kept);
    };
    // The turn it belongs to is stored later in the same log, and flushes both.
    return Object.assign(made, { stored: sql.transaction(insertion, { flush: false }) });
  };

  return {
    async usage(query: FiguresQuery): Promise<Figures> {
      await storing;
      return usage(query);
    },
    /**
     * Resolves when nothing can be stored any more that is written later and survives without it. That is at once on SQLite,
     * which commits in order; a power cut can lose the last moments of both. What the tool did is done: `onLost` hears of a
     * receipt that could not be stored.
     */
    async add(receipt: Receipt, onLost: (error: unknown) => void): Promise<void> {
      const text = JSON.stringify(shorten(receipt));
      const { at, channel = null, status, millis } = receipt;
      const values = [receipt.id, receipt.tool, receipt.user, text, at, channel, status, millis];
      sinceTrim++;
      bytesSinceTrim += text.length;
      const mustTrim = sinceTrim >= Math.min(TRIM_EVERY, kept.count) || bytesSinceTrim > kept.bytes / 8;
      if (mustTrim) {
        sinceTrim = 0;
        bytesSinceTrim = 0;
      }
      if (batch === undefined || batch.hasBegun) batch = begin(values);
      else batch.rows.push(values);
      batch.mustTrim ||= mustTrim;
      const stored = batch.stored.catch(onLost);
      storing = storing.then(() => stored);
      if (sql.engine === "postgres") await stored;
    },
    /** Lists the newest first. */
    async list({
      tool,
      user,
      limit = 20,
    }: {
      readonly tool?: string;
      readonly user?: string;
      readonly limit?: number;
    } = {}): Promise<readonly Receipt[]> {
      await storing;
      const conditions = [
        ...(tool === undefined ? [] : ["tool = ?"]),
        ...(user === undefined ? [] : ['"user" = ?']),
      ];
      const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
      const rows = await sql.all<Row>(
        `SELECT receipt FROM tool_receipts ${where} ORDER BY number DESC LIMIT ?`,
        ...[tool, user].filter((value) => value !== undefined),
        limit,
      );
      return rows.map(parse);
    },
    async find(id: string): Promise<Receipt | undefined> {
      await storing;
      const row = await sql.get<Row>("SELECT receipt FROM tool_receipts WHERE id = ?", id);
      return row && parse(row);
    },
  };
}

/** A message can be as long as what a tool answers. */
function shorten(receipt: Receipt): Receipt {
  const { message } = receipt;
  if (message === undefined || Buffer.byteLength(message) <= MAX_MESSAGE_BYTES) return receipt;
  // Decoded as a stream, a character cut in two is left out.
  const kept = new TextDecoder().decode(Buffer.from(message).subarray(0, MAX_MESSAGE_BYTES - 3), {
    stream: true,
  });
  return { ...receipt, message: `${kept}…` };
}

function parse({ receipt }: Row): Receipt {
  return JSON.parse(receipt);
}

/** Drops the oldest until both bounds hold, so that neither many calls nor talkative ones fill the disk. */
async function trim(queries: Queries, { count, bytes }: Retention): Promise<void> {
  await queries.run(
    "DELETE FROM tool_receipts WHERE number <= (SELECT number FROM tool_receipts ORDER BY number DESC LIMIT 1 OFFSET ?)",
    count,
  );
  const held = await queries.get<{ bytes: number }>(
    "SELECT sum(octet_length(receipt)) AS bytes FROM tool_receipts",
  );
  if (Number(held?.bytes ?? 0) <= bytes) return;
  await queries.run(
    `DELETE FROM tool_receipts WHERE number IN (
       SELECT number FROM (
         SELECT number, sum(octet_length(receipt)) OVER (ORDER BY number DESC) AS total FROM tool_receipts
       ) AS totals WHERE total > ?
     )`,
    bytes,
  );
}
