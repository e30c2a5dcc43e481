/** Runs the service: start everything, print the table, wait for a signal, stop in order. */

import { hostname } from "node:os";
import { join } from "node:path";
import { boot, type Running } from "../../kernel.ts";
import { openLogFile } from "../../log/file.ts";
import type { RootLog } from "../../log/log.ts";
import type { AnyPlugin, Resume } from "../../plugin.ts";
import { asTyped, say, sayPainted } from "../../terminal/output.ts";
import { pluginTable } from "../../terminal/table.ts";
import { claimHome, type Notice, prepareHome } from "./home.ts";
import { type Session, stderrSink } from "./session.ts";

export interface ServeOptions {
  readonly version: string;
  /** True where the terminal UI owns the screen, so that log lines and the table stay off it. */
  readonly screenTaken: boolean;
  readonly resume?: Resume | undefined;
}

// After an orderly stop nothing should be left; anything that is must not keep the process alive.
const LINGER_MS = 1000;

export async function serve(
  session: Session,
  plugins: readonly AnyPlugin[],
  options: ServeOptions,
): Promise<number> {
  const { home } = session;
  const { screenTaken } = options;
  // Nothing that the service writes is for others on this machine.
  process.umask(0o077);
  const { corrected } = prepareHome(home);
  const claim = claimHome(home);
  try {
    const file = openLogFile(home);
    try {
      const log = session.openLog(file, ...(screenTaken ? [] : [stderrSink()]));
      // A person who starts it in somebody else's folder should be able to see what that changed.
      if (session.fromFolder.length > 0)
        log.info(`settings in ${join(session.folder, ".env")}: ${session.fromFolder.join(", ")}`);
      for (const path of corrected)
        log.warn(`${path} could be read or changed by others on this machine; no longer`);
      return await run(session, plugins, log, options, claim.post);
    } finally {
      file.close();
    }
  } finally {
    claim.release();
  }
}

/** Runs until it is told to stop, and returns the exit code. */
async function run(
  { settings, home, mask, graceSecs, misspelled }: Session,
  plugins: readonly AnyPlugin[],
  log: RootLog,
  { version, screenTaken, resume }: ServeOptions,
  post: (notice: Notice) => void,
): Promise<number> {
  const ending = waitForEnd((error) => log.error({ error }, "uncaught error, stopping"));
  try {
    const onShutdown = ending.request;
    const running = await boot({ plugins, settings, home, log, mask, version, resume, onShutdown });
    const startedAt = new Date().toISOString();
    const node = running.service("store").node.id;
    post({ pid: process.pid, host: hostname(), version, startedAt, node, plugins: running.states });
    if (!screenTaken) showStartUp(running, version);
    for (const [name, meant] of misspelled(settings.declared.map((setting) => setting.name)))
      log.warn(`${name} is set and is not a setting: did you mean ${meant}?`);
    const why = await ending.requested;
    log.info(`${why}, stopping`);
    // Somebody at the keyboard wants it gone at once; a service manager sends SIGTERM and waits.
    const isPatient = why === "SIGTERM" && graceSecs > 0;
    if (isPatient && !(await running.drain(graceSecs * 1000)))
      log.warn(`not everything ended within ${graceSecs} s (STOP_GRACE_SECS), interrupting it`);
    const failed = await running.stop();
    return why === CRASH || failed.length > 0 ? 1 : 0;
  } finally {
    ending.dispose();
  }
}

function showStartUp(running: Running, version: string): void {
  say(`Postern ${version}\n`);
  sayPainted(asTyped(pluginTable(running.states)));
  for (const line of running.lines) say(`\n${line}`);
  if (running.lines.length > 0) say("\n");
  say(`ready in ${Math.round(performance.now())} ms; press Ctrl+C to stop\n`);
}

const CRASH = "uncaught error";

/** The first signal asks for an orderly stop, the second ends the process at once. */
export function waitForEnd(onCrash: (error: unknown) => void) {
  const { promise: requested, resolve } = Promise.withResolvers<string>();
  let asked = false;
  let crashed = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (asked) process.exit(1);
    asked = true;
    resolve(signal);
  };
  // With every channel off nothing else would keep the process alive.
  const awake = setInterval(() => {}, 2 ** 30);
  const onError = (error: unknown) => {
    // One is enough to stop; logging each could go on forever where logging itself fails.
    if (crashed) return;
    crashed = true;
    onCrash(error);
    resolve(CRASH);
  };
  // The reader of our output is gone, which is no reason to stop serving.
  process.stdout.on("error", () => {});
  process.stderr.on("error", () => {});
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal).on("SIGHUP", onSignal);
  process.on("uncaughtException", onError).on("unhandledRejection", onError);
  return {
    requested,
    request: () => resolve("stop requested"),
    dispose: () => {
      clearInterval(awake);
      process.off("SIGINT", onSignal).off("SIGTERM", onSignal).off("SIGHUP", onSignal);
      process.off("uncaughtException", onError).off("unhandledRejection", onError);
      setTimeout(() => process.exit(), LINGER_MS).unref();
    },
  };
}
