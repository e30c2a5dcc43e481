/** What the channel itself keeps; its jobs are the agent's. */

export const MIGRATIONS = [
  `CREATE TABLE webhook_callbacks (
    job TEXT PRIMARY KEY,
    attempts INTEGER NOT NULL DEFAULT 0,
    -- In milliseconds; null until the job completes.
    due_at INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX webhook_callbacks_due ON webhook_callbacks (due_at) WHERE due_at IS NOT NULL;`,

  // The sender's own name for the user, which is not the user of the job; null for jobs of before.
  "ALTER TABLE webhook_callbacks ADD COLUMN user_id TEXT",

  `CREATE TABLE webhook_integrations (
    name TEXT PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    user TEXT NOT NULL,
    account_since TEXT,
    message TEXT,
    created_at TEXT NOT NULL,
    last_used_at TEXT
  ) STRICT, WITHOUT ROWID;`,
];
