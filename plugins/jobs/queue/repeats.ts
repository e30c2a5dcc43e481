/** Jobs that were submitted before: under the same key, or as the same signed message. */
import { createHash } from "node:crypto";
import { Fault, type Sql, type Transaction } from "../../../kernel/plugin.ts";
import type { NewJob } from "../services.ts";
import { COLUMNS, type JobRow } from "./row.ts";

const DAY_MS = 86_400_000;

/** Only the store can tell which of two that come at the same moment, perhaps on two nodes, was first. */
export async function findEarlier(
  tx: Transaction,
  engine: Sql["engine"],
  job: NewJob,
  fingerprint: string,
): Promise<JobRow | undefined> {
  const scope = [job.channel, job.sender ?? ""];
  const names = [
    ...(job.canBeReplayed === true ? [JSON.stringify([...scope, "message", fingerprint])] : []),
    ...(job.idempotencyKey === undefined ? [] : [JSON.stringify([...scope, job.user, job.idempotencyKey])]),
  ];
  if (names.length === 0) return undefined;
  const newest = (condition: string, ...values: readonly string[]) =>
    tx.get<JobRow>(
      `SELECT ${COLUMNS} FROM jobs WHERE ${condition} AND channel = ? AND sender = ? AND created_at > ?
       ORDER BY seq DESC LIMIT 1`,
      ...values,
      ...scope,
      daysAgo(1),
    );
  // In one order everywhere, so that no two wait for each other.
  const locked = names.toSorted().map((name) => lock(tx, engine, name));
  const [replayed, repeated] = await Promise.all([
    job.canBeReplayed === true ? newest("fingerprint = ?", fingerprint) : undefined,
    job.idempotencyKey === undefined
      ? undefined
      : newest('"user" = ? AND idempotency_key = ?', job.user, job.idempotencyKey),
    ...locked,
  ]);
  if (repeated && repeated.fingerprint !== null && repeated.fingerprint !== fingerprint) {
    const message = "This Idempotency-Key was used with a different body. Use a new key for each request.";
    throw new Fault("invalid", "idempotency_key_reused", message, { param: "Idempotency-Key" });
  }
  return replayed ?? repeated;
}

/** Holds others with the same name off until the transaction is over. SQLite has one writer. */
async function lock(tx: Transaction, engine: Sql["engine"], name: string): Promise<void> {
  if (engine === "sqlite") return;
  await tx.run("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))", `postern jobs ${name}`);
}

export function fingerprintOf({ message, conversation, metadata, turn }: NewJob): string {
  return createHash("sha256")
    .update(JSON.stringify([message, conversation, metadata, ...(turn ? [turn] : [])]))
    .digest("hex");
}

export function daysAgo(days: number): string {
  return new Date(Date.now() - days * DAY_MS).toISOString();
}
