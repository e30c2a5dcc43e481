/** What every command starts from: settings, home, mask and log. Nothing is opened but the log. */
import { appendFileSync, mkdirSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { readDotEnv, Settings, type Variables } from "../env.ts";
import { createLog, LOG_LEVELS, type LogSink, type RootLog } from "../log.ts";
import { createMask } from "../mask/mask.ts";
import type { Mask } from "../vocabulary/kernel.ts";
import { homeSetting } from "./home.ts";

export interface Session {
  readonly settings: Settings;
  readonly home: string;
  readonly mask: Mask;
  /** Names of third-party plugins. */
  readonly plugins: readonly string[];
  readonly folder: string;
  openLog(sink: LogSink): RootLog;
}

export function openSession(environment: Variables = process.env, folder = process.cwd()): Session {
  const mask = createMask();
  const settings = new Settings(environment, readDotEnv(folder), mask.add);
  const env = settings.for("kernel");
  const level = env.oneOf("LOG_LEVEL", LOG_LEVELS, "info", "The least severe log line that is written");
  return {
    settings,
    mask,
    folder,
    home: homeSetting(env),
    plugins: env.list("PLUGINS", "Third-party plugins: packages or paths"),
    openLog: (sink) => createLog(level, mask, sink),
  };
}

/** Log lines on standard error: for people on a terminal, as JSON lines otherwise. */
export function stderrSink(): LogSink {
  return { pretty: process.stderr.isTTY === true, write: (line) => void process.stderr.write(line) };
}

const LARGEST_LOG = 10 * 1024 * 1024;

/** Log lines in the home's logs folder, for when the screen belongs to the terminal UI. */
export function fileSink(home: string): LogSink {
  const folder = join(home, "logs");
  const file = join(folder, "postern.log");
  mkdirSync(folder, { recursive: true });
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > LARGEST_LOG) renameSync(file, `${file}.1`);
  return { pretty: false, write: (line) => appendFileSync(file, line, { mode: 0o600 }) };
}
