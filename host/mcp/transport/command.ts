/**
 * A server that is a command on this machine, as a transport for the SDK's client. Not the SDK's own: that one hands PATH, HOME
 * and others on, ends only the process it started, and lets it write as much to our terminal as it likes.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import type { Readable } from "node:stream";
import { type JSONRPCMessage, serializeMessage, type Transport } from "@modelcontextprotocol/client";
import { Fault, type Log, reason } from "../../../kernel/plugin.ts";
import { createReadThrottle, type ReadThrottle } from "../../broker/read-throttle.ts";
import { createMessageReader, type MessageReader } from "./messages.ts";
import { logLines } from "./stderr.ts";

export interface CommandOptions {
  readonly server: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Where commands are looked for. */
  readonly path: string;
  readonly folder: string;
  readonly maxMessageBytes: number;
  readonly log: Log;
}

/** How long it may take to end by itself, and then after SIGTERM. */
const END_MILLIS = 500;
const TERM_MILLIS = 2000;
const MOST_UNREAD_BYTES = 16 * 1024 * 1024;

/** What the shell runs that outlives us: once its input ends, because we died or said so, it ends the command's group. */
const WATCHDOG = 'read -r line; [ "$line" = over ] || kill -s KILL -- "-$1" 2>/dev/null';

export class CommandTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** How it ended, once it has. */
  ended: string | undefined;

  readonly #options: CommandOptions;
  readonly #reader: MessageReader;
  readonly #throttle: ReadThrottle;
  readonly #exited = Promise.withResolvers<void>();
  #child: ChildProcess | undefined;
  #watchdog: ChildProcess | undefined;
  #closing: Promise<void> | undefined;
  /** Why we ended it. */
  #why: string | undefined;

  constructor(options: CommandOptions) {
    this.#options = options;
    this.#throttle = createReadThrottle(2 * options.maxMessageBytes);
    this.#reader = createMessageReader(options.maxMessageBytes);
  }

  /** By these two the SDK's client knows a process: one that stays silent on a newer question speaks the older revision. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  get stderr(): Readable | null {
    return this.#child?.stderr ?? null;
  }

  async start(): Promise<void> {
    const { server, command, env, path, folder, log } = this.#options;
    const [name = "", ...args] = command;
    const file = await findCommand(name, path);
    const child = spawn(file, args, { cwd: folder, env, stdio: ["pipe", "pipe", "pipe"], detached: true });
    this.#child = child;
    const started = Promise.withResolvers<void>();
    child.once("spawn", started.resolve);
    child.once("error", (error) => {
      started.reject(
        new Fault("unavailable", "command_failed", `${name} cannot be started: ${error.message}`),
      );
      this.#over(`it could not be started: ${error.message}`);
    });
    child.once("exit", (code, signal) => {
      this.#over(signal === null ? `it ended with code ${code}${hint(code)}` : `it was ended by ${signal}`);
    });
    child.stdin.on("error", (error) => this.onerror?.(error));
    child.stdout.on("error", (error) => this.onerror?.(error));
    child.stdout.on("data", (chunk: Buffer) => this.#read(chunk));
    logLines(child.stderr, server, log);
    await started.promise;
    this.#watch(child.pid as number);
  }

  /** The message is a promise that it was handed over, not that it was read. */
  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (this.ended !== undefined || stdin == null || !stdin.writable)
      throw new Fault(
        "unavailable",
        "command_ended",
        `The command of ${this.#options.server} is not running.`,
      );
    if (stdin.writableLength > MOST_UNREAD_BYTES) {
      this.#abandon("it does not read what it is sent");
      return;
    }
    if (stdin.write(serializeMessage(message))) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    stdin.once("drain", resolve);
    await Promise.race([promise, this.#exited.promise]);
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (child?.pid !== undefined && this.ended === undefined) {
      child.stdin?.end();
      await this.#within(END_MILLIS);
      if (this.ended === undefined) {
        signalGroup(child.pid, "SIGTERM");
        await this.#within(TERM_MILLIS);
      }
    }
    // Always: the command may be over while something that it started is not.
    if (child?.pid !== undefined) signalGroup(child.pid, "SIGKILL");
    if (child !== undefined) await this.#exited.promise;
    this.#unwatch();
    for (const stream of [child?.stdin, child?.stdout, child?.stderr]) stream?.destroy();
    this.onclose?.();
  }

  #over(how: string): void {
    if (this.ended !== undefined) return;
    this.ended = this.#why ?? how;
    this.#exited.resolve();
    void this.close();
  }

  #read(chunk: Buffer): void {
    if (this.#closing !== undefined) return;
    try {
      const messages = this.#reader.read(chunk);
      this.#slowDown(this.#throttle(chunk.length, messages.length));
      for (const message of messages) this.onmessage?.(message);
    } catch (error) {
      this.#abandon(`it ${reason(error)}`);
    }
  }

  #slowDown(millis: number): void {
    const stdout = this.#child?.stdout;
    if (millis === 0 || stdout == null) return;
    stdout.pause();
    setTimeout(() => stdout.resume(), millis).unref();
  }

  /** Not worth a kind word: it is ended at once. */
  #abandon(why: string): void {
    this.#why ??= why;
    if (this.#child?.pid !== undefined) signalGroup(this.#child.pid, "SIGKILL");
    void this.close();
  }

  async #within(millis: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, millis);
    await Promise.race([promise, this.#exited.promise]);
    clearTimeout(timer);
  }

  #watch(group: number): void {
    const watchdog = spawn("/bin/sh", ["-c", WATCHDOG, "sh", String(group)], {
      env: {},
      stdio: ["pipe", "ignore", "ignore"],
      // Not in our group: what a terminal sends to that must not reach it before it has done its work.
      detached: true,
    });
    watchdog.on("error", () => {});
    watchdog.stdin?.on("error", () => {});
    watchdog.unref();
    this.#watchdog = watchdog;
  }

  #unwatch(): void {
    this.#watchdog?.stdin?.end("over\n");
  }
}

/** The whole group: what the command started ends with it, unless it has left the group. */
function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // There is none any more.
  }
}

/** On the operator's PATH: the command itself gets none unless its file names it. */
async function findCommand(name: string, path: string): Promise<string> {
  const candidates = name.includes("/")
    ? [name]
    : path.split(delimiter).flatMap((folder) => (isAbsolute(folder) ? [join(folder, name)] : []));
  for (const candidate of candidates) {
    const isThere = await access(candidate, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return candidate;
  }
  throw new Fault("unavailable", "no_command", `The command ${name} is not there, or may not be run.`);
}

function hint(code: number | null): string {
  return code === 127 || code === 126
    ? ": a program was not found. The command gets no PATH unless you name it: --env PATH=…"
    : "";
}
