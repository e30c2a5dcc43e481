/** The log: JSON lines, or pretty on a terminal; one named child per plugin; known secrets hidden in every line. */
import { Writable } from "node:stream";
import { pino } from "pino";
import pretty from "pino-pretty";
import type { Mask } from "./services.ts";

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
}

/** Masking works on the finished line, so that no field, nested object or stack can slip past it. */
export function createLog(level: LogLevel, mask: Mask, sink: LogSink): RootLog {
  const hidden = (line: string) => sink.write(mask.hide(line));
  const stream = sink.pretty
    ? pretty({
        colorize: true,
        ignore: "pid,hostname",
        translateTime: "SYS:HH:MM:ss",
        destination: new Writable({
          write(chunk, _encoding, done) {
            hidden(String(chunk));
            done();
          },
        }),
      })
    : { write: hidden };
  const root = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, errorKey: "error" },
    stream,
  );
  return {
    debug: root.debug.bind(root),
    info: root.info.bind(root),
    warn: root.warn.bind(root),
    error: root.error.bind(root),
    child: (plugin) => root.child({ plugin }),
  };
}
