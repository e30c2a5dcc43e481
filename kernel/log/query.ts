/** Selects the log lines that a reader asked for. */
import { tryRecord } from "../text/json.ts";
import { LOG_LEVELS, type LogLevel } from "./log.ts";

export interface LogQuery {
  readonly level?: LogLevel | undefined;
  readonly turn?: string | undefined;
  readonly user?: string | undefined;
  /** Matches anywhere in the line, whatever its case. */
  readonly text?: string | undefined;
  readonly since?: Date | undefined;
  readonly last?: number | undefined;
}

/** A line that is not ours, or only half written, matches nothing. */
export function matcherOf({ level, turn, user, text, since }: LogQuery): (line: string) => boolean {
  const least = level === undefined ? 0 : LOG_LEVELS.indexOf(level);
  const from = since?.toISOString() ?? "";
  // In the line, quotes and backslashes are escaped.
  const wanted = text === undefined ? undefined : JSON.stringify(text).slice(1, -1).toLowerCase();
  return (line) => {
    // Most lines are of other turns and users, and need not be parsed.
    if (line === "" || (turn !== undefined && !line.includes(turn))) return false;
    if (wanted !== undefined && !line.toLowerCase().includes(wanted)) return false;
    const fields = tryRecord(line);
    if (typeof fields["time"] !== "string" || fields["time"] < from) return false;
    return (
      LOG_LEVELS.indexOf(fields["level"] as LogLevel) >= least &&
      (turn === undefined || fields["turn"] === turn) &&
      (user === undefined || fields["user"] === user)
    );
  };
}
