/** The agent's tables. A turn is a row and its items are rows, so that appending a turn costs that turn. */

const SQLITE = [
  `CREATE TABLE threads (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    user TEXT NOT NULL,
    title TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    turns INTEGER NOT NULL DEFAULT 0,
    gate TEXT,
    pending TEXT,
    tools TEXT,
    summary TEXT,
    summarised_to INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX threads_by_user ON threads (user, updated_at DESC, id DESC);
  CREATE INDEX threads_waiting ON threads (user) WHERE gate IS NOT NULL;

  CREATE TABLE turns (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    thread TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    user TEXT NOT NULL,
    channel TEXT NOT NULL,
    status TEXT NOT NULL,
    input TEXT NOT NULL,
    instructions TEXT,
    context TEXT,
    error TEXT,
    gate TEXT,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    usage TEXT,
    wrote INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL,
    completed_at TEXT
  ) STRICT;
  CREATE INDEX turns_by_thread ON turns (thread, seq);
  CREATE INDEX turns_open ON turns (status) WHERE status IN ('queued', 'running');

  CREATE TABLE turn_items (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    turn TEXT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX turn_items_by_turn ON turn_items (turn, seq);

  -- A message is at its item's number, a title at minus its thread's.
  CREATE VIRTUAL TABLE thread_texts USING fts5 (text, thread UNINDEXED, tokenize = 'unicode61 remove_diacritics 2');

  CREATE TABLE approvals (
    user TEXT NOT NULL, tool TEXT NOT NULL, decision TEXT NOT NULL, PRIMARY KEY (user, tool)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE spending (
    user TEXT NOT NULL, day TEXT NOT NULL, usd REAL NOT NULL, PRIMARY KEY (user, day)
  ) STRICT, WITHOUT ROWID;`,

  `CREATE TABLE jobs (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    user TEXT NOT NULL,
    channel TEXT NOT NULL,
    message TEXT NOT NULL,
    conversation TEXT,
    metadata TEXT,
    idempotency_key TEXT,
    status TEXT NOT NULL,
    thread TEXT,
    turn TEXT,
    response TEXT,
    error TEXT,
    stop_asked INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL,
    completed_at TEXT
  ) STRICT;
  CREATE INDEX jobs_by_user ON jobs (user, seq);
  CREATE INDEX jobs_by_status ON jobs (status, seq);
  CREATE INDEX jobs_by_user_and_status ON jobs (user, status, seq);
  CREATE INDEX jobs_waiting ON jobs (user, seq) WHERE status = 'queued';
  CREATE INDEX jobs_by_key ON jobs (user, idempotency_key) WHERE idempotency_key IS NOT NULL;

  CREATE TABLE conversations (
    user TEXT NOT NULL, name TEXT NOT NULL, thread TEXT NOT NULL, PRIMARY KEY (user, name)
  ) STRICT, WITHOUT ROWID;`,

  `ALTER TABLE jobs ADD COLUMN sender TEXT NOT NULL DEFAULT '';
  -- Null for jobs of before.
  ALTER TABLE jobs ADD COLUMN fingerprint TEXT;
  CREATE INDEX jobs_by_fingerprint ON jobs (fingerprint) WHERE fingerprint IS NOT NULL;`,
  // What was allowed before was allowed to a name, whatever bore it: it is asked for once more.
  `DELETE FROM approvals WHERE decision = 'allow';
  ALTER TABLE approvals ADD COLUMN fingerprint TEXT;`,

  `CREATE TABLE turn_pieces (
    seq INTEGER PRIMARY KEY,
    turn TEXT NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    item TEXT NOT NULL,
    text TEXT NOT NULL
  ) STRICT;
  CREATE INDEX turn_pieces_by_turn ON turn_pieces (turn, seq);`,

  // Before this the webhook's senders could name any account. What they made moves to identities of their own.
  `UPDATE threads SET user = 'webhook/' || user
   WHERE (SELECT channel FROM turns WHERE thread = threads.id ORDER BY seq LIMIT 1) = 'webhook';
  UPDATE turns SET user = (SELECT user FROM threads WHERE id = turns.thread)
   WHERE user <> (SELECT user FROM threads WHERE id = turns.thread);
  UPDATE OR REPLACE conversations SET user = 'webhook/' || user
   WHERE (SELECT user FROM threads WHERE id = conversations.thread) = 'webhook/' || user;
  UPDATE jobs SET user = 'webhook/' || user WHERE channel = 'webhook';`,

  // Tools whose failure fails the turn, for the one that answers the gate.
  "ALTER TABLE threads ADD COLUMN required TEXT;",

  `CREATE TABLE pairings (
    identity TEXT PRIMARY KEY, account TEXT NOT NULL, account_since TEXT NOT NULL, paired_at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  ALTER TABLE jobs ADD COLUMN held INTEGER NOT NULL DEFAULT 0;
  DROP INDEX jobs_waiting;
  CREATE INDEX jobs_waiting ON jobs (user, seq) WHERE status = 'queued' AND held = 0;
  CREATE INDEX jobs_held ON jobs (user, seq) WHERE status = 'queued' AND held = 1;`,

  // What people outside wrote, as JSON.
  `ALTER TABLE turns ADD COLUMN outside TEXT;
  ALTER TABLE jobs ADD COLUMN origin TEXT;
  ALTER TABLE jobs ADD COLUMN spans TEXT;`,

  // Those of one thread, however many turns it has.
  `DROP INDEX turns_open;
  CREATE INDEX turns_open ON turns (thread, seq) WHERE status IN ('queued', 'running');`,

  // Who is at it. Of a conversation one job runs at a time, whoever claims them.
  `ALTER TABLE turns ADD COLUMN node TEXT;
  ALTER TABLE turns ADD COLUMN stop_asked INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE jobs ADD COLUMN node TEXT;
  CREATE UNIQUE INDEX jobs_one_running ON jobs (user, conversation) WHERE status = 'running';`,

  // Of tokens that have a cap of their own.
  `CREATE TABLE token_spending (
    token TEXT NOT NULL, day TEXT NOT NULL, user TEXT NOT NULL, usd REAL NOT NULL, PRIMARY KEY (token, day)
  ) STRICT, WITHOUT ROWID;`,

  // A turn that does not go on from the one before it on its thread: a branch.
  `ALTER TABLE turns ADD COLUMN parent_seq INTEGER;
  ALTER TABLE threads ADD COLUMN branched INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX turns_branching ON turns (thread, seq) WHERE parent_seq IS NOT NULL;`,

  // Why an answer is not whole; whether a piece is text or reasoning, null for text.
  `ALTER TABLE turns ADD COLUMN incomplete TEXT;
  ALTER TABLE turn_pieces ADD COLUMN type TEXT;`,

  // How long the deltas in it are, as a JSON array, where the turn keeps them.
  "ALTER TABLE turn_pieces ADD COLUMN cuts TEXT;",

  // What the turn of a job is made of, as JSON, where it is more than a message.
  "ALTER TABLE jobs ADD COLUMN request TEXT;",
  // Threads that go when their turn ends.
  "ALTER TABLE threads ADD COLUMN ephemeral INTEGER NOT NULL DEFAULT 0;",

  // What came with messages and outputs besides their text.
  `CREATE TABLE attachments (
    id TEXT NOT NULL,
    thread TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    mime TEXT NOT NULL,
    name TEXT,
    data BLOB NOT NULL,
    PRIMARY KEY (id, thread)
  ) STRICT;
  CREATE INDEX attachments_by_thread ON attachments (thread);`,

  // The caller's tools, apart from the thread: they are large, and a row is rewritten whole whatever changes in it.
  `CREATE TABLE thread_tools (
    thread TEXT NOT NULL PRIMARY KEY REFERENCES threads (id) ON DELETE CASCADE,
    digest TEXT NOT NULL,
    tools TEXT NOT NULL
  ) STRICT;
  INSERT INTO thread_tools (thread, digest, tools) SELECT id, '', tools FROM threads WHERE tools IS NOT NULL;
  ALTER TABLE threads DROP COLUMN tools;`,

  // Where calls may go although somebody else named it. Empty: of every user, of every tool.
  `CREATE TABLE destinations (
    user TEXT NOT NULL, tool TEXT NOT NULL, value TEXT NOT NULL, added_at TEXT NOT NULL, PRIMARY KEY (user, tool, value)
  ) STRICT, WITHOUT ROWID;`,

  // How often a job was begun, and when last; what became of its callback, as JSON.
  `ALTER TABLE jobs ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE jobs ADD COLUMN started_at TEXT;
  ALTER TABLE jobs ADD COLUMN callback TEXT;
  CREATE INDEX jobs_failed ON jobs (seq) WHERE error IS NOT NULL;`,

  // The text of a file that is none itself; and files that no message has come with yet.
  `ALTER TABLE attachments ADD COLUMN text BLOB;
  CREATE TABLE uploads (
    id TEXT PRIMARY KEY,
    user TEXT NOT NULL,
    mime TEXT NOT NULL,
    name TEXT NOT NULL,
    size INTEGER NOT NULL,
    data BLOB NOT NULL,
    text BLOB,
    expires_at TEXT NOT NULL
  ) STRICT;
  CREATE INDEX uploads_by_user ON uploads (user, expires_at);`,

  // Threads that are listed before all others.
  `ALTER TABLE threads ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX threads_pinned ON threads ("user", updated_at DESC, id DESC) WHERE pinned = 1;`,

  // The model that was chosen for a thread; null for the configured one.
  `ALTER TABLE threads ADD COLUMN provider TEXT;
  ALTER TABLE threads ADD COLUMN model TEXT;`,

  // What is counted of a turn, when it has ended: apart from its texts, which are long.
  `ALTER TABLE turns ADD COLUMN input_tokens INTEGER;
  ALTER TABLE turns ADD COLUMN output_tokens INTEGER;
  ALTER TABLE turns ADD COLUMN usd REAL;
  ALTER TABLE turns ADD COLUMN millis INTEGER;
  UPDATE turns SET input_tokens = COALESCE(usage ->> 'inputTokens', 0), output_tokens = COALESCE(usage ->> 'outputTokens', 0),
    usd = CAST(COALESCE(usage ->> 'totalCost', '0') AS REAL),
    millis = MAX(0, CAST(ROUND((julianday(completed_at) - julianday(created_at)) * 86400000) AS INTEGER))
    WHERE completed_at IS NOT NULL AND (usage IS NOT NULL OR status = 'failed');
  CREATE INDEX turns_by_time ON turns (created_at, user, channel, provider, model, status, input_tokens, output_tokens, usd, millis, seq)
    WHERE millis IS NOT NULL;`,
];

