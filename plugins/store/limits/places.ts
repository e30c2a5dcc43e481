/** The places of limits: what was taken and when, as rows of the store, and what a caller learns of what is left. */
import { defineTables, type LimitVerdict } from "../../../kernel/kit/store.ts";
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

/** Places that are taken within this time count as one row, so that a large limit does not keep a row for each. */
const SLOT_MS = 250;

// Counted for all limiters of this process, so that no two rows of its node are taken for the same.
let numbers = 0;

/** Adds a place to the last of these, which are in the order of their times. */
export function record(takes: Take[], now: number): Take {
  const last = takes.at(-1);
  if (last !== undefined && now - last.first < SLOT_MS) {
    last.taken_at = now;
    last.places++;
    return last;
  }
  const take = { number: ++numbers, first: now, taken_at: now, places: 1 };
  takes.push(take);
  return take;
}

/** What is left of a window, and the time of its oldest place. */
export interface WindowState extends LimitWindow {
  readonly left: number;
  readonly oldest: number | undefined;
}

export function verdictOf(ok: boolean, windows: readonly WindowState[], now: number): LimitVerdict {
  const states = windows.map(({ limit, seconds, left, oldest = now }) => ({
    limit,
    windowSecs: seconds,
    remaining: Math.max(0, left),
    resetSecs: Math.max(1, Math.ceil((oldest + seconds * 1000 - now) / 1000)),
  }));
  // The tightest decides. Of two that are used up, the later says when another try makes sense.
  const [first] = states.sort((a, b) => a.remaining - b.remaining || b.resetSecs - a.resetSecs);
  if (first === undefined) throw new Error("a limiter needs at least one window");
  return { ok, ...first };
}

export const longestMs = (windows: readonly LimitWindow[]): number =>
  Math.max(...windows.map(({ seconds }) => seconds)) * 1000;
