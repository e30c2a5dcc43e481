/** The agent's tables. A turn is a row and its items are rows, so that appending a turn costs that turn. */
import { type AgingRows, defineTables, type KeptBytes, type OwnedTables } from "../../../kernel/kit/store.ts";
import { indexAllThreads, threadTexts } from "./texts.ts";

/** The number of a row says which thread and which message it is: see `texts.ts`. The texts are there, and not kept twice. */
const SQLITE_TEXTS = `CREATE VIRTUAL TABLE thread_texts USING fts5 (
    text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
  );`;

/**
 * A message is under its item's id, a title under its thread's. Every search walks over the rows that PostgreSQL has not yet sorted into the
 * index: as few as it allows.
 */
const POSTGRES_TEXTS = `CREATE TABLE thread_texts (
    source TEXT COLLATE "C" PRIMARY KEY,
    thread TEXT COLLATE "C" NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    words TSVECTOR NOT NULL
  );
  CREATE INDEX thread_texts_words ON thread_texts USING GIN (words) WITH (gin_pending_list_limit = 64);
  CREATE INDEX thread_texts_by_thread ON thread_texts (thread);`;

export const MIGRATIONS = defineTables(
  ({ engine, text, integer, real, bytes, serial, strict, keyed }) => `
  CREATE TABLE threads (
    seq ${serial},
    id ${text} NOT NULL UNIQUE,
    "user" ${text} NOT NULL,
    title ${text} NOT NULL,
    -- Who gave the title: the first message, a model or a person. Null for the first message of a thread that a model may name.
    titled_by ${text},
    -- The channel that began it.
    channel ${text} NOT NULL,
    created_at ${text} NOT NULL,
    updated_at ${text} NOT NULL,
    turns ${integer} NOT NULL DEFAULT 0,
    -- Of its turns that have ended, with their items.
    bytes ${integer} NOT NULL DEFAULT 0,
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
    model ${text},
    -- When its user put it into the bin; null for one that is not there.
    binned_at ${text}
  ) ${strict};
  CREATE INDEX threads_by_user ON threads ("user", updated_at DESC, id DESC, bytes);
  CREATE INDEX threads_waiting ON threads ("user") WHERE gate IS NOT NULL;
  CREATE INDEX threads_pinned ON threads ("user", updated_at DESC, id DESC) WHERE pinned = 1;
  CREATE INDEX threads_binned ON threads ("user", binned_at DESC, id DESC) WHERE binned_at IS NOT NULL;

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
    -- What its message told of memory and missions, as JSON.
    news ${text},
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
    completed_at ${text}
  ) ${strict};
  CREATE INDEX turns_by_thread ON turns (thread, seq);
  CREATE INDEX turns_open ON turns (thread, seq) WHERE status IN ('queued', 'running');
  CREATE INDEX turns_branching ON turns (thread, seq) WHERE parent_seq IS NOT NULL;

  -- A row for each turn that has ended: what it cost is still counted when its thread is gone.
  CREATE TABLE turn_figures (
    created_at ${text} NOT NULL,
    turn ${text} NOT NULL,
    seq ${integer} NOT NULL,
    "user" ${text} NOT NULL,
    channel ${text} NOT NULL,
    provider ${text} NOT NULL,
    model ${text} NOT NULL,
    status ${text} NOT NULL,
    input_tokens ${integer} NOT NULL,
    output_tokens ${integer} NOT NULL,
    usd ${real} NOT NULL,
    estimated_usd ${real} NOT NULL DEFAULT 0,
    -- Of the input, what providers had cached, and what that saved.
    cached_tokens ${integer} NOT NULL DEFAULT 0,
    saved_usd ${real} NOT NULL DEFAULT 0,
    millis ${integer} NOT NULL,
    PRIMARY KEY (created_at, turn)
  ) ${keyed};

  -- The person's newest answers at approval gates, for their own eyes.
  CREATE TABLE answered_questions (
    gate ${text} NOT NULL PRIMARY KEY,
    "user" ${text} NOT NULL,
    answered_at ${text} NOT NULL,
    yes ${integer} NOT NULL,
    millis ${integer} NOT NULL
  ) ${keyed};
  CREATE INDEX answered_questions_by_user ON answered_questions ("user", answered_at DESC);

  -- What the row of a waiting turn does not say of it, as JSON: for one that may wait until after a restart.
  CREATE TABLE queued_turns (
    turn ${text} NOT NULL PRIMARY KEY REFERENCES turns (id) ON DELETE CASCADE,
    request ${text} NOT NULL
  ) ${strict};

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

  -- What came of a turn when it was replayed with another model, as JSON.
  CREATE TABLE replays (
    turn ${text} NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    provider ${text} NOT NULL,
    model ${text} NOT NULL,
    body ${text} NOT NULL,
    PRIMARY KEY (turn, provider, model)
  ) ${keyed};

  -- What calls of the agent's own tools have done for a job that may be run again.
  CREATE TABLE recorded_calls (
    seq ${serial},
    id ${text} NOT NULL UNIQUE,
    job ${text} NOT NULL,
    turn ${text} NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    -- A digest of the tool and its params.
    asked ${text} NOT NULL,
    -- What a person has to look at, such as a path.
    about ${text} NOT NULL,
    -- As JSON: by which the tool can tell whether it was done.
    note ${text},
    -- As JSON; null where it may not have been done.
    outcome ${text}
  ) ${strict};
  CREATE INDEX recorded_calls_by_job ON recorded_calls (job, seq);
  CREATE INDEX recorded_calls_by_turn ON recorded_calls (turn);

  ${engine === "sqlite" ? SQLITE_TEXTS : POSTGRES_TEXTS}

  -- Files that came with messages and outputs, with the text of those that are not text themselves.
  CREATE TABLE attachments (
    id ${text} NOT NULL,
    thread ${text} NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    mime ${text} NOT NULL,
    name ${text},
    data ${bytes} NOT NULL,
    text ${bytes},
    -- As JSON; null for what does not come from the workspace.
    origins ${text},
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
    origins ${text},
    expires_at ${text} NOT NULL
  ) ${strict};
  CREATE INDEX uploads_by_user ON uploads ("user", expires_at);

  CREATE TABLE approvals (
    "user" ${text} NOT NULL, tool ${text} NOT NULL, decision ${text} NOT NULL, fingerprint ${text},
    PRIMARY KEY ("user", tool)
  ) ${keyed};`,
);

