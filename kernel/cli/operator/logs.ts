/** `postern logs`: the log file of this home, also while the service runs and after it has ended. */
import { type Command, InvalidArgumentError } from "commander";
import { logFiles } from "../../log/file.ts";
import { LOG_LEVELS, type LogLevel, prettyLines } from "../../log/log.ts";
import type { LogQuery } from "../../log/query.ts";
import { sayPainted, warn } from "../../terminal/output.ts";
import { type OperatorContext, parseCount } from "./context.ts";
import { followLog, readLog } from "./log-reader.ts";

interface LogOptions extends Omit<LogQuery, "last"> {
  readonly lines?: number;
  readonly follow?: boolean;
  readonly json?: boolean;
}

const USUAL_LINES = 100;

export function register(command: Command, context: OperatorContext): void {
  command
    .option("-f, --follow", "keep printing new lines")
    .option("-n, --lines <count>", "how many of the newest; 100 where no time is given", parseCount)
    .option("--level <level>", "this level and what is more severe", parseLevel)
    .option("--turn <turn_id>", "only lines about this turn")
    .option("--user <user_id>", "only lines about this user")
    .option("--since <time>", "30s, 10m, 2h or 3d ago, or a time", parseSince)
    .option("--json", "print the lines as they are stored: JSON")
    .addHelpText(
      "after",
      "\nExamples:\n  $ postern logs -f\n  $ postern logs --level warn --since 2h\n  $ postern logs --json -n 1000 | jq -r 'select(.plugin == \"agent\").message'",
    )
    .action(async (options: LogOptions) => showLogs((await context.open()).home, options));
}

const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `30s`, `10m`, `2h`, `3d` ago, or a time. */
function parseSince(text: string): Date {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const time =
    count === undefined ? Date.parse(text) : Date.now() - Number(count) * UNITS[unit as keyof typeof UNITS];
  const since = new Date(time);
  if (Number.isNaN(since.getTime()))
    throw new InvalidArgumentError("Use 30s, 10m, 2h, 3d or a time such as 2026-11-16T08:00:00Z.");
  return since;
}

function parseLevel(text: string): LogLevel {
  const level = LOG_LEVELS.find((known) => known === text.toLowerCase());
  if (level === undefined || level === "silent")
    throw new InvalidArgumentError(`Use one of ${LOG_LEVELS.slice(0, -1).join(", ")}.`);
  return level;
}

async function showLogs(home: string, options: LogOptions): Promise<void> {
  const { lines, follow = false, json = false, ...query } = options;
  // With a time given, all lines since then are shown.
  const last = lines ?? (query.since === undefined ? USUAL_LINES : undefined);
  const format = json
    ? (line: string) => `${line}\n`
    : prettyLines({ colour: process.stdout.isTTY === true, date: true });
  const print = (line: string) => sayPainted(format(line));
  if (!follow) {
    const found = readLog(home, { ...query, last });
    for (const line of found) print(line);
    if (found.length === 0) warn(`No log lines match in ${logFiles(home)[0]}.\n`);
    return;
  }
  const stopper = new AbortController();
  const stop = () => stopper.abort();
  process.once("SIGINT", stop).once("SIGTERM", stop);
  process.stdout.once("error", stop);
  try {
    await followLog(home, { ...query, last }, print, stopper.signal);
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
    process.stdout.off("error", stop);
  }
}
