/** The gateway's tables: people, who they are elsewhere, their tokens and their browser sessions. */
export const MIGRATIONS = [
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
];
