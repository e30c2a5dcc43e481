/** Programs under measurement in processes of their own: each tells its address once it is ready. */
import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const BIN = fileURLToPath(new URL("../../../kernel/cli/bin.js", import.meta.url));

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

/** A real `postern serve` with a home of the caller's, once it says that it is ready. */
export async function serve(home: string, env: Readonly<Record<string, string>>): Promise<Program> {
  const child = spawn(process.execPath, [BIN, "serve"], {
    env: {
      PATH: process.env["PATH"] ?? "",
      POSTERN_HOME: home,
      GATEWAY_PORT: "0",
      LOG_LEVEL: "error",
      ...env,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  for await (const chunk of child.stdout) {
    printed += String(chunk);
    const url = /Open (http:\/\/[^/\s]+)/.exec(printed)?.[1];
    if (url !== undefined && printed.includes("ready in")) return { url, child };
  }
  throw new Error(`the service ended before it was ready:\n${printed}`);
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
