/** What the channel itself keeps; its jobs are the agent's. */

export const MIGRATIONS = [
  `CREATE TABLE webhook_callbacks (
    job TEXT PRIMARY KEY,
    attempts INTEGER NOT NULL DEFAULT 0,
    -- In milliseconds; null until the job completes.
    due_at INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX webhook_callbacks_due ON webhook_callbacks (due_at) WHERE due_at IS NOT NULL;`,
];
