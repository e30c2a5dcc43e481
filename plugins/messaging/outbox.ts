/** What goes out. A row from the commit that accepts the message on, whose words come when the job has completed. */
import { randomUUIDv7 } from "node:crypto";
import type { Sql, Transaction } from "../../kernel/plugin.ts";
import { nowOf } from "./lease.ts";
import type { ChatService, OutboxEntry, OutboxStatus, SentMessage } from "./services.ts";

/** What shows an answer as it grows. Without an id nobody knows yet whether the service took it. */
type Preview = Partial<SentMessage>;

/** One message of an answer, as it is stored. */
export interface Part {
  readonly text: string;
  readonly html?: string | undefined;
  readonly buttons?: readonly { readonly text: string; readonly value: string }[] | undefined;
  readonly files?: readonly FileRef[] | undefined;
}

/** A file of the user that goes along; its bytes are read when it is sent. */
export interface FileRef {
  readonly name: string;
  readonly mime: string;
  /** Of a workspace, with the version that was written, or of an attachment. */
  readonly path?: string | undefined;
  readonly version?: number | undefined;
  readonly attachment?: string | undefined;
}

export interface Content {
  readonly parts: readonly Part[];
  /** The gate that the last part asks about. */
  readonly gate?: string | undefined;
}

/** Whom something is said to, and in which conversation. */
export interface Recipient {
  readonly conversation: string;
  readonly line: string;
  readonly user: string;
  readonly reply?: unknown;
}

export interface OutboxRow {
  readonly seq: number;
  readonly id: string;
  readonly job: string | null;
  readonly conversation: string;
  readonly line: string;
  readonly user: string;
  readonly reply: string | null;
  readonly content: string;
  readonly done: number;
  readonly unsure: number;
  readonly attempts: number;
  readonly preview: string | null;
  readonly created_at: string;
}

export interface OwedRow {
  readonly job: string;
  readonly conversation: string;
  readonly line: string;
  readonly user: string;
}

export interface Failed {
  readonly status: "waiting" | "unknown" | "dead";
  readonly message: string;
  readonly isUnsure: boolean;
  readonly attempts: number;
  readonly millis: number;
}

const PAGE_SIZE = 200;
const MAX_SHOWN = 200;
/** What is said beside answers does not wait for them. */
const ASIDE = "aside ";
const COLUMNS =
  'seq, id, job, conversation, line, "user", reply, content, done, unsure, attempts, preview, created_at';

export type OutboxTable = ReturnType<typeof openOutbox>;

