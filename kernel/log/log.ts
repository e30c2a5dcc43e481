/** The log: JSON lines, or pretty on a terminal; one named child per plugin; known secrets hidden and control characters visible in every line. */
import { createRequire } from "node:module";
import type * as Pino from "pino";
import type { Mask } from "../mask/mask.ts";
import { visibleJson } from "../text/visible.ts";
import { prettyLines } from "./pretty.ts";

/** Ordered from the least severe. */
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
  /** The newest lines as JSON texts, oldest first. */
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
  const printers = sinks.map(printerOf);
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

function printerOf(sink: LogSink): (line: string) => void {
  if (!sink.pretty) return (line) => sink.write(line);
  const format = prettyLines({ colour: true });
  return (line) => sink.write(format(line));
}
