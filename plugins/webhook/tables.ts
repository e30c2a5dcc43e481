/** The channel's own tables; its jobs are the agent's. */
import { defineTables } from "../../kernel/kit/store.ts";

export const MIGRATIONS = defineTables(
  ({ text, integer, keyed }) => `
  CREATE TABLE webhook_callbacks (
    job ${text} PRIMARY KEY,
    -- The sender's own name for the user, which is not the user of the job.
    user_id ${text} NOT NULL,
    attempts ${integer} NOT NULL DEFAULT 0,
    -- In milliseconds; null until the job completes.
    due_at ${integer},
    -- The node that sends it; it is then due when its lease ends.
    holder ${text},
    -- The trace that the submission came with: the callback is part of it.
    traceparent ${text}
  ) ${keyed};
  CREATE INDEX webhook_callbacks_due ON webhook_callbacks (due_at) WHERE due_at IS NOT NULL;

  CREATE TABLE webhook_integrations (
    name ${text} PRIMARY KEY,
    id ${text} NOT NULL UNIQUE,
    "user" ${text} NOT NULL,
    account_since ${text},
    message ${text},
    created_at ${text} NOT NULL,
    last_used_at ${text}
  ) ${keyed};`,
);