export function openOutbox(sql: Sql, channel: string, node: string) {
  const now = nowOf(sql.engine);
  const insert = (
    tx: Transaction,
    { conversation, line, user, reply }: Recipient,
    row: { readonly status: string; readonly job?: string; readonly content?: Content },
  ): Promise<number> =>
    tx.run(
      `INSERT INTO messaging_outbox (id, channel, conversation, line, "user", job, reply, content, status, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ...[randomUUIDv7(), channel, conversation, line, user, row.job ?? null],
      ...[
        reply === undefined ? null : JSON.stringify(reply),
        row.content ? JSON.stringify(row.content) : null,
      ],
      ...[row.status, new Date().toISOString()],
    );

  return {
    /** The answer of this job is owed, in the order of its line. */
    owe: (tx: Transaction, to: Recipient, job: string, isHeld = false) =>
      insert(tx, to, { status: isHeld ? "held" : "owed", job }),
    /** Says this in the order of its line. */
    say: (tx: Transaction, to: Recipient, content: Content) => insert(tx, to, { status: "waiting", content }),
    /** Says this without waiting for answers that are owed. */
    sayAside: (tx: Transaction, to: Recipient, content: Content) =>
      insert(tx, { ...to, line: ASIDE + to.line }, { status: "waiting", content }),

    owed: (after = ""): Promise<readonly OwedRow[]> =>
      sql.all<OwedRow>(
        `SELECT job, conversation, line, "user" FROM messaging_outbox
         WHERE channel = ? AND status IN ('owed', 'held') AND job > ? ORDER BY job LIMIT ${PAGE_SIZE}`,
        ...[channel, after],
      ),
    owedIn: (line: string): Promise<readonly OwedRow[]> =>
      sql.all<OwedRow>(
        `SELECT job, conversation, line, "user" FROM messaging_outbox
         WHERE channel = ? AND line = ? AND status = 'owed' ORDER BY seq`,
        ...[channel, line],
      ),
    /** With what each answers, and the message that shows it already. */
    owedBy: (user: string): Promise<readonly (OwedRow & Pick<OutboxRow, "reply" | "preview">)[]> =>
      sql.all(
        `SELECT job, conversation, line, "user", reply, preview FROM messaging_outbox
         WHERE "user" = ? AND channel = ? AND status = 'owed' ORDER BY seq LIMIT ${PAGE_SIZE}`,
        ...[user, channel],
      ),
    async countUnsent(line: string): Promise<number> {
      const row = await sql.get<{ count: number }>(
        "SELECT count(*) AS count FROM messaging_outbox WHERE channel = ? AND line = ? AND status NOT IN ('dead', 'unknown')",
        ...[channel, line],
      );
      return Number(row?.count);
    },
    /** Those who wait for an answer, or were asked something. */
    async users(): Promise<ReadonlySet<string>> {
      const rows = await sql.all<{ user: string }>(
        `SELECT "user" FROM messaging_outbox WHERE channel = ? AND status = 'owed'
         UNION SELECT "user" FROM messaging_gates WHERE channel = ?`,
        ...[channel, channel],
      );
      return new Set(rows.map(({ user }) => user));
    },
    findOwed: (job: string): Promise<OwedRow | undefined> =>
      sql.get<OwedRow>(
        `SELECT job, conversation, line, "user" FROM messaging_outbox WHERE job = ? AND channel = ? AND content IS NULL`,
        ...[job, channel],
      ),
    /** False where it was filled in before. */
    fill: async (tx: Transaction, job: string, content: Content): Promise<boolean> =>
      (await tx.run(
        "UPDATE messaging_outbox SET content = ?, status = 'waiting', due_at = 0 WHERE job = ? AND channel = ? AND status = 'owed'",
        ...[JSON.stringify(content), job, channel],
      )) > 0,
    /** Nothing is said to it after all. */
    forgetOwed: (job: string, tx: Transaction) =>
      tx.run("DELETE FROM messaging_outbox WHERE job = ? AND channel = ? AND content IS NULL", job, channel),
    /** The answer is gone, and with it what could be sent. */
    loseOwed: (job: string, message: string) =>
      sql.run(
        "UPDATE messaging_outbox SET status = 'dead', message = ? WHERE job = ? AND channel = ? AND status = 'owed'",
        ...[message, job, channel],
      ),

    /** Takes the next of each line that is due, for this node alone while it holds the channel. */
    claim: (limit: number): Promise<OutboxRow[]> =>
      sql.all<OutboxRow>(
        `UPDATE messaging_outbox SET status = 'sending', holder = ? WHERE status = 'waiting' AND seq IN (
           SELECT seq FROM messaging_outbox AS one WHERE channel = ? AND status = 'waiting' AND due_at <= ${now}
             AND NOT EXISTS (SELECT 1 FROM messaging_outbox AS earlier WHERE earlier.channel = one.channel
               AND earlier.line = one.line AND earlier.seq < one.seq AND earlier.status NOT IN ('dead', 'unknown'))
           ORDER BY due_at, seq LIMIT ?)
           AND EXISTS (SELECT 1 FROM messaging_channels WHERE name = ? AND node = ?)
         RETURNING ${COLUMNS}`,
        ...[node, channel, limit, channel, node],
      ),
    /** What this node has claimed without hearing of it waits again; these are under way. */
    putBack: (underWay: readonly number[]) =>
      sql.run(
        `UPDATE messaging_outbox SET status = 'waiting', holder = NULL
         WHERE channel = ? AND status = 'sending' AND holder = ? AND seq NOT IN (${underWay.map(() => "?").join(", ") || "-1"})`,
        ...[channel, node, ...underWay],
      ),
    /** Milliseconds until something is due; undefined where nothing waits for its time. */
    async nextMillis(): Promise<number | undefined> {
      const row = await sql.get<{ millis: number | null }>(
        `SELECT min(due_at) - ${now} AS millis FROM messaging_outbox WHERE channel = ? AND status = 'waiting' AND due_at > ${now}`,
        channel,
      );
      return row?.millis == null ? undefined : Math.max(1, Number(row.millis));
    },
    /** One of several messages was sent. False where another node has it by now. */
    sentOne: async ({ seq, done }: Pick<OutboxRow, "seq" | "done">): Promise<boolean> =>
      (await sql.run(
        `UPDATE messaging_outbox SET done = ?, unsure = 0, attempts = 0 WHERE seq = ? AND holder = ? AND status = 'sending'`,
        ...[done + 1, seq, node],
      )) > 0,
    sentAll: ({ seq }: Pick<OutboxRow, "seq">, gate: string | undefined, sent: SentMessage): Promise<void> =>
      sql.transaction(async (tx) => {
        const at = new Date().toISOString();
        void tx.run("DELETE FROM messaging_outbox WHERE seq = ? AND holder = ?", seq, node);
        if (gate !== undefined)
          void tx.run(
            "UPDATE messaging_gates SET sent = ? WHERE id = ?",
            JSON.stringify({ ...sent, at }),
            gate,
          );
        await tx.run("UPDATE messaging_channels SET sent_at = ? WHERE name = ?", at, channel);
      }),
    fail: ({ seq }: Pick<OutboxRow, "seq">, { status, message, isUnsure, attempts, millis }: Failed) =>
      sql.run(
        `UPDATE messaging_outbox SET status = ?, message = ?, unsure = ?, attempts = ?, due_at = ${now} + CAST(? AS BIGINT), holder = NULL
         WHERE seq = ? AND holder = ? AND status = 'sending'`,
        ...[status, message, isUnsure ? 1 : 0, attempts, millis, seq, node],
      ),
    /** Whoever sent these is gone, or has lost the channel since: it is unknown how far it came. Nothing may be under way here. */
    recover: (status: "waiting" | "unknown") =>
      sql.run(
        `UPDATE messaging_outbox SET status = ?, unsure = 1, due_at = 0, holder = NULL, message = ?
         WHERE channel = ? AND status = 'sending'`,
        ...[status, "The service stopped while this was being sent.", channel],
      ),
    /** An earlier message of its line is still to be sent. */
    isBehind: async (job: string): Promise<boolean> =>
      (await sql.get(
        `SELECT 1 AS found FROM messaging_outbox AS one WHERE job = ? AND channel = ? AND EXISTS (SELECT 1 FROM messaging_outbox AS earlier
           WHERE earlier.channel = one.channel AND earlier.line = one.line AND earlier.seq < one.seq
           AND earlier.status IN ('owed', 'waiting', 'sending'))`,
        ...[job, channel],
      )) !== undefined,
    /** The message that shows an answer as it grows; without one it is about to be sent. */
    notePreview: (job: string, preview: Preview) =>
      sql.run(
        "UPDATE messaging_outbox SET preview = ? WHERE job = ? AND channel = ?",
        ...[JSON.stringify(preview), job, channel],
      ),
  };
}

interface ListedRow extends Omit<OutboxRow, "content"> {
  readonly channel: string;
  readonly status: OutboxStatus;
  readonly content: string | null;
  readonly message: string | null;
  readonly due_at: number;
}

/** The outbox of all channels, for operators. */
export function openLetters(sql: Sql) {
  return {
    async list({
      channel,
      status,
      limit = PAGE_SIZE,
      after = "",
    }: {
      channel?: string;
      status?: OutboxStatus;
      limit?: number;
      after?: string;
    } = {}): Promise<readonly OutboxEntry[]> {
      const rows = await sql.all<ListedRow>(
        `SELECT *, channel FROM messaging_outbox WHERE status ${status === undefined ? "IN ('waiting', 'sending', 'unknown', 'dead')" : "= ?"}
         ${channel === undefined ? "" : "AND channel = ?"} AND id > ? ORDER BY id LIMIT ?`,
        ...[...(status === undefined ? [] : [status]), ...(channel === undefined ? [] : [channel])],
        ...[after, Math.min(Math.max(1, limit), PAGE_SIZE)],
      );
      return rows.map((row) => ({
        id: row.id,
        channel: row.channel,
        conversation: row.conversation,
        user: row.user,
        text: firstWords(row.content),
        status: row.status,
        attempts: Number(row.attempts),
        createdAt: row.created_at,
        ...(row.status === "waiting" && Number(row.due_at) > 0
          ? { nextAt: new Date(Number(row.due_at)).toISOString() }
          : {}),
        ...(row.message === null ? {} : { message: row.message }),
      }));
    },
    retry: async (id: string): Promise<string | undefined> =>
      (
        await sql.get<{ channel: string }>(
          `UPDATE messaging_outbox SET status = 'waiting', attempts = 0, due_at = 0
           WHERE id = ? AND content IS NOT NULL AND status IN ('dead', 'unknown', 'waiting') RETURNING channel`,
          id,
        )
      )?.channel,
    drop: async (id: string): Promise<boolean> =>
      (await sql.run(
        "DELETE FROM messaging_outbox WHERE id = ? AND status IN ('dead', 'unknown', 'waiting')",
        id,
      )) > 0,
  };
}

function firstWords(content: string | null): string {
  const { parts = [] } = content === null ? {} : (JSON.parse(content) as Content);
  const text = parts[0]?.text ?? "";
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN).toWellFormed()}…` : text;
}

/** Finds the message that shows an answer as it grows, should an earlier run have sent one. */
export async function findPreview(
  service: Pick<ChatService, "lookUp">,
  { job, conversation, preview }: Pick<OutboxRow, "job" | "conversation" | "preview">,
  signal: AbortSignal,
): Promise<SentMessage | undefined> {
  if (preview === null || job === null) return undefined;
  const { id } = JSON.parse(preview) as Preview;
  return id === undefined
    ? await service.lookUp?.({ key: previewKey(job), conversation, text: "" }, signal)
    : { id };
}

export const previewKey = (job: string): string => `${job}-preview`;
