/** The real command line in a real process. */

import { spawn } from "node:child_process";
import type { ProcessClock } from "../clock/process-clock.ts";
import { BIN } from "../clone.ts";
import { afterThisTest, type Later } from "../undo.ts";
import { canRunHere, type Printed, runHere } from "./in-process.ts";

export interface PosternOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly input?: string;
  /** Another user than the tester; only root can do that. */
  readonly uid?: number;
  /** What it is started by, with its command line as the last arguments. */
  readonly inside?: readonly [string, ...string[]];
  /** Another installation than this clone. */
  readonly bin?: string;
  readonly later?: Later;
  /** Lets the test move the time of the process. */
  readonly clock?: ProcessClock;
  /** True where a process of its own is what is tested. */
  readonly alone?: boolean;
}

export interface PosternProcess {
  readonly pid: number;
  stdout(): string;
  stderr(): string;
  /** Resolves when the text has been printed; rejects with all output when the process ends without it. */
  printed(text: string): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<number>;
}

/** Starts it and leaves it running; it is killed when the test is over, or later. */
export function startPostern(args: readonly string[], options: PosternOptions = {}): PosternProcess {
  const [command, ...before] = options.inside ?? [];
  const line = [process.execPath, ...(options.clock?.options ?? []), options.bin ?? BIN, ...args] as const;
  const child = spawn(command ?? line[0], command === undefined ? line.slice(1) : [...before, ...line], {
    env: environment(options),
    ...(options.cwd ? { cwd: options.cwd } : {}),
    ...(options.uid !== undefined && { uid: options.uid, gid: options.uid }),
  });
  let stdout = "";
  let stderr = "";
  const watchers = new Set<() => void>();
  const wake = () => {
    for (const watcher of watchers) watcher();
  };
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    stdout += chunk;
    wake();
  });
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
    wake();
  });
  child.stdin.end(options.input);
  let over = false;
  let isKilled = false;
  const kill = (signal: NodeJS.Signals) => {
    isKilled = true;
    child.kill(signal);
  };
  const ended = new Promise<number>((resolve) => {
    // It could not be started at all.
    child.on("error", (error) => {
      stderr += error.message;
      over = true;
      resolve(126);
      wake();
    });
    child.on("close", (code, signal) => {
      over = true;
      // Whoever talks to it only sees that nobody listens.
      if (!isKilled && code !== 0 && stdout.includes("ready in"))
        console.error(`postern ${args.join(" ")} ended with ${code ?? signal}:\n${stdout}${stderr}`);
      resolve(code ?? (signal === "SIGKILL" ? 137 : 1));
      wake();
    });
  });
  (options.later ?? afterThisTest)(async () => {
    kill("SIGKILL");
    await ended;
  });
  return {
    pid: child.pid ?? 0,
    stdout: () => stdout,
    stderr: () => stderr,
    printed: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (stdout.includes(text) || stderr.includes(text)) resolve();
          else if (over)
            reject(new Error(`it ended without printing ${JSON.stringify(text)}:\n${stdout}${stderr}`));
          else return;
          watchers.delete(look);
        };
        watchers.add(look);
        look();
      }),
    kill,
    ended,
  };
}

/** Runs it to its end, in the test's own process where that shows the same. */
export async function postern(args: readonly string[], options: PosternOptions = {}): Promise<Printed> {
  const typed = { args, env: environment(options), cwd: options.cwd, input: options.input };
  const isOrdinary = !options.alone && options.bin === undefined && options.uid === undefined;
  if (isOrdinary && canRunHere(typed)) return runHere(typed);
  const running = startPostern(args, options);
  const code = await running.ended;
  return { code, stdout: running.stdout(), stderr: running.stderr() };
}

/** Nothing of the tester's own settings may leak in; each fresh home would compile the shipped tools anew. */
function environment({ env }: PosternOptions): Record<string, string> {
  return { PATH: process.env["PATH"] ?? "", TOOLS_SHIPPED: "false", ...env };
}
