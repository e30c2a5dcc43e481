/** Moves what the webhook's senders kept under an account's name to the identity that they speak for now. */

import { webhookIdentity } from "../../../kernel/kit.ts";
import type { Migrations, Transaction } from "../../../kernel/plugin.ts";
import { giveDocuments } from "../memory/giving.ts";

export const MIGRATIONS: Migrations = { sqlite: [moveWebhookMemory], postgres: [] };

/**
 * A document, or mission, is the webhook's where all of it was written while a turn of its threads called the tool
 * that writes one. What an account has written as well stays with the account. Runs after the turns have moved.
 */
async function moveWebhookMemory(tx: Transaction): Promise<void> {
  await tx.run(`CREATE TEMP TABLE webhook_calls AS
    SELECT DISTINCT user, created_at, coalesce(completed_at, '9999') AS completed_at,
      json_extract(body, '$.call.name') AS tool
    FROM turns JOIN turn_items ON turn_items.turn = turns.id
    WHERE user >= 'webhook/' AND user < 'webhook0' AND json_extract(body, '$.type') = 'tool_call'
      AND json_extract(body, '$.call.name') IN ('memory_write', 'mission_create')`);
  await tx.run("CREATE INDEX temp.webhook_calls_by_user ON webhook_calls (user, tool, created_at)");
  const called = (tool: string, user: string, at: string) =>
    `EXISTS (SELECT 1 FROM webhook_calls AS call WHERE call.user = 'webhook/' || ${user} AND call.tool = '${tool}'
       AND ${at} BETWEEN call.created_at AND call.completed_at)`;
  const written = await tx.all<{ id: number; user: string }>(
    `SELECT id, user FROM memory_documents AS document
     WHERE EXISTS (SELECT 1 FROM webhook_calls WHERE user = 'webhook/' || document.user)
       AND NOT EXISTS (SELECT 1 FROM memory_versions AS version
         WHERE version.document = document.id AND NOT ${called("memory_write", "document.user", "written_at")})`,
  );
  for (const [user, rows] of Map.groupBy(written, (row) => row.user)) {
    const only = new Set(rows.map(({ id }) => id));
    await giveDocuments(tx, "sqlite", { from: user, to: webhookIdentity(user), folder: "webhook", only });
  }
  await tx.run(
    `UPDATE missions SET user = 'webhook/' || user WHERE ${called("mission_create", "missions.user", "missions.created_at")}`,
  );
  await tx.run("DROP TABLE temp.webhook_calls");
}
