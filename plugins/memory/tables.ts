/** Memory's tables: documents, their earlier texts, removed ones, the word index and the vectors of their passages. */
import { defineTables, type KeptBytes } from "../../kernel/kit.ts";

const SQLITE_WORDS = `CREATE VIRTUAL TABLE memory_words USING fts5 (
    owner, path, text, content = 'memory_documents', content_rowid = 'id',
    tokenize = 'porter unicode61 remove_diacritics 2'
  );
  CREATE TRIGGER memory_words_insert AFTER INSERT ON memory_documents BEGIN
    INSERT INTO memory_words (rowid, owner, path, text) VALUES (new.id, new.owner, new.path, new.text);
  END;
  CREATE TRIGGER memory_words_delete AFTER DELETE ON memory_documents BEGIN
    INSERT INTO memory_words (memory_words, rowid, owner, path, text)
    VALUES ('delete', old.id, old.owner, old.path, old.text);
  END;
  CREATE TRIGGER memory_words_update AFTER UPDATE OF text ON memory_documents BEGIN
    INSERT INTO memory_words (memory_words, rowid, owner, path, text)
    VALUES ('delete', old.id, old.owner, old.path, old.text);
    INSERT INTO memory_words (rowid, owner, path, text) VALUES (new.id, new.owner, new.path, new.text);
  END;`;

const POSTGRES_WORDS = `-- Beside the documents, so that marking one as embedded does not write its words again.
  CREATE TABLE memory_words (
    document BIGINT PRIMARY KEY REFERENCES memory_documents (id) ON DELETE CASCADE,
    "user" TEXT COLLATE "C" NOT NULL,
    words TSVECTOR NOT NULL
  );
  CREATE INDEX memory_words_by_user ON memory_words ("user", document);
  -- Documents are written seldom and searched often: nothing waits in a list that each search would have to read.
  CREATE INDEX memory_words_by_word ON memory_words USING gin (words) WITH (fastupdate = off);`;

export const MIGRATIONS = defineTables(
  ({ engine, text, integer, bytes, serial, strict, keyed }) => `
  CREATE TABLE memory_documents (
    id ${serial},
    "user" ${text} NOT NULL,
    owner ${text} NOT NULL,
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
