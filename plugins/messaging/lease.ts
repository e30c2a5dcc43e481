/** The lease of a channel: one node holds its connection. It counts from before it was asked for, on the holder's clock. */
import type { Log, Sql } from "../../kernel/plugin.ts";
import type { Node } from "../store/services.ts";

export interface LeaseParts {
  readonly sql: Sql;
  readonly node: Pick<Node, "id" | "living">;
  readonly channel: string;
  readonly log: Log;
  /** How long it holds without being renewed. */
  readonly leaseMillis: number;
  /** Works until the signal aborts, and rejects never. */
  hold(signal: AbortSignal): Promise<void>;
}

/** Why the signal aborts where the lease is over, and another node may begin. */
export const LEASE_LOST = "lost";

/** Milliseconds by the database's clock. */
export const nowOf = (engine: Sql["engine"]): string =>
  engine === "postgres"
    ? "(extract(epoch FROM clock_timestamp()) * 1000)::bigint"
    : "CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER)";

export async function openLease({ sql, node, channel, log, leaseMillis, hold }: LeaseParts) {
  const now = nowOf(sql.engine);
  // No other process works on an SQLite store: one that is gone cannot be cut off and still at it.
  const isGone = sql.engine === "sqlite" ? `OR node NOT IN ${node.living}` : "";
  const take = `UPDATE messaging_channels SET node = ?, lease_until = ${now} + ${leaseMillis}
    WHERE name = ? AND (node IS NULL OR node = ? OR lease_until < ${now} ${isGone})`;
  await sql.run("INSERT INTO messaging_channels (name) VALUES (?) ON CONFLICT (name) DO NOTHING", channel);

  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let held:
    | { readonly stop: AbortController; readonly ended: Promise<void>; end: NodeJS.Timeout }
    | undefined;

  const endAfter = (stop: AbortController, since: number) =>
    setTimeout(() => stop.abort(LEASE_LOST), Math.max(0, since + leaseMillis - performance.now()));

  async function renew(): Promise<void> {
    const since = performance.now();
    const isOurs = (await sql.run(take, node.id, channel, node.id)) > 0;
    if (isStopped) return;
    if (held && (!isOurs || held.stop.signal.aborted)) {
      held.stop.abort(LEASE_LOST);
      clearTimeout(held.end);
      await held.ended;
      held = undefined;
    }
    if (!isOurs || isStopped) return;
    if (held) {
      clearTimeout(held.end);
      held.end = endAfter(held.stop, since);
      return;
    }
    const stop = new AbortController();
    held = { stop, end: endAfter(stop, since), ended: hold(stop.signal) };
  }

  let renewing = Promise.resolve();
  const again = (): void => {
    renewing = renew()
      .catch((error: unknown) => log.warn({ error, channel }, "a channel's lease could not be renewed"))
      .finally(() => {
        if (!isStopped) timer = setTimeout(again, leaseMillis / 4);
      });
  };
  again();
  await renewing;

  return {
    async stop(): Promise<void> {
      isStopped = true;
      clearTimeout(timer);
      await renewing;
      clearTimeout(timer);
      clearTimeout(held?.end);
      held?.stop.abort();
      await held?.ended;
      await sql
        .run(
          "UPDATE messaging_channels SET node = NULL, lease_until = 0 WHERE name = ? AND node = ?",
          channel,
          node.id,
        )
        // Others take it over when it ends.
        .catch(() => {});
    },
  };
}
