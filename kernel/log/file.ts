/** The log file in the home: JSON lines, of bounded size, kept over restarts. One service writes it, others read. */
import { closeSync, fstatSync, mkdirSync, openSync, readSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Fault, reason } from "../fault.ts";
import type { LogSink } from "./log.ts";

const LARGEST = 10 * 1024 * 1024;
const OLDER_FILES = 3;

const END_OF_LINE = 10;

/** Newest first; those that are not there yet included. */
export function logFiles(home: string): readonly [string, ...string[]] {
  const file = join(home, "logs", "postern.log");
  return [file, ...Array.from({ length: OLDER_FILES }, (_, at) => `${file}.${at + 1}`)];
}

/** The home is this process's alone. A line that cannot be written, as on a full disk, is counted and stops nothing. */
export function openLogFile(home: string, largest = LARGEST): LogSink & { close(): void } {
  const [newest, ...older] = logFiles(home);
  let open: ReturnType<typeof openToAppend> | undefined = openFirst(home, newest);
  let lost = 0;

  const close = (): void => {
    if (open !== undefined) closeSync(open.file);
    open = undefined;
  };
  const append = (line: string): void => {
    const bytes = Buffer.byteLength(line);
    if (open !== undefined && open.size > 0 && open.size + bytes > largest) {
      close();
      rotate([newest, ...older]);
    }
    open ??= openToAppend(newest);
    const written = writeSync(open.file, line);
    open.size += written;
    if (written < bytes) throw new Error("the disk is full");
  };
  return {
    pretty: false,
    write(line) {
      try {
        if (lost > 0) append(noteOf(lost));
        lost = 0;
        append(line);
      } catch {
        lost++;
        close();
      }
    },
    close,
  };
}

function openFirst(home: string, path: string) {
  try {
    mkdirSync(join(home, "logs"), { recursive: true, mode: 0o700 });
    return openToAppend(path);
  } catch (error) {
    throw new Fault("config", "log_unusable", `${path} cannot be written: ${reason(error)}`, {
      param: "POSTERN_HOME",
      cause: error,
    });
  }
}

function openToAppend(path: string) {
  const file = openSync(path, "a+", 0o600);
  const { size } = fstatSync(file);
  const last = new Uint8Array(1);
  // A process that was killed may have left half a line; what follows must not be taken for its end.
  const isTorn = size > 0 && readSync(file, last, 0, 1, size - 1) === 1 && last[0] !== END_OF_LINE;
  return { file, size: isTorn ? size + writeSync(file, "\n") : size };
}

/** Each gets the name of the next older one; the oldest is gone. */
function rotate(names: readonly string[]): void {
  for (let at = names.length - 1; at > 0; at--) {
    try {
      renameSync(names[at - 1] as string, names[at] as string);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
}

function noteOf(lost: number): string {
  const message = `${lost} log lines could not be written to this file`;
  return `${JSON.stringify({ level: "warn", time: new Date().toISOString(), message })}\n`;
}
