/** A limiter's part of the store: it reports the places that were taken, and draws a block of permits for more. */
import { defineTables } from "../../../kernel/kit/store.ts";
import type { Sql } from "../../../kernel/plugin.ts";
import type { LimitWindow } from "../services.ts";

/** A row is a number of places that were taken at one moment, or a block of permits that a node has drawn. */
export const LIMITER_TABLES = defineTables(
  ({ text, integer, keyed }) => `
  CREATE TABLE limiter_takes (
    name ${text} NOT NULL,
    key ${text} NOT NULL,
    node ${text} NOT NULL,
    -- Negative for a block, one for each limiter of the node.
    number ${integer} NOT NULL,
    taken_at ${integer} NOT NULL,
    places ${integer} NOT NULL,
    expires_at ${integer} NOT NULL,
    PRIMARY KEY (name, key, node, number)
  ) ${keyed};
  CREATE INDEX limiter_takes_expired ON limiter_takes (expires_at);`,
);

/** Places that were taken at about the same moment, in the time of whoever counts them. */
export interface Take {
  /** Unique on the node: what is reported twice counts once. */
  readonly number: number;
  /** The time of the first of them; all count from the last. */
  readonly first: number;
  taken_at: number;
  places: number;
}

export interface Visit {
  readonly key: string;
  /** The places taken since the last visit. */
  readonly report: readonly Take[];
  /** The number of places asked for; 0 only reports, and gives unused permits back. */
  readonly wanted: number;
}

export interface Answer {
  readonly now: number;
  readonly granted: number;
  /** For each window what is left after the grant, and its oldest place. */
  readonly windows: readonly { readonly room: number; readonly oldest: number | undefined }[];
  /** The other living nodes that hold permits, as `<node>:<number>`. */
  readonly holders: readonly string[];
}

export interface Permits {
  /** Visits for one key are made one after the other. */
  visit(visit: Visit): Promise<Answer>;
  /** Writes a place down before it is reported, so that a crash does not give it back. */
  note?(key: string, take: Take): void;
  /** The time that places are counted by, `answered` milliseconds after an answer. */
  timeOf(answer: Answer, answered: number): number;
}

export interface PermitParts {
  readonly sql: Sql;
  readonly name: string;
  readonly windows: readonly LimitWindow[];
  readonly node: string;
}

/** Beside what is asked for, a part of what is left is granted: the last places are then not spread over nodes. */
export const SURPLUS_PART = 4;
export const MAX_SURPLUS = 100;
