/** The tables of requests. */
const SQLITE = [
  `CREATE TABLE responses (
    id TEXT PRIMARY KEY,
    user TEXT NOT NULL,
    thread TEXT NOT NULL,
    created_at TEXT NOT NULL,
    echo TEXT NOT NULL,
    input TEXT NOT NULL,
    error TEXT,
    repeat_key TEXT,
    digest TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX responses_by_thread ON responses (thread);
  CREATE INDEX responses_by_key ON responses (user, repeat_key, created_at) WHERE repeat_key IS NOT NULL;`,

  // A key is its first request's, for as long as it holds. The newest comes last, since ids are made in order of time.
  `UPDATE responses SET repeat_key = NULL WHERE repeat_key IS NOT NULL AND EXISTS (
    SELECT 1 FROM responses AS later
    WHERE later.user = responses.user AND later.repeat_key = responses.repeat_key AND later.id > responses.id);
  DROP INDEX responses_by_key;
  CREATE UNIQUE INDEX responses_by_key ON responses (user, repeat_key) WHERE repeat_key IS NOT NULL;`,

  // Replays: a row holds what is new in it. What many requests of a thread say again is kept once.
  `ALTER TABLE responses ADD COLUMN goes_on TEXT;
  ALTER TABLE responses ADD COLUMN input_digest TEXT;
  ALTER TABLE responses ADD COLUMN tools TEXT;
  ALTER TABLE responses ADD COLUMN instructions TEXT;
  ALTER TABLE responses ADD COLUMN settings TEXT;
  CREATE INDEX responses_by_digest ON responses (user, input_digest, id) WHERE input_digest IS NOT NULL;
  CREATE INDEX responses_by_origin ON responses (goes_on) WHERE goes_on IS NOT NULL;
  CREATE TABLE response_texts (
    thread TEXT NOT NULL,
    digest TEXT NOT NULL,
    user TEXT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (thread, digest)
  ) STRICT, WITHOUT ROWID;`,

  // The turn of one in the background and its thread: empty until it has ended, null for others.
  `ALTER TABLE responses ADD COLUMN ran_turn TEXT;
  ALTER TABLE responses ADD COLUMN ran_thread TEXT;`,

  "CREATE INDEX responses_by_ran ON responses (ran_thread) WHERE ran_thread IS NOT NULL;",
];

const POSTGRES = [
  `CREATE TABLE responses (
    id TEXT COLLATE "C" PRIMARY KEY,
    "user" TEXT COLLATE "C" NOT NULL,
    thread TEXT COLLATE "C" NOT NULL,
    created_at TEXT COLLATE "C" NOT NULL,
    echo TEXT COLLATE "C" NOT NULL,
    input TEXT COLLATE "C" NOT NULL,
    error TEXT COLLATE "C",
    repeat_key TEXT COLLATE "C",
    digest TEXT COLLATE "C"
  );
  CREATE INDEX responses_by_thread ON responses (thread);
  CREATE UNIQUE INDEX responses_by_key ON responses ("user", repeat_key) WHERE repeat_key IS NOT NULL;`,

  `ALTER TABLE responses ADD COLUMN goes_on TEXT COLLATE "C";
  ALTER TABLE responses ADD COLUMN input_digest TEXT COLLATE "C";
  ALTER TABLE responses ADD COLUMN tools TEXT COLLATE "C";
  ALTER TABLE responses ADD COLUMN instructions TEXT COLLATE "C";
  ALTER TABLE responses ADD COLUMN settings TEXT COLLATE "C";
  CREATE INDEX responses_by_digest ON responses ("user", input_digest, id) WHERE input_digest IS NOT NULL;
  CREATE INDEX responses_by_origin ON responses (goes_on) WHERE goes_on IS NOT NULL;
  CREATE TABLE response_texts (
    thread TEXT COLLATE "C" NOT NULL,
    digest TEXT COLLATE "C" NOT NULL,
    "user" TEXT COLLATE "C" NOT NULL,
    text TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (thread, digest)
  );`,

  `ALTER TABLE responses ADD COLUMN ran_turn TEXT COLLATE "C";
  ALTER TABLE responses ADD COLUMN ran_thread TEXT COLLATE "C";`,

  "CREATE INDEX responses_by_ran ON responses (ran_thread) WHERE ran_thread IS NOT NULL;",
];

export const MIGRATIONS = { sqlite: SQLITE, postgres: POSTGRES };
