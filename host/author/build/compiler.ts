/** Runs another language's compiler in a project's folder and shows what it prints. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { Fault } from "../../../kernel/plugin.ts";
import { buildFault, type Mistake } from "./mistakes.ts";

export interface Compiler {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** What it calls a mistake: a pattern with the groups `file`, `line`, `column` and `message`. */
  readonly mistake: RegExp;
  /** What it says where a part of it is missing. */
  readonly absent?: RegExp;
  /** Completes "cannot be built here: <program> cannot be run. …". */
  readonly howToInstall: string;
  readonly progress: (line: string) => void;
}

/** Throws a `Fault` that lists the mistakes it found, or says that it cannot be run. */
export async function runCompiler(compiler: Compiler): Promise<void> {
  const { program, args, cwd, mistake, absent, howToInstall, progress } = compiler;
  progress(`${program} ${args.join(" ")}`);
  const child = spawn(program, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
  const ended = endOf(child);
  const said = new PassThrough();
  child.stdout.pipe(said, { end: false });
  child.stderr.pipe(said, { end: false });
  void ended.then(() => said.end());
  const mistakes: Mistake[] = [];
  let missing: string | undefined;
  for await (const line of createInterface({ input: said })) {
    progress(line);
    if (absent?.test(line)) missing ??= line;
    const { file = "", line: at, column, message = "" } = mistake.exec(line)?.groups ?? {};
    if (at !== undefined) mistakes.push({ file, line: Number(at), column: Number(column ?? 1), message });
  }
  const code = await ended;
  if (code === undefined) throw cannotRun(`${program} cannot be run. ${howToInstall}`);
  if (code === 0) return;
  if (missing !== undefined) throw cannotRun(`a part of ${program} is missing: ${missing}. ${howToInstall}`);
  if (mistakes.length > 0) throw buildFault(mistakes);
  throw new Fault("invalid", "build_failed", `not built: see ${program}'s output above`);
}

/** The exit code; undefined where it could not be started. */
export async function endOf(child: ChildProcess): Promise<number | null | undefined> {
  const [code] = await once(child, "close").catch(() => [undefined]);
  return code;
}

export function cannotRun(why: string): Fault {
  return new Fault("unavailable", "no_compiler", `the tool cannot be built here: ${why}`);
}
