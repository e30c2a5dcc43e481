/** Tasks, each with the turn that it works for, and the purse of each tree. */
import { type AgingRows, defineTables } from "../../kernel/kit/store.ts";

export const MIGRATIONS = defineTables(
  ({ text, integer, real, serial, strict, keyed }) => `
  CREATE TABLE task_trees (
    -- The job at its root, or the turn where it is no job's.
    root ${text} PRIMARY KEY,
    "user" ${text} NOT NULL,
    budget_usd ${real},
    -- By the turn at the root, and by all tasks together.
    root_usd ${real} NOT NULL,
    spent_usd ${real} NOT NULL DEFAULT 0
  ) ${keyed};

  CREATE TABLE tasks (
    seq ${serial},
    -- Of its job, too.
    id ${text} NOT NULL UNIQUE,
    "user" ${text} NOT NULL,
    root ${text} NOT NULL,
    root_thread ${text} NOT NULL,
    parent ${text},
    parent_thread ${text} NOT NULL,
    parent_turn ${text} NOT NULL,
    call ${text} NOT NULL,
    -- The job whose turn asked, and what it asked for: the next attempt of that job finds its task by these.
    owner ${text},
    asked ${text} NOT NULL,
    depth ${integer} NOT NULL,
    title ${text} NOT NULL,
    is_background ${integer} NOT NULL,
    is_scoped ${integer} NOT NULL,
    is_unattended ${integer} NOT NULL,
    -- 1 where the end is owed to the thread of the parent, as a turn there.
    wakes ${integer} NOT NULL,
    status ${text} NOT NULL,
    error ${text},
    thread ${text},
    calls ${text} NOT NULL DEFAULT '[]',
    origins ${text} NOT NULL DEFAULT '[]',
    usage ${text},
    answer ${text},
    budget_usd ${real},
    spent_usd ${real} NOT NULL DEFAULT 0,
    deadline_at ${integer} NOT NULL,
    created_at ${text} NOT NULL,
    completed_at ${text},
    UNIQUE (parent_turn, call, asked)
  ) ${strict};
  CREATE INDEX tasks_open ON tasks (seq) WHERE completed_at IS NULL;
  CREATE INDEX tasks_waking ON tasks (seq) WHERE wakes = 1 AND completed_at IS NOT NULL;
  CREATE INDEX tasks_by_root ON tasks (root, seq);
  CREATE INDEX tasks_by_root_thread ON tasks (root_thread, seq);
  CREATE INDEX tasks_by_parent_thread ON tasks (parent_thread, seq);
  CREATE INDEX tasks_by_owner ON tasks (owner, asked) WHERE owner IS NOT NULL;
  CREATE INDEX tasks_by_user ON tasks ("user", seq);`,
);

export const OLD_TASKS: AgingRows = {
  kind: "tasks",
  table: "tasks",
  key: "id",
  order: "seq",
  time: "completed_at",
  when: "completed_at IS NOT NULL",
  bytes: "octet_length(title) + COALESCE(octet_length(answer), 0)",
  removeRest: (tx) =>
    tx.run(
      "DELETE FROM task_trees WHERE NOT EXISTS (SELECT 1 FROM tasks WHERE tasks.root = task_trees.root)",
    ),
};
