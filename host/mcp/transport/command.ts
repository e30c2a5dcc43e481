/** A command as a transport for the SDK, whose own passes HOME on, ends one process only, and may flood our terminal. */
import { type ChildProcess, spawn } from "node:child_process";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import type { Readable } from "node:stream";
import {
  deserializeMessage,
  type JSONRPCMessage,
  serializeMessage,
  type Transport,
} from "@modelcontextprotocol/client";
import type { Log } from "../../../kernel/kit/log.ts";
import { createThrottle } from "../../../kernel/kit/outbound.ts";
import { Fault, reason } from "../../../kernel/plugin.ts";

export interface CommandOptions {
  readonly server: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly path: string;
  readonly folder: string;
  readonly maxMessageBytes: number;
  readonly log: Log;
}

/** A command has this long to end by itself, and then after SIGTERM. */
const END_TIMEOUT_MS = 500;
const TERM_TIMEOUT_MS = 2000;
const MAX_UNREAD_BYTES = 16 * 1024 * 1024;
/** Some servers print a banner. More lines in a row that are no messages are a mistake, or meant to keep us busy. */
const MAX_STRAY_LINES = 1000;
const MAX_LOG_LINE_LENGTH = 1000;
const MAX_LOG_LINES_PER_MINUTE = 120;

/** A shell that outlives us runs this: once its input ends because we died, it kills the command's group. */
const WATCHDOG = 'read -r line; [ "$line" = over ] || kill -s KILL -- "-$1" 2>/dev/null';

export class CommandTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** The rest of a sentence that says how it ended, once it has. */
  ended: string | undefined;

  readonly #options: CommandOptions;
  readonly #read: (chunk: Buffer) => JSONRPCMessage[];
  readonly #throttle: (bytes: number, messages: number) => number;
  readonly #exited = Promise.withResolvers<void>();
  #child: ChildProcess | undefined;
  #watchdog: ChildProcess | undefined;
  #closing: Promise<void> | undefined;
  #why: string | undefined;

  constructor(options: CommandOptions) {
    this.#options = options;
    this.#throttle = createThrottle(2 * options.maxMessageBytes);
    this.#read = createMessageReader(options.maxMessageBytes);
  }

  /** By these two the SDK's client knows a process: one that stays silent on a newer request speaks the older revision. */
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
    child.stdout.on("data", (chunk: Buffer) => this.#receive(chunk, child.stdout));
    logLines(child.stderr, server, log);
    await started.promise;
    this.#watchdog = startWatchdog(child.pid as number);
  }

  /** Resolves when the message was handed over, not when it was read. */
  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (this.ended !== undefined || stdin == null || !stdin.writable) {
      const message = `The command of ${this.#options.server} is not running.`;
      throw new Fault("unavailable", "command_ended", message);
    }
    if (stdin.writableLength > MAX_UNREAD_BYTES) {
      this.#kill("it does not read what it is sent");
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
      await this.#exitsWithin(END_TIMEOUT_MS);
      if (this.ended === undefined) {
        signalGroup(child.pid, "SIGTERM");
        await this.#exitsWithin(TERM_TIMEOUT_MS);
      }
    }
    // The command may be over while something that it started still runs.
    if (child?.pid !== undefined) signalGroup(child.pid, "SIGKILL");
    if (child !== undefined) await this.#exited.promise;
    this.#watchdog?.stdin?.end("over\n");
    for (const stream of [child?.stdin, child?.stdout, child?.stderr]) stream?.destroy();
    this.onclose?.();
  }

  #over(how: string): void {
    if (this.ended !== undefined) return;
    this.ended = this.#why ?? how;
    this.#exited.resolve();
    void this.close();
  }

  #receive(chunk: Buffer, stdout: Readable): void {
    if (this.#closing !== undefined) return;
    try {
      const messages = this.#read(chunk);
      const pause = this.#throttle(chunk.length, messages.length);
      if (pause > 0) {
        stdout.pause();
        setTimeout(() => stdout.resume(), pause).unref();
      }
      for (const message of messages) this.onmessage?.(message);
    } catch (error) {
      this.#kill(`it ${reason(error)}`);
    }
  }

  #kill(why: string): void {
    this.#why ??= why;
    if (this.#child?.pid !== undefined) signalGroup(this.#child.pid, "SIGKILL");
    void this.close();
  }

  async #exitsWithin(millis: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, millis);
    await Promise.race([promise, this.#exited.promise]);
    clearTimeout(timer);
  }
}

