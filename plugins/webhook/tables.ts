/** What the channel itself keeps; its jobs are the agent's. */
import type { Migrations } from "../../kernel/plugin.ts";

const SQLITE = [
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

  // The node that sends it; it is then due when its lease ends.
  "ALTER TABLE webhook_callbacks ADD COLUMN holder TEXT",

  // The trace that the submission came with: the callback is part of it.
  "ALTER TABLE webhook_callbacks ADD COLUMN traceparent TEXT",
];

const POSTGRES = [
  `CREATE TABLE webhook_callbacks (
    job TEXT COLLATE "C" PRIMARY KEY,
    attempts BIGINT NOT NULL DEFAULT 0,
    due_at BIGINT,
    user_id TEXT COLLATE "C",
    holder TEXT COLLATE "C"
  );
  CREATE INDEX webhook_callbacks_due ON webhook_callbacks (due_at) WHERE due_at IS NOT NULL;

  CREATE TABLE webhook_integrations (
    name TEXT COLLATE "C" PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    "user" TEXT COLLATE "C" NOT NULL,
    account_since TEXT COLLATE "C",
    message TEXT COLLATE "C",
    created_at TEXT COLLATE "C" NOT NULL,
    last_used_at TEXT COLLATE "C"
  );`,

  // The trace that the submission came with: the callback is part of it.
  'ALTER TABLE webhook_callbacks ADD COLUMN traceparent TEXT COLLATE "C"',
];

export const MIGRATIONS = { sqlite: SQLITE, postgres: POSTGRES } satisfies Migrations;
