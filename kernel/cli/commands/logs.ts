/** `postern logs`: the log file of this home, also while the service runs and after it has ended. */
import { logFiles } from "../../log/file.ts";
import { prettyLines } from "../../log/pretty.ts";
import { followLog, type LogQuery, readLog } from "../../log/reading.ts";
import { sayPainted, warn } from "../../terminal/output.ts";

export interface LogOptions extends Omit<LogQuery, "last"> {
  readonly lines?: number;
  readonly follow?: boolean;
  readonly json?: boolean;
}

const USUAL_LINES = 100;

export async function showLogs(home: string, options: LogOptions): Promise<void> {
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