/**
 * Reads the messages in what a command writes to stdout, which may be anything. It throws the rest of a sentence that begins with
 * "it" where a message is too long, or too many lines are no messages.
 */
function createMessageReader(maxBytes: number): (chunk: Buffer) => JSONRPCMessage[] {
  let parts: Buffer[] = [];
  let size = 0;
  let strays = 0;

  const finish = (last: Buffer): JSONRPCMessage[] => {
    const message = parseMessage(parts.length === 0 ? last : Buffer.concat([...parts, last]));
    parts = [];
    size = 0;
    strays = message === undefined ? strays + 1 : 0;
    if (strays > MAX_STRAY_LINES)
      throw new Error(`wrote ${MAX_STRAY_LINES} lines to stdout that are no messages of the protocol`);
    return message === undefined ? [] : [message];
  };

  return (chunk) => {
    const found: JSONRPCMessage[] = [];
    let rest = chunk;
    for (let at = rest.indexOf("\n"); at >= 0; at = rest.indexOf("\n")) {
      found.push(...finish(rest.subarray(0, at)));
      rest = rest.subarray(at + 1);
    }
    size += rest.length;
    if (size > maxBytes) throw new Error(`sent a message of more than ${maxBytes} bytes`);
    if (rest.length > 0) parts.push(rest);
    return found;
  };
}

function parseMessage(line: Buffer): JSONRPCMessage | undefined {
  if (line[0] !== "{".charCodeAt(0)) return undefined;
  try {
    return deserializeMessage(line.toString("utf8"));
  } catch {
    return undefined;
  }
}

function logLines(stream: Readable, server: string, log: Log): void {
  let line = "";
  let written = 0;
  let minute = 0;

  const write = (text: string) => {
    const now = Math.floor(performance.now() / 60_000);
    if (now !== minute) {
      const dropped = written - MAX_LOG_LINES_PER_MINUTE;
      if (dropped > 0) log.warn({ server }, `${server}: ${dropped} more lines were left out`);
      minute = now;
      written = 0;
    }
    if (text.trim() === "") return;
    if (written < MAX_LOG_LINES_PER_MINUTE) log.info({ server }, `${server}: ${text}`);
    written++;
  };

  stream.setEncoding("utf8");
  stream.on("error", () => {});
  stream.on("data", (chunk: string) => {
    for (const [at, part] of chunk.split("\n").entries()) {
      if (at > 0) {
        write(line);
        line = "";
      }
      line += part.slice(0, MAX_LOG_LINE_LENGTH - line.length);
    }
  });
  stream.on("end", () => write(line));
}

function startWatchdog(group: number): ChildProcess {
  const watchdog = spawn("/bin/sh", ["-c", WATCHDOG, "sh", String(group)], {
    env: {},
    stdio: ["pipe", "ignore", "ignore"],
    // A signal from a terminal goes to our whole group and would end the watchdog before it has done its work.
    detached: true,
  });
  watchdog.on("error", () => {});
  watchdog.stdin?.on("error", () => {});
  watchdog.unref();
  return watchdog;
}

/** Also ends what the command started, unless that has left the group. */
function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is gone already.
  }
}

/** Searches the operator's PATH: the command itself gets none unless its file names it. */
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
  throw new Fault("unavailable", "no_command", `The command ${name} does not exist, or may not be run.`);
}

function hint(code: number | null): string {
  return code === 127 || code === 126
    ? ": a program was not found. The command gets no PATH unless you name it: --env PATH=…"
    : "";
}
