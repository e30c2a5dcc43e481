/** What every command starts from: settings, home, mask and log. Nothing is opened but the log. */
import { appendFileSync, mkdirSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { readDotEnv, readForeignDotEnv, Settings, type Variables } from "../env.ts";
import { createLog, LOG_LEVELS, type LogSink, type RootLog } from "../log.ts";
import { createMask } from "../mask/mask.ts";
import { refuseForeign } from "../store/ownership.ts";
import type { Mask } from "../vocabulary/kernel.ts";
import { homeSetting } from "./home.ts";

export interface Session {
  readonly settings: Settings;
  readonly home: string;
  readonly mask: Mask;
  /** Names of third-party plugins. */
  readonly plugins: readonly string[];
  /** Where their relative paths and package names are looked up. */
  readonly pluginsFolder: string;
  readonly folder: string;
  /** Names of the settings that `.env` of the folder gave. */
  readonly fromFolder: readonly string[];
  /** What the operator should know about where the settings came from. */
  readonly warnings: readonly string[];
  /** How long what runs may take to end when the service is told to stop. */
  readonly graceSecs: number;
  openLog(sink: LogSink): RootLog;
}

export interface SessionOptions {
  /**
   * The service starts here, so `.env` of the folder counts too. Every other command may have been typed in a stranger's
   * folder, to look at what is in it, and reads only the home's.
   */
  readonly startsService?: boolean;
}

export function openSession(
  environment: Variables = process.env,
  folder = process.cwd(),
  { startsService = false }: SessionOptions = {},
): Session {
  const mask = createMask();
  // Where the home is decides which file is read, so no file can say it.
  const home = homeSetting(new Settings(environment).for("kernel"));
  // Before it is read: it may name code to run.
  refuseForeign([home, join(home, ".env")], "POSTERN_HOME");
  const { POSTERN_HOME: _, ...homeFile } = readDotEnv(home);
  const foreign = startsService && folder !== home ? readForeignDotEnv(folder) : undefined;
  const settings = new Settings(environment, { ...foreign?.variables, ...homeFile }, mask.add);
  const env = settings.for("kernel");
  homeSetting(env);
  const level = env.oneOf("LOG_LEVEL", LOG_LEVELS, "info", "The least severe log line that is written");
  const graceSecs = env.integer(
    "STOP_GRACE_SECS",
    30,
    { min: 0, max: 3600 },
    "After SIGTERM, how long running turns may take to finish",
  );
  const plugins = env.list("PLUGINS", "Third-party plugins: packages or paths");
  return {
    settings,
    mask,
    folder,
    home,
    plugins,
    pluginsFolder: environment["PLUGINS"]?.trim() ? folder : home,
    fromFolder: Object.keys(foreign?.variables ?? {}),
    warnings: (foreign?.ignored ?? []).map(
      (name) =>
        `${name} in ${join(folder, ".env")} is ignored: set it in the environment or, except POSTERN_HOME, in ${join(home, ".env")}`,
    ),
    graceSecs,
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
