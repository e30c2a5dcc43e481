/** Every command starts from a session: settings, home, mask and log. It opens nothing but the log. */
import { join } from "node:path";
import { refuseForeign } from "../../files/ownership.ts";
import { createLog, LOG_LEVELS, type LogSink } from "../../log/log.ts";
import { createMask } from "../../mask/mask.ts";
import { readDotEnv, readForeignDotEnv } from "../../settings/dot-env.ts";
import { Settings, type Variables } from "../../settings/env.ts";
import { findSimilar } from "../../text/similar.ts";
import { homeSetting } from "./home.ts";

export type Session = ReturnType<typeof openSession>;

export interface SessionOptions {
  /** The service starts here, so the folder's `.env` counts too; other commands may be typed in a stranger's folder. */
  readonly startsService?: boolean;
  /** Settings that options of the command gave; they win over the environment. */
  readonly given?: Variables;
}

export function openSession(
  surroundings: Variables = process.env,
  folder = process.cwd(),
  { startsService = false, given = {} }: SessionOptions = {},
) {
  const environment = { ...surroundings, ...given };
  const mask = createMask();
  // The home decides which file is read, so no file can set it.
  const home = homeSetting(new Settings(environment).for("kernel"));
  // Before it is read: it may name code to run.
  refuseForeign([home, join(home, ".env")], "POSTERN_HOME");
  const { POSTERN_HOME: _, ...homeFile } = readDotEnv(home);
  const readsFolder = startsService && folder !== home;
  // In a folder that others can write to, such as /tmp, anybody could set the operator's token.
  if (readsFolder) refuseForeign([home, join(folder, ".env")], ".env", "start it in another folder");
  const foreign = readsFolder ? readForeignDotEnv(folder) : undefined;
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
    /** Relative paths and package names of plugins are looked up from here. */
    pluginsFolder: environment["PLUGINS"]?.trim() ? folder : home,
    editor: environment["VISUAL"]?.trim() || environment["EDITOR"]?.trim() || "vi",
    /** A command for the shell; empty: none. */
    pager: environment["PAGER"]?.trim(),
    given: Object.keys(given),
    fromFolder: Object.keys(foreign?.variables ?? {}),
    /** Sentences for the operator about the sources of the settings. */
    warnings: (foreign?.ignored ?? []).map(
      (name) =>
        `${name} in ${join(folder, ".env")} is ignored: set it in the environment or, except POSTERN_HOME, in ${join(home, ".env")}`,
    ),
    /** Variables that are no settings but nearly one of these, with the one that was probably meant. */
    misspelled(known: Iterable<string>): readonly (readonly [name: string, meant: string])[] {
      const names = new Set(known);
      return Object.keys({ ...environment, ...homeFile, ...foreign?.variables }).flatMap((name) => {
        const meant = names.has(name) ? undefined : findSimilar(name, names);
        return meant === undefined ? [] : [[name, meant] as const];
      });
    },
    /** The seconds that running work gets to end when the service is told to stop. */
    graceSecs,
    openLog: (...sinks: readonly LogSink[]) => createLog(level, mask, ...sinks),
  };
}

/** Log lines on standard error: for people on a terminal, as JSON lines otherwise. */
export function stderrSink(): LogSink {
  return { pretty: process.stderr.isTTY === true, write: (line) => void process.stderr.write(line) };
}