const POSTGRES = [
  `CREATE TABLE threads (
    seq BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    "user" TEXT COLLATE "C" NOT NULL,
    title TEXT COLLATE "C" NOT NULL,
    created_at TEXT COLLATE "C" NOT NULL,
    updated_at TEXT COLLATE "C" NOT NULL,
    turns BIGINT NOT NULL DEFAULT 0,
    gate TEXT COLLATE "C",
    pending TEXT COLLATE "C",
    tools TEXT COLLATE "C",
    summary TEXT COLLATE "C",
    summarised_to BIGINT NOT NULL DEFAULT 0,
    required TEXT COLLATE "C"
  );
  CREATE INDEX threads_by_user ON threads ("user", updated_at DESC, id DESC);
  CREATE INDEX threads_waiting ON threads ("user") WHERE gate IS NOT NULL;

  CREATE TABLE turns (
    seq BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    thread TEXT COLLATE "C" NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    "user" TEXT COLLATE "C" NOT NULL,
    channel TEXT COLLATE "C" NOT NULL,
    status TEXT COLLATE "C" NOT NULL,
    input TEXT COLLATE "C" NOT NULL,
    instructions TEXT COLLATE "C",
    context TEXT COLLATE "C",
    outside TEXT COLLATE "C",
    error TEXT COLLATE "C",
    gate TEXT COLLATE "C",
    provider TEXT COLLATE "C" NOT NULL,
    model TEXT COLLATE "C" NOT NULL,
    usage TEXT COLLATE "C",
    wrote BIGINT NOT NULL DEFAULT 0,
    stop_asked BIGINT NOT NULL DEFAULT 0,
    node TEXT COLLATE "C",
    created_at TEXT COLLATE "C" NOT NULL,
    completed_at TEXT COLLATE "C"
  );
  CREATE INDEX turns_by_thread ON turns (thread, seq);
  CREATE INDEX turns_open ON turns (thread, seq) WHERE status IN ('queued', 'running');

  CREATE TABLE turn_items (
    seq BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    turn TEXT COLLATE "C" NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    body TEXT COLLATE "C" NOT NULL
  );
  CREATE INDEX turn_items_by_turn ON turn_items (turn, seq);

  CREATE TABLE turn_pieces (
    seq BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    turn TEXT COLLATE "C" NOT NULL REFERENCES turns (id) ON DELETE CASCADE,
    item TEXT COLLATE "C" NOT NULL,
    text TEXT COLLATE "C" NOT NULL
  );
  CREATE INDEX turn_pieces_by_turn ON turn_pieces (turn, seq);

  -- A message is under its item's id, a title under its thread's.
  CREATE TABLE thread_texts (
    source TEXT COLLATE "C" PRIMARY KEY,
    thread TEXT COLLATE "C" NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    words TSVECTOR NOT NULL
  );
  CREATE INDEX thread_texts_words ON thread_texts USING GIN (words);
  CREATE INDEX thread_texts_by_thread ON thread_texts (thread);

  CREATE TABLE approvals (
    "user" TEXT COLLATE "C" NOT NULL,
    tool TEXT COLLATE "C" NOT NULL,
    decision TEXT COLLATE "C" NOT NULL,
    fingerprint TEXT COLLATE "C",
    PRIMARY KEY ("user", tool)
  );

  CREATE TABLE spending (
    "user" TEXT COLLATE "C" NOT NULL,
    day TEXT COLLATE "C" NOT NULL,
    usd DOUBLE PRECISION NOT NULL,
    PRIMARY KEY ("user", day)
  );

  CREATE TABLE jobs (
    seq BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    id TEXT COLLATE "C" NOT NULL UNIQUE,
    "user" TEXT COLLATE "C" NOT NULL,
    channel TEXT COLLATE "C" NOT NULL,
    sender TEXT COLLATE "C" NOT NULL DEFAULT '',
    fingerprint TEXT COLLATE "C",
    message TEXT COLLATE "C" NOT NULL,
    conversation TEXT COLLATE "C",
    metadata TEXT COLLATE "C",
    idempotency_key TEXT COLLATE "C",
    status TEXT COLLATE "C" NOT NULL,
    held BIGINT NOT NULL DEFAULT 0,
    origin TEXT COLLATE "C",
    spans TEXT COLLATE "C",
    thread TEXT COLLATE "C",
    turn TEXT COLLATE "C",
    response TEXT COLLATE "C",
    error TEXT COLLATE "C",
    stop_asked BIGINT NOT NULL DEFAULT 0,
    node TEXT COLLATE "C",
    created_at TEXT COLLATE "C" NOT NULL,
    completed_at TEXT COLLATE "C"
  );
  CREATE UNIQUE INDEX jobs_one_running ON jobs ("user", conversation) WHERE status = 'running';
  CREATE INDEX jobs_by_user ON jobs ("user", seq);
  CREATE INDEX jobs_by_status ON jobs (status, seq);
  CREATE INDEX jobs_by_user_and_status ON jobs ("user", status, seq);
  CREATE INDEX jobs_waiting ON jobs ("user", seq) WHERE status = 'queued' AND held = 0;
  CREATE INDEX jobs_held ON jobs ("user", seq) WHERE status = 'queued' AND held = 1;
  CREATE INDEX jobs_by_key ON jobs ("user", idempotency_key) WHERE idempotency_key IS NOT NULL;
  CREATE INDEX jobs_by_fingerprint ON jobs (fingerprint) WHERE fingerprint IS NOT NULL;

  CREATE TABLE conversations (
    "user" TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    thread TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY ("user", name)
  );

  CREATE TABLE pairings (
    identity TEXT COLLATE "C" PRIMARY KEY,
    account TEXT COLLATE "C" NOT NULL,
    account_since TEXT COLLATE "C" NOT NULL,
    paired_at TEXT COLLATE "C" NOT NULL
  );`,

  `CREATE TABLE token_spending (
    token TEXT COLLATE "C" NOT NULL,
    day TEXT COLLATE "C" NOT NULL,
    "user" TEXT COLLATE "C" NOT NULL,
    usd DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (token, day)
  );`,

  // A turn that does not go on from the one before it on its thread: a branch.
  `ALTER TABLE turns ADD COLUMN parent_seq BIGINT;
  ALTER TABLE threads ADD COLUMN branched BIGINT NOT NULL DEFAULT 0;
  CREATE INDEX turns_branching ON turns (thread, seq) WHERE parent_seq IS NOT NULL;`,

  // Why an answer is not whole; whether a piece is text or reasoning, null for text.
  `ALTER TABLE turns ADD COLUMN incomplete TEXT COLLATE "C";
  ALTER TABLE turn_pieces ADD COLUMN type TEXT COLLATE "C";`,

  'ALTER TABLE turn_pieces ADD COLUMN cuts TEXT COLLATE "C";',

  // What the turn of a job is made of, as JSON, where it is more than a message.
  'ALTER TABLE jobs ADD COLUMN request TEXT COLLATE "C";',
  // Threads that go when their turn ends.
  "ALTER TABLE threads ADD COLUMN ephemeral BIGINT NOT NULL DEFAULT 0;",

  // What came with messages and outputs besides their text.
  `CREATE TABLE attachments (
    id TEXT COLLATE "C" NOT NULL,
    thread TEXT COLLATE "C" NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    mime TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C",
    data BYTEA NOT NULL,
    PRIMARY KEY (id, thread)
  );
  CREATE INDEX attachments_by_thread ON attachments (thread);`,

  // The caller's tools, apart from the thread: they are large, and a row is rewritten whole whatever changes in it.
  `CREATE TABLE thread_tools (
    thread TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES threads (id) ON DELETE CASCADE,
    digest TEXT COLLATE "C" NOT NULL,
    tools TEXT COLLATE "C" NOT NULL
  );
  INSERT INTO thread_tools (thread, digest, tools) SELECT id, '', tools FROM threads WHERE tools IS NOT NULL;
  ALTER TABLE threads DROP COLUMN tools;`,

  // Where calls may go although somebody else named it. Empty: of every user, of every tool.
  `CREATE TABLE destinations (
    "user" TEXT COLLATE "C" NOT NULL,
    tool TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C" NOT NULL,
    added_at TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY ("user", tool, value)
  );`,

  // How often a job was begun, and when last; what became of its callback, as JSON.
  `ALTER TABLE jobs ADD COLUMN attempts BIGINT NOT NULL DEFAULT 0;
  ALTER TABLE jobs ADD COLUMN started_at TEXT COLLATE "C";
  ALTER TABLE jobs ADD COLUMN callback TEXT COLLATE "C";
  CREATE INDEX jobs_failed ON jobs (seq) WHERE error IS NOT NULL;`,

  // The text of a file that is none itself; and files that no message has come with yet.
  `ALTER TABLE attachments ADD COLUMN text BYTEA;
  CREATE TABLE uploads (
    id TEXT COLLATE "C" PRIMARY KEY,
    "user" TEXT COLLATE "C" NOT NULL,
    mime TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    size BIGINT NOT NULL,
    data BYTEA NOT NULL,
    text BYTEA,
    expires_at TEXT COLLATE "C" NOT NULL
  );
  CREATE INDEX uploads_by_user ON uploads ("user", expires_at);`,

  // Threads that are listed before all others.
  `ALTER TABLE threads ADD COLUMN pinned BIGINT NOT NULL DEFAULT 0;
  CREATE INDEX threads_pinned ON threads ("user", updated_at DESC, id DESC) WHERE pinned = 1;`,

  // The model that was chosen for a thread; null for the configured one.
  `ALTER TABLE threads ADD COLUMN provider TEXT COLLATE "C";
  ALTER TABLE threads ADD COLUMN model TEXT COLLATE "C";`,

  // What is counted of a turn, when it has ended: apart from its texts, which are long.
  `ALTER TABLE turns ADD COLUMN input_tokens BIGINT;
  ALTER TABLE turns ADD COLUMN output_tokens BIGINT;
  ALTER TABLE turns ADD COLUMN usd DOUBLE PRECISION;
  ALTER TABLE turns ADD COLUMN millis BIGINT;
  UPDATE turns SET input_tokens = COALESCE((usage::json ->> 'inputTokens')::bigint, 0),
    output_tokens = COALESCE((usage::json ->> 'outputTokens')::bigint, 0),
    usd = COALESCE((usage::json ->> 'totalCost')::double precision, 0),
    millis = GREATEST(0, ROUND(EXTRACT(EPOCH FROM completed_at::timestamptz - created_at::timestamptz) * 1000))
    WHERE completed_at IS NOT NULL AND (usage IS NOT NULL OR status = 'failed');
  CREATE INDEX turns_by_time ON turns (created_at, "user", channel, provider, model, status, input_tokens, output_tokens, usd, millis, seq)
    WHERE millis IS NOT NULL;`,
];

export const MIGRATIONS = { sqlite: SQLITE, postgres: POSTGRES };
