/** The log: JSON lines, or pretty on a terminal; one named child per plugin; known secrets hidden and control characters visible in every line. */
import { pino } from "pino";
import { prettyFactory } from "pino-pretty";
import { visible, visibleJson, visibleLine } from "./mask/visible.ts";
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
    const hidden = visibleJson(mask.hide(line));
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
  return (line) => sink.write(format(visibleFields(JSON.parse(line)) as object));
}

/** On a terminal a line break would begin what looks like another entry; only stacks have them. */
function visibleFields(value: unknown, name = ""): unknown {
  if (typeof value === "string") return name === "stack" ? visible(value) : visibleLine(value);
  if (Array.isArray(value)) return value.map((item) => visibleFields(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [visibleLine(key), visibleFields(item, key)]),
  );
}
