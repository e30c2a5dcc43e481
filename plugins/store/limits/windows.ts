/** What a limit is, and what it answers. */
import type { Limiter, LimitVerdict } from "../../../kernel/plugin.ts";

export interface LimitWindow {
  readonly limit: number;
  readonly seconds: number;
}

/** A limiter and what it has to give back. */
export interface OpenLimiter extends Limiter {
  /** Hands unused permits back to the other nodes. */
  close(): Promise<void>;
}

export interface WindowState extends LimitWindow {
  readonly remaining: number;
  /** When the oldest place in the window was taken; undefined where none is. */
  readonly oldest: number | undefined;
}

/** The window that decides. Of two exhausted ones the later says when another try makes sense. */
export function tightest(states: readonly WindowState[], ok: boolean, now: number): LimitVerdict {
  const [first] = states
    .map(({ limit, seconds, remaining, oldest = now }) => ({
      limit,
      windowSecs: seconds,
      remaining: Math.max(0, remaining),
      resetSecs: Math.max(1, Math.ceil((oldest + seconds * 1000 - now) / 1000)),
    }))
    .sort((a, b) => a.remaining - b.remaining || b.resetSecs - a.resetSecs);
  if (first === undefined) throw new Error("a limiter needs at least one window");
  return { ok, ...first };
}
