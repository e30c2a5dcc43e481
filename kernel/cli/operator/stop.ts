/** `postern stop`: tells the service of this home to stop, and waits until it has. */
import { spawnSync } from "node:child_process";
import { readdirSync, realpathSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { claimFile, isClaimed } from "../../files/claim.ts";
import { Fault } from "../../plugin.ts";
import { openStatusLine, say, sayJson } from "../../terminal/output.ts";
import type { JsonOption } from "../../terminal/verb.ts";
import { findRunning, type Notice } from "../service/home.ts";
import { type OperatorContext, parseCount } from "./context.ts";

export function register(command: Command, context: OperatorContext): void {
  command
    .option("--timeout <secs>", "how long to wait; by default 15 s more than STOP_GRACE_SECS", parseCount)
    .option("--json", "print JSON")
    .addHelpText(
      "after",
      "\nTurns may finish first, for STOP_GRACE_SECS.\n\nExamples:\n  $ postern stop\n  $ postern stop --timeout 120",
    )
    .action(async ({ timeout, json = false }: JsonOption & { timeout?: number }) => {
      const { home, graceSecs } = await context.open();
      await stopService(home, timeout ?? graceSecs + 15, json);
    });
}

const LOOK_MS = 100;

async function stopService(home: string, timeoutSecs: number, json: boolean): Promise<void> {
  if (!isClaimed(home)) {
    if (json) sayJson({ stopped: false, running: false, home });
    else say(`Postern is not running with the home ${home}.\n`);
    return;
  }
  const began = Date.now();
  const isLate = () => Date.now() - began > timeoutSecs * 1000;
  const status = openStatusLine();
  const wait = async (text: string) => {
    status.show(`${text} ${Math.round((Date.now() - began) / 1000)} s`);
    await sleep(LOOK_MS);
  };
  try {
    let notice = findRunning(home);
    while (notice === undefined && isClaimed(home) && !isLate()) {
      await wait("Waiting for it to have started, to stop it …");
      notice = findRunning(home);
    }
    if (notice === undefined) {
      if (!isClaimed(home)) return report(undefined);
      const message = `a service is starting on ${home} and has not said its pid within ${timeoutSecs} s: try again`;
      throw new Fault("unavailable", "still_starting", message);
    }
    refuseForeign(home, notice);
    process.kill(notice.pid, "SIGTERM");
    while (isClaimed(home) || isAlive(notice.pid)) {
      if (isLate()) {
        const message = `Postern (pid ${notice.pid}) was told to stop and is still running after ${timeoutSecs} s: it lets turns finish for STOP_GRACE_SECS. Wait with "postern stop --timeout", see "postern logs", or end it at once with "kill -9 ${notice.pid}", which loses nothing that was acknowledged`;
        throw new Fault("unavailable", "still_running", message);
      }
      await wait(`Waiting for Postern (pid ${notice.pid}) to stop; turns may finish first …`);
    }
    report(notice);
  } finally {
    status.end();
  }

  function report(notice: Notice | undefined): void {
    const seconds = (Date.now() - began) / 1000;
    const { pid, version } = notice ?? {};
    if (json) sayJson({ stopped: true, running: false, home, pid, version, seconds });
    else say(`Stopped Postern${pid ? ` ${version} (pid ${pid})` : ""} after ${seconds.toFixed(1)} s.\n`);
  }
}

/** A pid in a home that is shared between machines or containers is another process here. */
function refuseForeign(home: string, { pid, host }: Notice): void {
  const refuse = (why: string): never => {
    const message = `the service on ${home} says that its pid is ${pid}, but ${why}. Nothing was stopped: stop it where and as whom it was started`;
    throw new Fault("forbidden", "not_ours", message);
  };
  if (host !== undefined && host !== hostname()) refuse(`it runs on ${host}, and this is ${hostname()}`);
  try {
    process.kill(pid, 0);
  } catch (error) {
    refuse(
      (error as NodeJS.ErrnoException).code === "EPERM"
        ? "that process belongs to another user"
        : "there is no such process here",
    );
  }
  if (!holdsClaim(pid, home)) refuse("that process is not the one that uses this home");
}

/** Looks at the files that the process has open, where the system shows them, and otherwise at its command line. */
function holdsClaim(pid: number, home: string): boolean {
  if (process.platform === "linux") {
    const claim = realpathSync(claimFile(home));
    const folder = `/proc/${pid}/fd`;
    return readdirSync(folder).some((name) => leadsTo(join(folder, name), claim));
  }
  if (process.platform === "win32") return true;
  const { stdout } = spawnSync("ps", ["-p", String(pid), "-o", "command="], { encoding: "utf8" });
  return /postern|kernel[/\\]cli[/\\]bin\.js/.test(stdout);
}

function leadsTo(link: string, target: string): boolean {
  try {
    return realpathSync(link) === target;
  } catch {
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
