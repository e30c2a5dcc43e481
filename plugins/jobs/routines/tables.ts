/** Routines, and the history of each. A run is claimed by its row: one for each routine and time it was due. */
import { defineTables } from "../../../kernel/kit/store.ts";

export const MIGRATIONS = defineTables(
  ({ text, integer, real, serial, strict }) => `
  CREATE TABLE routines (
    seq ${serial},
    id ${text} NOT NULL UNIQUE,
    "user" ${text} NOT NULL,
    text ${text} NOT NULL,
    schedule ${text} NOT NULL,
    words ${text} NOT NULL,
    tz ${text} NOT NULL,
    plan ${text} NOT NULL,
    status ${text} NOT NULL,
    paused_why ${text},
    next_at ${integer},
    budget_usd ${real},
    budget_per ${text},
    timeout_secs ${integer} NOT NULL,
    deliver ${text},
    created_at ${text} NOT NULL
  ) ${strict};
  CREATE INDEX routines_by_user ON routines ("user", seq);
  CREATE INDEX routines_due ON routines (next_at) WHERE next_at IS NOT NULL;

  CREATE TABLE routine_runs (
    seq ${serial},
    id ${text} NOT NULL UNIQUE,
    routine ${text} NOT NULL,
    "user" ${text} NOT NULL,
    due_at ${integer} NOT NULL,
    is_manual ${integer} NOT NULL,
    missed ${integer} NOT NULL,
    status ${text} NOT NULL,
    error ${text},
    refused ${text},
    undelivered ${text},
    job ${text},
    turn ${text},
    thread ${text},
    cost_usd ${real} NOT NULL DEFAULT 0,
    started_at ${integer} NOT NULL,
    stop_at ${integer} NOT NULL,
    completed_at ${integer},
    UNIQUE (routine, due_at, is_manual)
  ) ${strict};
  CREATE INDEX routine_runs_by_routine ON routine_runs (routine, seq);
  CREATE INDEX routine_runs_open ON routine_runs (seq) WHERE status = 'running';
  CREATE INDEX routine_runs_by_age ON routine_runs (completed_at);`,
);
