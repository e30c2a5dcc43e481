/** The tables: people, who they are at an identity provider and in channels, their tokens, browser sessions and invitations. */
import { defineTables } from "../../../kernel/kit/store.ts";

const NOW = {
  sqlite: "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')",
  postgres: `to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
};

export const MIGRATIONS = defineTables(
  ({ engine, text, integer, keyed }) => `
  CREATE TABLE gateway_users (
    id ${text} PRIMARY KEY, role ${text} NOT NULL, created_at ${text} NOT NULL, name ${text}
  ) ${keyed};
  INSERT INTO gateway_users (id, role, created_at) VALUES ('operator', 'operator', ${NOW[engine]});

  CREATE TABLE gateway_tokens (
    id ${text} PRIMARY KEY,
    "user" ${text} NOT NULL REFERENCES gateway_users (id) ON DELETE CASCADE,
    name ${text} NOT NULL,
    hash ${text} NOT NULL UNIQUE,
    created_at ${text} NOT NULL,
    expires_at ${text},
    last_used_at ${text},
    revoked_at ${text},
    -- What a token may use, as JSON; null for everything.
    scope ${text}
  ) ${keyed};
  CREATE INDEX gateway_tokens_by_user ON gateway_tokens ("user");

  CREATE TABLE gateway_sessions (
    hash ${text} PRIMARY KEY,
    id ${text} UNIQUE,
    "user" ${text} NOT NULL REFERENCES gateway_users (id) ON DELETE CASCADE,
    source ${text} NOT NULL,
    browser ${text},
    created_at ${text} NOT NULL,
    expires_at ${text} NOT NULL,
    last_used_at ${text}
  ) ${keyed};
  CREATE INDEX gateway_sessions_by_user ON gateway_sessions ("user");

  CREATE TABLE gateway_invitations (
    id ${text} PRIMARY KEY,
    "user" ${text} NOT NULL REFERENCES gateway_users (id) ON DELETE CASCADE,
    hash ${text} NOT NULL UNIQUE,
    created_at ${text} NOT NULL,
    expires_at ${text} NOT NULL
  ) ${keyed};
  CREATE INDEX gateway_invitations_by_user ON gateway_invitations ("user");

  CREATE TABLE gateway_identities (
    issuer ${text} NOT NULL,
    subject ${text} NOT NULL,
    "user" ${text} NOT NULL UNIQUE REFERENCES gateway_users (id) ON DELETE CASCADE,
    created_at ${text} NOT NULL,
    PRIMARY KEY (issuer, subject)
  ) ${keyed};

  -- Which account an identity of a channel is.
  CREATE TABLE gateway_pairings (
    identity ${text} PRIMARY KEY, account ${text} NOT NULL, account_since ${text} NOT NULL, paired_at ${text} NOT NULL
  ) ${keyed};

  -- Users who were removed and whose data was kept: it is not for the next who gets the name.
  CREATE TABLE gateway_kept_data (id ${text} PRIMARY KEY, removed_at ${text} NOT NULL) ${keyed};

  -- What several nodes on one database share: their operator's token, sealed, and the tokens that each of them accepts.
  CREATE TABLE gateway_fleet (name ${text} PRIMARY KEY, sealed ${text} NOT NULL) ${keyed};
  CREATE TABLE gateway_operator_tokens (
    hash ${text} NOT NULL, node ${text} NOT NULL, source ${text} NOT NULL, PRIMARY KEY (hash, node)
  ) ${keyed};
  CREATE INDEX gateway_operator_tokens_by_source ON gateway_operator_tokens (source);

  CREATE TABLE gateway_guesses (
    network ${text} PRIMARY KEY, failures ${integer} NOT NULL, next_at ${integer} NOT NULL, failed_at ${integer} NOT NULL
  ) ${keyed};`,
);
