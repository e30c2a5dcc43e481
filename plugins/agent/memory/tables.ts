/** Memory's tables: documents, their earlier texts, the word index and the vectors of their passages. */

export const MIGRATIONS = [
  `CREATE TABLE memory_documents (
    id INTEGER PRIMARY KEY,
    user TEXT NOT NULL,
    owner TEXT NOT NULL,
    path TEXT NOT NULL,
    text TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    version INTEGER NOT NULL,
    embedded INTEGER NOT NULL DEFAULT 0,
    updated_at TEXT NOT NULL,
    UNIQUE (user, path)
  ) STRICT;
  CREATE INDEX memory_unembedded ON memory_documents (id) WHERE embedded < version;

  CREATE TABLE memory_versions (
    document INTEGER NOT NULL REFERENCES memory_documents (id) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    text TEXT NOT NULL,
    written_at TEXT NOT NULL,
    PRIMARY KEY (document, version)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE memory_vectors (
    id INTEGER PRIMARY KEY,
    document INTEGER NOT NULL REFERENCES memory_documents (id) ON DELETE CASCADE,
    user TEXT NOT NULL,
    signs BLOB NOT NULL,
    vector BLOB NOT NULL
  ) STRICT;
  CREATE INDEX memory_vectors_by_document ON memory_vectors (document);
  CREATE INDEX memory_vectors_by_user ON memory_vectors (user);

  CREATE VIRTUAL TABLE memory_words USING fts5 (
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
  END;`,
] as const;
