/** Memory's tables: documents, their earlier texts, removed ones, the word index and the vectors of their passages. */
import { defineTables, type KeptBytes } from "../../kernel/kit/store.ts";
import { rowsOf } from "./word-rows.ts";

/** Each word has its user before it, and nothing is known of it but which documents hold it: see `word-index.ts`. */
const SQLITE_WORDS = `CREATE VIRTUAL TABLE memory_words USING fts5 (
    words, content = '', contentless_delete = 1, detail = none, tokenize = 'porter ascii'
  );
  CREATE TRIGGER memory_words_delete AFTER DELETE ON memory_documents BEGIN
    DELETE FROM memory_words WHERE rowid IN (${rowsOf("old.id")});
  END;`;

/** Users and stems are kept as their hashes, so that a row is small. A foreign key would be looked up for every word of a document. */
const POSTGRES_WORDS = `CREATE TABLE memory_words (
    owner BIGINT NOT NULL,
    word BIGINT NOT NULL,
    document BIGINT NOT NULL,
    PRIMARY KEY (owner, word, document)
  );
  CREATE INDEX memory_words_by_document ON memory_words (document);
  CREATE FUNCTION memory_forget_words() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM memory_words WHERE document IN (SELECT id FROM gone);
    RETURN NULL;
  END $$;
  CREATE TRIGGER memory_words_delete AFTER DELETE ON memory_documents REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION memory_forget_words();`;

export const MIGRATIONS = defineTables(
  ({ engine, text, integer, bytes, serial, strict, keyed }) => `
  CREATE TABLE memory_documents (
    id ${serial},
    "user" ${text} NOT NULL,
    path ${text} NOT NULL,
    text ${text} NOT NULL,
    bytes ${integer} NOT NULL,
    version ${integer} NOT NULL,
    embedded ${integer} NOT NULL DEFAULT 0,
    updated_at ${text} NOT NULL,
    -- Whose words it was made from, as JSON; null where they are the user's own.
    origins ${text},
    UNIQUE ("user", path)
  ) ${strict};
  CREATE INDEX memory_unembedded ON memory_documents (id) WHERE embedded < version;

  CREATE TABLE memory_versions (
    document ${integer} NOT NULL REFERENCES memory_documents (id) ON DELETE CASCADE,
    version ${integer} NOT NULL,
    text ${text} NOT NULL,
    written_at ${text} NOT NULL,
    origins ${text},
    -- Who wrote it, as JSON.
    writer ${text},
    PRIMARY KEY (document, version)
  ) ${keyed};

  CREATE TABLE memory_vectors (
    id ${serial},
    document ${integer} NOT NULL REFERENCES memory_documents (id) ON DELETE CASCADE,
    "user" ${text} NOT NULL,
    signs ${bytes} NOT NULL,
    vector ${bytes} NOT NULL,
    -- The number of the change that made it, so that those who keep some in memory can follow.
    change ${integer} NOT NULL
  ) ${strict};
  CREATE INDEX memory_vectors_by_document ON memory_vectors (document);
  CREATE INDEX memory_vectors_by_user ON memory_vectors ("user", change);
  CREATE TABLE memory_changes ("user" ${text} PRIMARY KEY, change ${integer} NOT NULL) ${keyed};
  CREATE TABLE memory_removed (
    id ${serial},
    "user" ${text} NOT NULL,
    path ${text} NOT NULL,
    version ${integer} NOT NULL,
    -- Its versions, as JSON.
    versions ${text} NOT NULL,
    removed_at ${text} NOT NULL
  ) ${strict};
  CREATE INDEX memory_removed_by_path ON memory_removed ("user", path);
  CREATE INDEX memory_removed_by_time ON memory_removed (removed_at);

  ${engine === "sqlite" ? SQLITE_WORDS : POSTGRES_WORDS}`,
);

export const KEEPS: readonly KeptBytes[] = [
  { kind: "memory", bytes: 'SELECT sum(octet_length(text)) FROM memory_documents WHERE "user" = ?' },
  {
    kind: "memory",
    bytes: `SELECT sum(octet_length(kept.text)) FROM memory_documents JOIN memory_versions AS kept ON document = id
      WHERE "user" = ?`,
  },
  { kind: "memory", bytes: 'SELECT sum(octet_length(versions)) FROM memory_removed WHERE "user" = ?' },
];
