/** The tables: people, who they are at an identity provider, their tokens and their browser sessions. */
import type { Migrations } from "../../../kernel/plugin.ts";

const SQLITE = [
  `CREATE TABLE gateway_users (
    id TEXT PRIMARY KEY, role TEXT NOT NULL, created_at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  INSERT INTO gateway_users VALUES ('operator', 'operator', strftime('%Y-%m-%dT%H:%M:%fZ', 'now'));

  CREATE TABLE gateway_tokens (
    id TEXT PRIMARY KEY,
    user TEXT NOT NULL REFERENCES gateway_users (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    created_at TEXT NOT NULL,
    expires_at TEXT,
    last_used_at TEXT,
    revoked_at TEXT
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE gateway_sessions (
    hash TEXT PRIMARY KEY,
    user TEXT NOT NULL REFERENCES gateway_users (id) ON DELETE CASCADE,
    source TEXT NOT NULL,
    created_at TEXT NOT NULL,
    expires_at TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;`,

  // Before this a person of an identity provider was an e-mail address, which another could claim. Their sessions end; their accounts
  // wait for the first who proves the address, or who has the subject in "oidc:<subject>".
  `ALTER TABLE gateway_users ADD COLUMN name TEXT;
  CREATE TABLE gateway_identities (
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    user TEXT NOT NULL UNIQUE REFERENCES gateway_users (id) ON DELETE CASCADE,
    created_at TEXT NOT NULL,
    PRIMARY KEY (issuer, subject)
  ) STRICT, WITHOUT ROWID;
  DELETE FROM gateway_sessions WHERE source = 'oidc';`,

  `ALTER TABLE gateway_sessions ADD COLUMN id TEXT;
  UPDATE gateway_sessions SET id = lower(hex(randomblob(16)));
  CREATE UNIQUE INDEX gateway_sessions_by_id ON gateway_sessions (id);
  ALTER TABLE gateway_sessions ADD COLUMN browser TEXT;
  ALTER TABLE gateway_sessions ADD COLUMN last_used_at TEXT;
  -- Users who were removed and whose data was kept: it is not for the next who gets the name.
  CREATE TABLE gateway_kept_data (id TEXT PRIMARY KEY, removed_at TEXT NOT NULL) STRICT, WITHOUT ROWID;`,

  // What several nodes on one database share: their operator's token, sealed, and the tokens that each of them accepts.
  `CREATE TABLE gateway_fleet (name TEXT PRIMARY KEY, sealed TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE gateway_operator_tokens (
    hash TEXT NOT NULL, node TEXT NOT NULL, source TEXT NOT NULL, PRIMARY KEY (hash, node)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX gateway_operator_tokens_by_source ON gateway_operator_tokens (source);
  CREATE TABLE gateway_guesses (
    network TEXT PRIMARY KEY, failures INTEGER NOT NULL, next_at INTEGER NOT NULL, failed_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;`,

  // What a token may use, as JSON; null for everything.
  "ALTER TABLE gateway_tokens ADD COLUMN scope TEXT;",
];

const POSTGRES = [
  `CREATE TABLE gateway_users (
    id TEXT COLLATE "C" PRIMARY KEY,
    role TEXT COLLATE "C" NOT NULL,
    created_at TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C"
  );
  INSERT INTO gateway_users (id, role, created_at)
  VALUES ('operator', 'operator', to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'));

  CREATE TABLE gateway_tokens (
    id TEXT COLLATE "C" PRIMARY KEY,
    "user" TEXT COLLATE "C" NOT NULL REFERENCES gateway_users (id) ON DELETE CASCADE,
    name TEXT COLLATE "C" NOT NULL,
    hash TEXT COLLATE "C" NOT NULL UNIQUE,
    created_at TEXT COLLATE "C" NOT NULL,
    expires_at TEXT COLLATE "C",
    last_used_at TEXT COLLATE "C",
    revoked_at TEXT COLLATE "C"
  );
  CREATE INDEX gateway_tokens_by_user ON gateway_tokens ("user");

  CREATE TABLE gateway_sessions (
    hash TEXT COLLATE "C" PRIMARY KEY,
    "user" TEXT COLLATE "C" NOT NULL REFERENCES gateway_users (id) ON DELETE CASCADE,
    source TEXT COLLATE "C" NOT NULL,
    created_at TEXT COLLATE "C" NOT NULL,
    expires_at TEXT COLLATE "C" NOT NULL,
    id TEXT COLLATE "C" UNIQUE,
    browser TEXT COLLATE "C",
    last_used_at TEXT COLLATE "C"
  );
  CREATE INDEX gateway_sessions_by_user ON gateway_sessions ("user");

  CREATE TABLE gateway_identities (
    issuer TEXT COLLATE "C" NOT NULL,
    subject TEXT COLLATE "C" NOT NULL,
    "user" TEXT COLLATE "C" NOT NULL UNIQUE REFERENCES gateway_users (id) ON DELETE CASCADE,
    created_at TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (issuer, subject)
  );
  CREATE TABLE gateway_kept_data (id TEXT COLLATE "C" PRIMARY KEY, removed_at TEXT COLLATE "C" NOT NULL);

  CREATE TABLE gateway_fleet (name TEXT COLLATE "C" PRIMARY KEY, sealed TEXT COLLATE "C" NOT NULL);
  CREATE TABLE gateway_operator_tokens (
    hash TEXT COLLATE "C" NOT NULL,
    node TEXT COLLATE "C" NOT NULL,
    source TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (hash, node)
  );
  CREATE INDEX gateway_operator_tokens_by_source ON gateway_operator_tokens (source);
  CREATE TABLE gateway_guesses (
    network TEXT COLLATE "C" PRIMARY KEY, failures BIGINT NOT NULL, next_at BIGINT NOT NULL, failed_at BIGINT NOT NULL
  );`,

  'ALTER TABLE gateway_tokens ADD COLUMN scope TEXT COLLATE "C";',
];

export const MIGRATIONS = { sqlite: SQLITE, postgres: POSTGRES } satisfies Migrations;
