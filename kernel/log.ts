/** The log: JSON lines, or pretty on a terminal; one named child per plugin; known secrets hidden in every line. */
import { pino } from "pino";
import { prettyFactory } from "pino-pretty";
import type { Mask } from "./vocabulary/kernel.ts";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

type Write = (fields: object | string, message?: string) => void;

/** What a plugin sees of the log. */
export interface Log {
  readonly debug: Write;
  readonly info: Write;
  readonly warn: Write;
  readonly error: Write;
}

export interface LogSink {
  readonly pretty: boolean;
  write(line: string): void;
}

export interface RootLog extends Log {
  child(name: string): Log;
  /** The newest lines as JSON texts, oldest first. */
  recent(): readonly string[];
}

const KEPT_LINES = 500;

/** Masking works on the finished line, so that no field, nested object or stack can slip past it. */
export function createLog(level: LogLevel, mask: Mask, sink: LogSink): RootLog {
  const recent: string[] = [];
  const print = sink.pretty ? prettyPrinter(sink) : sink.write;
  const write = (line: string) => {
    const hidden = mask.hide(line);
    recent.push(hidden.trimEnd());
    if (recent.length > KEPT_LINES) recent.shift();
    print(hidden);
  };
  const root = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, errorKey: "error" },
    { write },
  );
  return {
    debug: root.debug.bind(root),
    info: root.info.bind(root),
    warn: root.warn.bind(root),
    error: root.error.bind(root),
    child: (plugin) => root.child({ plugin }),
    recent: () => recent,
  };
}

function prettyPrinter(sink: LogSink): (line: string) => void {
  const format = prettyFactory({ colorize: true, ignore: "pid,hostname", translateTime: "SYS:HH:MM:ss" });
  return (line) => sink.write(format(line));
}
