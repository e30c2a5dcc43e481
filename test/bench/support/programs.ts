/** Programs under measurement in processes of their own: each tells its address once it is ready. */
import { type ChildProcess, execFileSync, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { ROOT } from "../../../kernel/package.ts";

const PROGRAM = "kernel/cli/bin.js";
export const BIN = join(ROOT, PROGRAM);

/** Lays Postern out as it is published, with the code bundled, and returns its program. */
export function publish(folder: string): string {
  const bin = join(folder, PROGRAM);
  mkdirSync(dirname(bin), { recursive: true });
  copyFileSync(BIN, bin);
  copyFileSync(join(ROOT, "package.json"), join(folder, "package.json"));
  for (const name of ["node_modules", "wit", "capabilities", "components"])
    symlinkSync(join(ROOT, name), join(folder, name));
  execFileSync(process.execPath, [join(ROOT, ".package/bundle.ts"), join(folder, "dist")]);
  return bin;
}

export interface Program {
  readonly url: string;
  readonly child: ChildProcess;
}

export async function startProgram(program: URL, ...args: string[]): Promise<Program> {
  const child = fork(fileURLToPath(program), args, {
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    execArgv: ["--expose-gc"],
  });
  const [{ url }] = (await once(child, "message")) as [{ url: string }];
  return { url, child };
}

export async function endProgram({ child }: Program): Promise<void> {
  const ended = once(child, "exit");
  child.disconnect();
  await ended;
}

const STRETCH = new URL("stretch.ts", import.meta.url).href;

/** A real `postern serve` with a home of the caller's, once it says that it is ready. `isWatched`: `longestStretch` can ask it. */
export async function serve(
  home: string,
  env: Readonly<Record<string, string>>,
  bin = BIN,
  { isWatched = false } = {},
): Promise<Program> {
  const child = spawn(process.execPath, [...(isWatched ? ["--import", STRETCH] : []), bin, "serve"], {
    env: {
      PATH: process.env["PATH"] ?? "",
      POSTERN_HOME: home,
      GATEWAY_PORT: "0",
      LOG_LEVEL: "error",
      ...env,
    },
    stdio: ["ignore", "pipe", "inherit", isWatched ? "ipc" : "ignore"],
  });
  let printed = "";
  for await (const chunk of child.stdout ?? []) {
    printed += String(chunk);
    const url = /Open (http:\/\/[^/\s]+)/.exec(printed)?.[1];
    if (url !== undefined && printed.includes("ready in")) return { url, child };
  }
  throw new Error(`the service ended before it was ready:\n${printed}`);
}

/** For how many milliseconds the main thread did one thing at most, since it was last asked. */
export async function longestStretch({ child }: Program): Promise<number> {
  const answer = once(child, "message");
  child.send("stretch");
  const [millis] = (await answer) as [number];
  return millis;
}

export async function stopServing({ child }: Program): Promise<void> {
  child.kill("SIGTERM");
  await once(child, "exit");
}

/** A folder for as long as the work takes. */
export async function inFolder<Result>(work: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), "postern-bench-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
