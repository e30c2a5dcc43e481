/** The agent's tables. A turn is a row and its items are rows, so that appending a turn costs that turn. */
import { defineTables } from "../../../kernel/kit.ts";

/** A message is at its item's number, a title at minus its thread's. */
const SQLITE_TEXTS = `CREATE VIRTUAL TABLE thread_texts USING fts5 (
    text, thread UNINDEXED, tokenize = 'unicode61 remove_diacritics 2'
  );`;

/** A message is under its item's id, a title under its thread's. */
const POSTGRES_TEXTS = `CREATE TABLE thread_texts (
    source TEXT COLLATE "C" PRIMARY KEY,
    thread TEXT COLLATE "C" NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    words TSVECTOR NOT NULL
  );
  CREATE INDEX thread_texts_words ON thread_texts USING GIN (words);
  CREATE INDEX thread_texts_by_thread ON thread_texts (thread);`;

export const MIGRATIONS = defineTables(
  ({ engine, text, integer, real, bytes, serial, strict, keyed }) => `
  CREATE TABLE threads (
    seq ${serial},
    id ${text} NOT NULL UNIQUE,
    "user" ${text} NOT NULL,
    title ${text} NOT NULL,
    created_at ${text} NOT NULL,
    updated_at ${text} NOT NULL,
    turns ${integer} NOT NULL DEFAULT 0,
    gate ${text},
    pending ${text},
    summary ${text},
    summarised_to ${integer} NOT NULL DEFAULT 0,
    -- Tools whose failure fails the turn, for the one that answers the gate.
    required ${text},
    branched ${integer} NOT NULL DEFAULT 0,
    -- 1 for a thread that goes when its turn ends.
    ephemeral ${integer} NOT NULL DEFAULT 0,
    -- 1 for a thread that is listed before all others.
    pinned ${integer} NOT NULL DEFAULT 0,
    -- The model that was chosen for the thread; null for the configured one.
    provider ${text},
    model ${text}
  ) ${strict};
  CREATE INDEX threads_by_user ON threads ("user", updated_at DESC, id DESC);
  CREATE INDEX threads_waiting ON threads ("user") WHERE gate IS NOT NULL;
  CREATE INDEX threads_pinned ON threads ("user", updated_at DESC, id DESC) WHERE pinned = 1;

  -- The caller's tools, apart from the thread: they are large, and a row is rewritten whole whatever changes in it.
  CREATE TABLE thread_tools (
    thread ${text} NOT NULL PRIMARY KEY REFERENCES threads (id) ON DELETE CASCADE,
    digest ${text} NOT NULL,
    tools ${text} NOT NULL
  ) ${strict};

  CREATE TABLE turns (
    seq ${serial},
    id ${text} NOT NULL UNIQUE,
    thread ${text} NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    -- For a turn that does not go on from the one before it on its thread: a branch.
    parent_seq ${integer},
    "user" ${text} NOT NULL,
    channel ${text} NOT NULL,
    status ${text} NOT NULL,
    input ${text} NOT NULL,
    instructions ${text},
    context ${text},
    -- What people outside wrote, as JSON.
    outside ${text},
    error ${text},
    -- Why an answer is not whole.
    incomplete ${text},
    gate ${text},
    provider ${text} NOT NULL,
    model ${text} NOT NULL,
    usage ${text},
    wrote ${integer} NOT NULL DEFAULT 0,
    stop_asked ${integer} NOT NULL DEFAULT 0,
    -- The node that runs it.
    node ${text},
    created_at ${text} NOT NULL,
    completed_at ${text},
    -- What is counted of a turn when it has ended: apart from its texts, which are long.
    input_tokens ${integer},
    output_tokens ${integer},
    usd ${real},
    millis ${integer}
  ) ${strict};
  CREATE INDEX turns_by_thread ON turns (thread, seq);
  CREATE INDEX turns_open ON turns (thread, seq) WHERE status IN ('queued', 'running');
  CREATE INDEX turns_branching ON turns (thread, seq) WHERE parent_seq IS NOT NULL;
  CREATE INDEX turns_by_time ON turns (
    created_at, "user", channel, provider, model, status, input_tokens, output_tokens, usd, millis, seq
  ) WHERE millis IS NOT NULL;

  CREATE TABLE turn_items (
    seq ${serial},
    id ${text} NOT NULL UNIQUE,
    turn ${text} NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    body ${text} NOT NULL
  ) ${strict};
  CREATE INDEX turn_items_by_turn ON turn_items (turn, seq);

  CREATE TABLE turn_pieces (
    seq ${serial},
    turn ${text} NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    item ${text} NOT NULL,
    text ${text} NOT NULL,
    -- Null for text, else reasoning.
    type ${text},
    -- The lengths of the deltas in it, as a JSON array, where the turn keeps them.
    cuts ${text}
  ) ${strict};
  CREATE INDEX turn_pieces_by_turn ON turn_pieces (turn, seq);

  ${engine === "sqlite" ? SQLITE_TEXTS : POSTGRES_TEXTS}

  -- Files that came with messages and outputs, with the text of those that are not text themselves.
  CREATE TABLE attachments (
    id ${text} NOT NULL,
    thread ${text} NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    mime ${text} NOT NULL,
    name ${text},
    data ${bytes} NOT NULL,
    text ${bytes},
    PRIMARY KEY (id, thread)
  ) ${strict};
  CREATE INDEX attachments_by_thread ON attachments (thread);

  -- Files that no message has come with yet.
  CREATE TABLE uploads (
    id ${text} PRIMARY KEY,
    "user" ${text} NOT NULL,
    mime ${text} NOT NULL,
    name ${text} NOT NULL,
    size ${integer} NOT NULL,
    data ${bytes} NOT NULL,
    text ${bytes},
    expires_at ${text} NOT NULL
  ) ${strict};
  CREATE INDEX uploads_by_user ON uploads ("user", expires_at);

  CREATE TABLE approvals (
    "user" ${text} NOT NULL, tool ${text} NOT NULL, decision ${text} NOT NULL, fingerprint ${text},
    PRIMARY KEY ("user", tool)
  ) ${keyed};`,
);
