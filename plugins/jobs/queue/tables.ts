/** The tables of jobs, and of the thread that each conversation goes on with; which jobs may go when they are old. */
import { type AgingRows, defineTables, type KeptBytes } from "../../../kernel/kit/store.ts";

export const MIGRATIONS = defineTables(
  ({ text, integer, serial, strict, keyed }) => `
  CREATE TABLE jobs (
    seq ${serial},
    id ${text} NOT NULL UNIQUE,
    "user" ${text} NOT NULL,
    channel ${text} NOT NULL,
    sender ${text} NOT NULL DEFAULT '',
    fingerprint ${text},
    message ${text} NOT NULL,
    -- What the turn is made of, as JSON, where it is more than a message.
    request ${text},
    origin ${text},
    spans ${text},
    conversation ${text},
    metadata ${text},
    idempotency_key ${text},
    status ${text} NOT NULL,
    held ${integer} NOT NULL DEFAULT 0,
    -- 1 if it was begun while another of its conversation ran, to be heard by that one's turn.
    joined ${integer} NOT NULL DEFAULT 0,
    attempts ${integer} NOT NULL DEFAULT 0,
    thread ${text},
    turn ${text},
    response ${text},
    error ${text},
    -- The outcome of its callback, as JSON.
    callback ${text},
    stop_asked ${integer} NOT NULL DEFAULT 0,
    -- The node that runs it.
    node ${text},
    created_at ${text} NOT NULL,
    started_at ${text},
    completed_at ${text}
  ) ${strict};
  -- A conversation has one running job at a time, whoever claims them, and those that joined it.
  CREATE UNIQUE INDEX jobs_one_running ON jobs ("user", conversation) WHERE status = 'running' AND joined = 0;
  CREATE INDEX jobs_by_user ON jobs ("user", seq);
  CREATE INDEX jobs_by_status ON jobs (status, seq);
  CREATE INDEX jobs_by_user_and_status ON jobs ("user", status, seq);
  CREATE INDEX jobs_waiting ON jobs ("user", seq) WHERE status = 'queued' AND held = 0;
  CREATE INDEX jobs_held ON jobs ("user", seq) WHERE status = 'queued' AND held = 1;
  CREATE INDEX jobs_by_key ON jobs ("user", idempotency_key) WHERE idempotency_key IS NOT NULL;
  CREATE INDEX jobs_by_fingerprint ON jobs (fingerprint) WHERE fingerprint IS NOT NULL;
  CREATE INDEX jobs_failed ON jobs (seq) WHERE error IS NOT NULL;

  CREATE TABLE conversations (
    "user" ${text} NOT NULL, name ${text} NOT NULL, thread ${text} NOT NULL, PRIMARY KEY ("user", name)
  ) ${keyed};`,
);

export const OLD_JOBS: AgingRows = {
  kind: "jobs",
  table: "jobs",
  key: "id",
  order: "seq",
  time: "completed_at",
  when: "status = 'completed'",
  bytes: "octet_length(message) + COALESCE(octet_length(response), 0)",
};

export const KEEPS: readonly KeptBytes[] = [
  {
    kind: "jobs",
    bytes: `SELECT sum(octet_length(message) + coalesce(octet_length(request), 0) + coalesce(octet_length(metadata), 0)
      + coalesce(octet_length(response), 0)) FROM jobs WHERE "user" = ?`,
  },
];
