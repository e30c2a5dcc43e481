/** The log: JSON lines, or pretty on a terminal; one named child per plugin; known secrets hidden and control characters visible in every line. */
import { createRequire } from "node:module";
import type * as Pino from "pino";
import type * as PinoPretty from "pino-pretty";
import type { Mask } from "../mask/mask.ts";
import { visible, visibleJson, visibleLine } from "../text/visible.ts";

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal", "silent"] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

type Write = (fields: object | string, message?: string) => void;

/** The part of the log that a plugin gets. */
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
  recent(): readonly string[];
  /** Counts all lines so far, including those no longer kept. */
  count(): number;
}

const KEPT_LINES = 2000;
const KEPT_CHARACTERS = 2 * 1024 * 1024;

/** Masking works on the finished line, so that no field, nested object or stack can slip past it. */
export function createLog(level: LogLevel, mask: Mask, ...sinks: readonly LogSink[]): RootLog {
  const recent: string[] = [];
  let characters = 0;
  let count = 0;
  const printers = sinks.map((sink) => {
    const format = sink.pretty ? prettyLines({ colour: true }) : (line: string) => line;
    return (line: string) => sink.write(format(line));
  });
  const keep = (line: string): void => {
    recent.push(line);
    count++;
    characters += line.length;
    while (recent.length > KEPT_LINES || characters > KEPT_CHARACTERS)
      characters -= recent.shift()?.length ?? characters;
  };
  const write = (line: string) => {
    const hidden = visibleJson(mask.hide(line));
    keep(hidden.trimEnd());
    for (const print of printers) print(hidden);
  };
  // Loaded with the first log: most commands write none.
  const { pino } = createRequire(import.meta.url)("pino") as typeof Pino;
  const root = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      errorKey: "error",
      messageKey: "message",
      // Levels are written by name: a reader of the file should not need pino's table of numbers.
      formatters: { level: (name) => ({ level: name }) },
    },
    { write },
  );
  return {
    debug: root.debug.bind(root),
    info: root.info.bind(root),
    warn: root.warn.bind(root),
    error: root.error.bind(root),
    child: (plugin) => root.child({ plugin }),
    recent: () => recent,
    count: () => count,
  };
}

export function prettyLines({
  colour,
  date = false,
}: {
  readonly colour: boolean;
  /** Shows the date, for lines of other days. */
  readonly date?: boolean;
}): (line: string) => string {
  const { prettyFactory } = createRequire(import.meta.url)("pino-pretty") as typeof PinoPretty;
  const format = prettyFactory({
    colorize: colour,
    messageKey: "message",
    // One line for each entry. What the message says already, and what only a machine wants, is in the file.
    singleLine: true,
    ignore: "pid,hostname,method,path,status,request,address",
    translateTime: date ? "SYS:yyyy-mm-dd HH:MM:ss" : "SYS:HH:MM:ss",
  });
  return (line) => format(visibleFields(JSON.parse(line)) as object);
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
