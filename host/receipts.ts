/** The audit table: what every tool call did, in so far as the host saw it. No params, no output, no secret. */
import type { Store, SyncSql, ToolReceipt } from "../kernel/plugin.ts";
import type { TrafficEntry } from "./broker/grant.ts";

/** With what only the host keeps. */
export interface Receipt extends ToolReceipt {
  /** SHA-256 of the component that ran. */
  readonly digest: string;
  /** Hosts contacted, with status and bytes; refused requests too. */
  readonly requests: readonly TrafficEntry[];
  /** Lines over the limit, which were not kept. */
  readonly logsDropped: number;
}

export interface Receipts {
  /** Resolves when it is stored, in one commit with those of calls that end at the same time. */
  add(receipt: Receipt): Promise<void>;
  /** Newest first. */
  list(query?: {
    readonly tool?: string;
    readonly user?: string;
    readonly limit?: number;
  }): readonly Receipt[];
  find(id: string): Receipt | undefined;
}

export interface Retention {
  readonly count: number;
  readonly bytes: number;
}

const MIGRATIONS = [
  `CREATE TABLE tool_receipts (
     number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, tool TEXT NOT NULL, receipt TEXT NOT NULL
   );
   CREATE INDEX tool_receipts_by_tool ON tool_receipts (tool, number);`,
];

const KEPT: Retention = { count: 10_000, bytes: 64 * 1024 * 1024 };
const TRIM_EVERY = 500;
const MAX_MESSAGE_BYTES = 4096;

interface Row {
  receipt: string;
}

export function openReceipts(store: Store, kept: Retention = KEPT): Receipts {
  const sql = store.syncTables("tools", MIGRATIONS);
  // The first of a process trims: many short lives would otherwise never come to it.
  let sinceTrim = TRIM_EVERY - 1;
  let bytesSinceTrim = 0;
  return {
    add(receipt) {
      const insert = "INSERT INTO tool_receipts (id, tool, receipt) VALUES (?, ?, ?)";
      const text = JSON.stringify(shorten(receipt));
      return sql.batch(() => {
        sql.run(insert, receipt.id, receipt.tool, text);
        sinceTrim++;
        bytesSinceTrim += text.length;
        if (sinceTrim >= Math.min(TRIM_EVERY, kept.count) || bytesSinceTrim > kept.bytes / 8) {
          sinceTrim = 0;
          bytesSinceTrim = 0;
          trim(sql, kept);
        }
      });
    },
    list({ tool = null, user = null, limit = 20 } = {}) {
      return sql
        .all<Row>(
          `SELECT receipt FROM tool_receipts
           WHERE (?1 IS NULL OR tool = ?1) AND (?2 IS NULL OR receipt ->> 'user' = ?2)
           ORDER BY number DESC LIMIT ?3`,
          tool,
          user,
          limit,
        )
        .map(parse);
    },
    find(id) {
      const row = sql.get<Row>("SELECT receipt FROM tool_receipts WHERE id = ?", id);
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
function trim(sql: SyncSql, { count, bytes }: Retention): void {
  sql.run(
    `DELETE FROM tool_receipts WHERE number IN (
       SELECT number FROM (
         SELECT number, row_number() OVER newest AS place, sum(length(receipt)) OVER newest AS total
         FROM tool_receipts WINDOW newest AS (ORDER BY number DESC)
       ) WHERE place > ? OR total > ?
     )`,
    count,
    bytes,
  );
}
