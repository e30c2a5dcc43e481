/** The log file read back: its newest lines, and those that follow. */
import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { logFiles } from "../../log/file.ts";
import { type LogQuery, matcherOf } from "../../log/query.ts";

const LOOK_MS = 200;
const AT_ONCE = 64 * 1024;
const END_OF_LINE = 10;

/** Each a JSON text, oldest first. */
export function readLog(home: string, query: LogQuery): readonly string[] {
  const [newest, ...older] = logFiles(home);
  const file = openToRead(newest);
  try {
    return readFiles(file, older, query);
  } finally {
    if (file !== undefined) closeSync(file.fd);
  }
}

/** Those that are there, then each new one, also from the files that come after, until the signal aborts. */
export async function followLog(
  home: string,
  query: LogQuery,
  onLine: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const [newest, ...older] = logFiles(home);
  const matches = matcherOf(query);
  let file = openToRead(newest);
  for (const line of readFiles(file, older, query)) onLine(line);
  let rest = Buffer.alloc(0);
  while (!signal.aborted) {
    if (file !== undefined) {
      // Lines are written whole, but may be read in two pieces.
      const bytes = Buffer.concat([rest, readAdded(file)]);
      const end = bytes.lastIndexOf(END_OF_LINE) + 1;
      rest = bytes.subarray(end);
      for (const line of bytes.subarray(0, end).toString("utf8").split("\n")) if (matches(line)) onLine(line);
    }
    const next = file === undefined || isReplaced(file, newest) ? openToRead(newest) : undefined;
    if (next === undefined) {
      await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
      continue;
    }
    // Looked for once more after the file was replaced: nothing is added to the old one any more.
    if (file !== undefined) {
      const last = Buffer.concat([rest, readAdded(file)]).toString("utf8");
      for (const line of last.split("\n")) if (matches(line)) onLine(line);
      closeSync(file.fd);
    }
    rest = Buffer.alloc(0);
    file = { ...next, read: 0 };
  }
  if (file !== undefined) closeSync(file.fd);
}

interface ReadFile {
  readonly fd: number;
  readonly id: number;
  /** The offset up to which the file was read. */
  read: number;
}

/** Read up to its last whole line. */
function openToRead(path: string): ReadFile | undefined {
  try {
    const fd = openSync(path, "r");
    const { ino, size } = fstatSync(fd);
    return { fd, id: ino, read: size };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

function isReplaced({ id }: ReadFile, path: string): boolean {
  const now = statSync(path, { throwIfNoEntry: false });
  return now !== undefined && now.ino !== id;
}

function readFiles(newest: ReadFile | undefined, older: readonly string[], query: LogQuery): string[] {
  const matches = matcherOf(query);
  const { last = Number.POSITIVE_INFINITY, since } = query;
  const found: string[] = [];
  const take = (text: string): boolean => {
    for (const line of linesFromEnd(text)) {
      if (found.length >= last) return false;
      if (matches(line)) found.push(line);
    }
    return true;
  };
  if (newest !== undefined) {
    const bytes = readAdded({ ...newest, read: 0 }, newest.read);
    const end = bytes.lastIndexOf(END_OF_LINE) + 1;
    newest.read = end;
    if (!take(bytes.toString("utf8", 0, end))) return found.reverse();
  }
  for (const path of older) {
    const file = openToRead(path);
    if (file === undefined) break;
    const isTooOld = since !== undefined && fstatSync(file.fd).mtime < since;
    const text = isTooOld ? "" : readAdded({ ...file, read: 0 }, file.read).toString("utf8");
    closeSync(file.fd);
    if (isTooOld || !take(text)) break;
  }
  return found.reverse();
}

/** Returns the bytes added since the last read, up to the offset `upTo`. */
function readAdded(file: ReadFile, upTo = Number.POSITIVE_INFINITY): Buffer {
  const parts: Buffer[] = [];
  for (;;) {
    const part = Buffer.alloc(Math.min(AT_ONCE, upTo - file.read));
    const length = part.length === 0 ? 0 : readSync(file.fd, part, 0, part.length, file.read);
    if (length === 0) return Buffer.concat(parts);
    file.read += length;
    parts.push(part.subarray(0, length));
  }
}

function* linesFromEnd(text: string): Generator<string> {
  let end = text.endsWith("\n") ? text.length - 1 : text.length;
  while (end > 0) {
    const start = text.lastIndexOf("\n", end - 1) + 1;
    yield text.slice(start, end);
    end = start - 1;
  }
}
