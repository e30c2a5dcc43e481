/** The tables of messaging: channels with their position and lease, what came in, what goes out, and who asks to be paired. */
import { type AgingRows, defineTables } from "../../kernel/kit/store.ts";

export const MIGRATIONS = defineTables(
  ({ text, integer, serial, strict, keyed }) => `
  CREATE TABLE messaging_channels (
    name ${text} PRIMARY KEY,
    -- Where the service's own stream of messages was left off.
    position ${text},
    -- The node that holds the connection, until this time in milliseconds.
    node ${text},
    lease_until ${integer} NOT NULL DEFAULT 0,
    is_connected ${integer} NOT NULL DEFAULT 0,
    detail ${text} NOT NULL DEFAULT '',
    received_at ${text},
    sent_at ${text}
  ) ${keyed};

  CREATE TABLE messaging_inbox (
    seq ${serial},
    channel ${text} NOT NULL,
    -- The service's own.
    id ${text} NOT NULL,
    -- The conversation with one sender: what is in one line is dealt with in order.
    line ${text} NOT NULL,
    "user" ${text} NOT NULL,
    -- As JSON; null once it was dealt with.
    message ${text},
    job ${text},
    received_at ${text} NOT NULL,
    UNIQUE (channel, id)
  ) ${strict};
  CREATE INDEX messaging_inbox_new ON messaging_inbox (channel, seq) WHERE message IS NOT NULL;
  CREATE INDEX messaging_inbox_by_line ON messaging_inbox (channel, line, seq);
  CREATE INDEX messaging_inbox_by_user ON messaging_inbox ("user", seq);

  CREATE TABLE messaging_outbox (
    seq ${serial},
    id ${text} NOT NULL UNIQUE,
    channel ${text} NOT NULL,
    conversation ${text} NOT NULL,
    line ${text} NOT NULL,
    "user" ${text} NOT NULL,
    -- The job whose answer is owed.
    job ${text} UNIQUE,
    reply ${text},
    -- Its messages as JSON; null until the job has completed.
    content ${text},
    -- How many of them were sent.
    done ${integer} NOT NULL DEFAULT 0,
    -- held (for a pairing), owed, waiting, sending, unknown, dead
    status ${text} NOT NULL,
    -- 1 where it is not known whether the next of them was sent.
    unsure ${integer} NOT NULL DEFAULT 0,
    attempts ${integer} NOT NULL DEFAULT 0,
    due_at ${integer} NOT NULL DEFAULT 0,
    holder ${text},
    -- Why it was not sent.
    message ${text},
    -- What the service calls the message that shows the answer while it is written.
    preview ${text},
    created_at ${text} NOT NULL
  ) ${strict};
  CREATE INDEX messaging_outbox_due ON messaging_outbox (channel, due_at) WHERE status = 'waiting';
  CREATE INDEX messaging_outbox_owed ON messaging_outbox (channel, seq) WHERE status = 'owed';
  CREATE INDEX messaging_outbox_by_line ON messaging_outbox (channel, line, seq);
  CREATE INDEX messaging_outbox_by_status ON messaging_outbox (channel, status, seq);
  CREATE INDEX messaging_outbox_by_user ON messaging_outbox ("user", seq);

  CREATE TABLE messaging_conversations (
    channel ${text} NOT NULL,
    line ${text} NOT NULL,
    conversation ${text} NOT NULL,
    is_group ${integer} NOT NULL DEFAULT 0,
    "user" ${text} NOT NULL,
    -- What the jobs of its present thread are told to go on with.
    name ${text} NOT NULL,
    -- The thread that was chosen for it; null for a new one.
    thread ${text},
    -- The model that was chosen before its thread had begun.
    model ${text},
    -- The last message that became a job.
    job ${text},
    PRIMARY KEY (channel, line)
  ) ${keyed};
  CREATE INDEX messaging_conversations_by_user ON messaging_conversations ("user");

  CREATE TABLE messaging_gates (
    id ${text} PRIMARY KEY,
    channel ${text} NOT NULL,
    conversation ${text} NOT NULL,
    line ${text} NOT NULL,
    "user" ${text} NOT NULL,
    -- The sentence as it was sent and the values of its buttons, as JSON.
    content ${text} NOT NULL,
    -- What the service calls the message, and when it was sent; null until then.
    sent ${text},
    -- The answer that was given here; null while it waits.
    answer ${text},
    opened_at ${text} NOT NULL
  ) ${keyed};
  CREATE INDEX messaging_gates_by_line ON messaging_gates (channel, line);

  CREATE TABLE messaging_requests (
    "user" ${text} PRIMARY KEY,
    code ${text} NOT NULL UNIQUE,
    channel ${text} NOT NULL,
    conversation ${text} NOT NULL,
    line ${text} NOT NULL,
    reply ${text},
    name ${text},
    text ${text} NOT NULL,
    is_authentic ${integer} NOT NULL,
    asked_at ${text} NOT NULL,
    -- When the sender was last told its code.
    told_at ${text}
  ) ${keyed};`,
);

/** All but the channels belong to somebody. */
export const PERSONAL = [
  "messaging_inbox",
  "messaging_outbox",
  "messaging_conversations",
  "messaging_gates",
  "messaging_requests",
] as const;

/** What came in is kept for a while so that a repeat of it is known. */
export const OLD_MESSAGES: AgingRows = {
  kind: "messages",
  table: "messaging_inbox",
  key: "id",
  order: "seq",
  time: "received_at",
  when: "message IS NULL",
  bytes: "octet_length(id) + octet_length(line)",
};

export const DEAD_LETTERS: AgingRows = {
  kind: "dead letters",
  table: "messaging_outbox",
  key: "id",
  order: "seq",
  time: "created_at",
  when: "status IN ('dead', 'unknown')",
  bytes: "COALESCE(octet_length(content), 0)",
};
