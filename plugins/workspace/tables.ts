/** The workspace's tables: what there is, every version of it, the sets that versions were made in, contents in parts, and mounts. */
import { defineTables, type KeptBytes } from "../../kernel/kit/store.ts";

export const MIGRATIONS = defineTables(
  ({ text, integer, bytes, serial, strict, keyed }) => `
  -- A row for each user: changes of a workspace wait for each other here, and the sums are kept.
  CREATE TABLE workspace_accounts (
    "user" ${text} PRIMARY KEY,
    bytes ${integer} NOT NULL,
    files ${integer} NOT NULL,
    folders ${integer} NOT NULL
  ) ${keyed};

  CREATE TABLE workspace_contents (
    id ${serial},
    "user" ${text} NOT NULL,
    -- Null while it comes in.
    digest ${text},
    bytes ${integer} NOT NULL,
    -- As its first bytes show.
    mime ${text} NOT NULL,
    -- When it began to come in; null where it is whole.
    staged_at ${text},
    UNIQUE ("user", digest)
  ) ${strict};
  CREATE INDEX workspace_contents_staged ON workspace_contents (staged_at) WHERE staged_at IS NOT NULL;
  CREATE TABLE workspace_parts (
    content ${integer} NOT NULL REFERENCES workspace_contents (id) ON DELETE CASCADE,
    part ${integer} NOT NULL,
    data ${bytes} NOT NULL,
    PRIMARY KEY (content, part)
  ) ${strict};

  CREATE TABLE workspace_sets (
    seq ${serial},
    "user" ${text} NOT NULL,
    id ${text} NOT NULL,
    at ${text} NOT NULL,
    turn ${text},
    -- As JSON.
    writer ${text} NOT NULL,
    undoes ${text},
    undone_by ${text},
    UNIQUE ("user", id)
  ) ${strict};
  CREATE INDEX workspace_sets_by_turn ON workspace_sets ("user", turn) WHERE turn IS NOT NULL;
  CREATE INDEX workspace_sets_by_time ON workspace_sets (at);

  CREATE TABLE workspace_versions (
    id ${serial},
    "user" ${text} NOT NULL,
    path ${text} NOT NULL,
    version ${integer} NOT NULL,
    change_set ${integer} NOT NULL REFERENCES workspace_sets (seq) ON DELETE CASCADE,
    change ${text} NOT NULL,
    -- The version that was there before; 0 where there was no file.
    previous ${integer} NOT NULL,
    -- Null where there is no file from then on.
    digest ${text},
    bytes ${integer} NOT NULL,
    -- Null where the content is not kept, too.
    content ${integer} REFERENCES workspace_contents (id) ON DELETE CASCADE,
    -- The other path of a move.
    other ${text},
    -- As JSON; origins are null where they are the person's or the model's own.
    writer ${text} NOT NULL,
    origins ${text},
    at ${text} NOT NULL,
    -- When another took its place. It goes 30 days later.
    replaced_at ${text},
    UNIQUE ("user", path, version)
  ) ${strict};
  CREATE INDEX workspace_versions_by_set ON workspace_versions (change_set, path, version);
  CREATE INDEX workspace_versions_by_content ON workspace_versions (content);
  CREATE INDEX workspace_versions_replaced ON workspace_versions (replaced_at) WHERE replaced_at IS NOT NULL;

  CREATE TABLE workspace_folder_changes (
    change_set ${integer} NOT NULL REFERENCES workspace_sets (seq) ON DELETE CASCADE,
    path ${text} NOT NULL,
    -- 1 where it was there before, or is after.
    before ${integer} NOT NULL,
    after ${integer} NOT NULL,
    PRIMARY KEY (change_set, path)
  ) ${keyed};

  CREATE TABLE workspace_entries (
    "user" ${text} NOT NULL,
    path ${text} NOT NULL,
    -- The same for names that differ only by case or form.
    folded ${text} NOT NULL,
    -- Empty for the root of a named workspace.
    parent ${text} NOT NULL,
    -- Null for a folder.
    content ${integer},
    version ${integer} NOT NULL,
    updated_at ${text} NOT NULL,
    origins ${text},
    PRIMARY KEY ("user", path),
    UNIQUE ("user", folded)
  ) ${keyed};
  CREATE INDEX workspace_entries_by_folder ON workspace_entries ("user", parent, path);

  -- Folders of a machine.
  CREATE TABLE workspace_mounts (
    id ${serial},
    name ${text} NOT NULL,
    -- Empty: everybody's.
    "user" ${text} NOT NULL,
    machine ${text} NOT NULL,
    folder ${text} NOT NULL,
    read_only ${integer} NOT NULL,
    UNIQUE ("user", name)
  ) ${strict};

  -- Files below a mount that are about to be written: after a crash this tells whose the change was.
  CREATE TABLE workspace_pending (
    "user" ${text} NOT NULL,
    path ${text} NOT NULL,
    digest ${text} NOT NULL,
    content ${integer} NOT NULL REFERENCES workspace_contents (id) ON DELETE CASCADE,
    -- The set, the writer and the origins, as JSON.
    change ${text} NOT NULL,
    at ${text} NOT NULL,
    PRIMARY KEY ("user", path)
  ) ${keyed};
  CREATE INDEX workspace_pending_by_content ON workspace_pending (content);`,
);

export const KEEPS: readonly KeptBytes[] = [
  { kind: "workspace", bytes: 'SELECT bytes FROM workspace_accounts WHERE "user" = ?' },
];
