/** Runs the service: start everything, print the table, wait for a signal, stop in order. */

import { join } from "node:path";
import { boot, type Running } from "../kernel.ts";
import type { AnyPlugin } from "../plugin.ts";
import { claimHome, prepareHome } from "./home.ts";
import { say } from "./output.ts";
import { fileSink, type Session, stderrSink } from "./session.ts";
import { table } from "./table.ts";

export interface ServeOptions {
  readonly version: string;
  /** True where the terminal UI owns the screen, so that log lines and the table stay off it. */
  readonly screenTaken: boolean;
}

// After an orderly stop nothing should be left; anything that is must not keep the process alive.
const LINGER_MILLIS = 1000;

export async function serve(
  session: Session,
  plugins: readonly AnyPlugin[],
  options: ServeOptions,
): Promise<number> {
  const { settings, home, mask } = session;
  const { version, screenTaken } = options;
  // Nothing that the service writes is for others on this machine.
  process.umask(0o077);
  const { corrected } = prepareHome(home);
  const log = session.openLog(screenTaken ? fileSink(home) : stderrSink());
  // Whoever starts it in a folder of somebody else's should be able to see what that changed.
  if (session.fromFolder.length > 0)
    log.info(`settings in ${join(session.folder, ".env")}: ${session.fromFolder.join(", ")}`);
  for (const path of corrected)
    log.warn(`${path} could be read or changed by others on this machine; no longer`);
  const claim = claimHome(home);
  const ending = waitForEnd((error) => log.error({ error }, "uncaught error, stopping"));
  try {
    const running = await boot({ plugins, settings, home, log, mask, version, onShutdown: ending.request });
    const startedAt = new Date().toISOString();
    const node = running.service("store").node.id;
    claim.post({ pid: process.pid, version, startedAt, node, plugins: running.states });
    if (!screenTaken) say(startUpTable(running, version));
    const why = await ending.requested;
    log.info(`${why}, stopping`);
    // Somebody at the keyboard wants it gone at once; a service manager sends SIGTERM and waits.
    const isPatient = why === "SIGTERM" && session.graceSecs > 0;
    if (isPatient && !(await running.drain(session.graceSecs * 1000)))
      log.warn(`not everything ended within ${session.graceSecs} s (STOP_GRACE_SECS), interrupting it`);
    const failed = await running.stop();
    return why === CRASH || failed.length > 0 ? 1 : 0;
  } finally {
    claim.release();
    ending.dispose();
    setTimeout(() => process.exit(), LINGER_MILLIS).unref();
  }
}

function startUpTable(running: Running, version: string): string {
  const rows = running.states.map(({ name, on, detail }) => [name, on ? "on" : "off", detail]);
  const ready = `ready in ${Math.round(performance.now())} ms; press Ctrl+C to stop`;
  const lines = running.lines.map((line) => `\n${line}`).join("");
  return `Postern ${version}\n${table(rows)}${lines}${lines ? "\n" : ""}${ready}\n`;
}

const CRASH = "uncaught error";

/** The first signal asks for an orderly stop, the second ends the process at once. */
function waitForEnd(onCrash: (error: unknown) => void) {
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
    },
  };
}