const OPEN = "('queued', 'running')";

/**
 * Not what somebody pinned, and nothing that waits for an answer or for its turn. The tables `jobs` and `conversations` belong to
 * the plugin `jobs` and are read here all the same: a job that is submitted meanwhile must keep its thread, so the condition has to
 * hold in the transaction that deletes. The store makes every owner's tables before it deletes anything that is old.
 */
const OLD_THREADS: AgingRows = {
  kind: "threads",
  table: "threads",
  key: "id",
  order: "seq",
  time: "updated_at",
  when: `pinned = 0 AND gate IS NULL AND pending IS NULL AND ephemeral = 0
    AND NOT EXISTS (SELECT 1 FROM turns WHERE turns.thread = threads.id AND turns.status IN ${OPEN})
    AND threads.id NOT IN (SELECT jobs.thread FROM jobs WHERE jobs.status IN ${OPEN} AND jobs.thread IS NOT NULL)
    AND threads.id NOT IN (
      SELECT conversations.thread FROM jobs JOIN conversations
        ON conversations."user" = jobs."user" AND conversations.name = jobs.conversation
      WHERE jobs.status IN ${OPEN})`,
  bytes: `(SELECT COALESCE(sum(octet_length(turn_items.body)), 0) FROM turn_items JOIN turns ON turns.id = turn_items.turn
      WHERE turns.thread = threads.id)
    + (SELECT COALESCE(sum(octet_length(data)), 0) FROM attachments WHERE attachments.thread = threads.id)`,
  async removeRest(tx, engine, keys) {
    await threadTexts({ engine }).removeThreads(tx, keys);
    await tx.run(`DELETE FROM conversations WHERE thread IN (${keys.map(() => "?").join()})`, ...keys);
  },
};

/** Adds what an ended turn has to the bytes of its thread. The turn is this node's, or nothing is added. */
export const COUNT_TURN = `UPDATE threads SET bytes = bytes + coalesce((
    SELECT octet_length(input) + coalesce(octet_length(instructions), 0) + coalesce(octet_length(context), 0)
      + coalesce(octet_length(outside), 0)
      + coalesce((SELECT sum(octet_length(body)) FROM turn_items WHERE turn = turns.id), 0)
    FROM turns WHERE turns.id = ? AND node = ?), 0)
  WHERE id = ?`;

const OWN_THREADS = 'thread IN (SELECT id FROM threads WHERE "user" = ?)';
const KEEPS: readonly KeptBytes[] = [
  { kind: "threads", bytes: 'SELECT sum(bytes) FROM threads WHERE "user" = ?' },
  { kind: "threads", bytes: `SELECT sum(octet_length(tools)) FROM thread_tools WHERE ${OWN_THREADS}` },
  {
    kind: "files",
    bytes: `SELECT sum(octet_length(data) + coalesce(octet_length(text), 0)) FROM attachments WHERE ${OWN_THREADS}`,
  },
  {
    kind: "files",
    bytes: 'SELECT sum(octet_length(data) + coalesce(octet_length(text), 0)) FROM uploads WHERE "user" = ?',
  },
];

export const TABLES: readonly OwnedTables[] = [
  {
    owner: "agent",
    migrations: MIGRATIONS,
    derived: ["thread_texts"],
    derive: indexAllThreads,
    ages: [OLD_THREADS],
    keeps: KEEPS,
    personal: ["approvals", "uploads", "turn_figures", "answered_questions"],
  },
];
