/** The service home: a private folder, and the lock that lets only one service use it at a time. */
import { accessSync, constants, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Fault, reason } from "../../fault.ts";
import { claimFolder, isClaimed } from "../../files/claim.ts";
import { makeFolders } from "../../files/folders.ts";
import { makePrivate, pathsOfHome } from "../../files/ownership.ts";
import type { PluginState } from "../../plugin.ts";
import type { Env } from "../../settings/env.ts";

export function homeSetting(env: Env): string {
  const given = env.text(
    "POSTERN_HOME",
    join(homedir(), ".postern"),
    "The service home: tokens, store, secrets, tools, logs",
  );
  return resolve(given.replace(/^~(?=\/|$)/, homedir()));
}

/** Creates the folder, mode 0700, and makes sure that it can be written, and that it and what is in it are ours alone. */
export function prepareHome(home: string): { readonly corrected: readonly string[] } {
  try {
    makeFolders(home, 0o700);
    const corrected = makePrivate(pathsOfHome(home), "POSTERN_HOME");
    accessSync(home, constants.R_OK | constants.W_OK | constants.X_OK);
    return { corrected };
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw unusable(home, error, "make it a folder you own and can write to");
  }
}

function unusable(home: string, error: unknown, wayOut: string): Fault {
  const message = `the service home ${home} cannot be used (${reason(error)}): ${wayOut}, or set POSTERN_HOME to another one`;
  return new Fault("config", "home_unusable", message, { param: "POSTERN_HOME", cause: error });
}

export interface Notice {
  readonly pid: number;
  /** The machine or container that the pid is of. */
  readonly host: string;
  readonly version: string;
  readonly startedAt: string;
  /** Its id among those on its store. */
  readonly node?: string;
  readonly plugins: readonly PluginState[];
}

const noticeFile = (home: string) => join(home, "running.json");

/** Claims the home for this process. */
export function claimHome(home: string): { post(notice: Notice): void; release(): void } {
  const release = claim(home);
  if (release === undefined) {
    const pid = readNotice(home)?.pid;
    const message = `another Postern${pid ? ` (pid ${pid})` : ""} is already running with the home ${home}: stop it, or set POSTERN_HOME to another folder. For several nodes that share one state give each a home of its own and the same STORE_URL=postgres://…`;
    throw new Fault("config", "already_running", message, { param: "POSTERN_HOME" });
  }
  // A service that was killed left it, and its pid may be anybody's by now.
  rmSync(noticeFile(home), { force: true });
  return {
    post: (notice) => writeFileSync(noticeFile(home), JSON.stringify(notice), { mode: 0o600 }),
    release: () => {
      rmSync(noticeFile(home), { force: true });
      release();
    },
  };
}

function claim(home: string): (() => void) | undefined {
  try {
    return claimFolder(home);
  } catch (error) {
    throw unusable(home, error, "free some space on its disk");
  }
}

/** The notice of the service that runs on this home, if one does and has started. */
export function findRunning(home: string): Notice | undefined {
  return isClaimed(home) ? readNotice(home) : undefined;
}

const START_WAIT_MS = 60_000;
const LOOK_MS = 100;

/** The same, of a service that may still be starting. */
export async function waitForRunning(home: string): Promise<Notice | undefined> {
  for (const end = Date.now() + START_WAIT_MS; isClaimed(home) && Date.now() < end; await sleep(LOOK_MS)) {
    const notice = readNotice(home);
    if (notice !== undefined) return notice;
  }
  return undefined;
}

function readNotice(home: string): Notice | undefined {
  try {
    return JSON.parse(readFileSync(noticeFile(home), "utf8")) as Notice;
  } catch {
    return undefined;
  }
}
