/** The files of one call, as they were when it first looked. Writes are held until it succeeds; every path is checked. */
import type { GrantedFolder } from "../../capabilities/capabilities.ts";
import { distinctOrigins } from "../../kernel/kit/turns.ts";
import { Fault, type Origin } from "../../kernel/plugin.ts";
import {
  type FileReply,
  type FileRequest,
  MAX_FILE_PART_BYTES,
  MAX_FILE_REQUESTS,
} from "../sandbox/protocol.ts";
import { makeFolder, move, remove, write } from "./files/changes.ts";
import { type FileParts, FileProblem, FileUsage, NOTHING } from "./files/parts.ts";
import type { FileEdit, FileSource } from "./files/sources.ts";
import { allow, existing, listFolder, look, note, readPart, shown } from "./files/view.ts";

/** A guest waits for each answer, except if it writes: only a hostile process asks for more at once. */
const MAX_WAITING = 128;
const DONE: FileReply = { ok: true, body: NOTHING };
const OVER: FileReply = { ok: false, code: "io", error: "the call is over" };
const TOO_OFTEN: FileReply = {
  ok: false,
  code: "quota",
  error: `a call may ask for files at most ${MAX_FILE_REQUESTS} times`,
};
const TOO_MUCH: FileReply = { ok: false, code: "quota", error: "ask for fewer things at once" };

export type CallFiles = ReturnType<typeof openCallFiles>;

export function openCallFiles(
  user: string,
  granted: readonly GrantedFolder[],
  source: FileSource,
  given: readonly Origin[] = [],
) {
  const parts: FileParts = {
    user,
    granted,
    source,
    nodes: new Map(),
    steps: [],
    found: new Map(),
    origins: new Map(given.map((origin) => [`${origin.kind} ${origin.name}`, origin])),
    read: new Set(),
    usage: new FileUsage(),
    startedAt: new Date().toISOString(),
  };
  let requests = 0;
  let waiting = 0;
  let isOver = false;
  let last: Promise<unknown> = Promise.resolve();

  return {
    answer(request: FileRequest): Promise<FileReply> {
      if (isOver) return Promise.resolve(OVER);
      if (++requests > MAX_FILE_REQUESTS) return Promise.resolve(TOO_OFTEN);
      if (waiting >= MAX_WAITING) return Promise.resolve(TOO_MUCH);
      waiting++;
      // One after the other: a write that nobody waited for comes before what is asked next.
      const answered = last.then(() => (isOver ? OVER : answer(parts, request))).catch(toReply);
      last = answered.then(() => waiting--);
      return answered;
    },
    /** The call's changes, in the order they were made. */
    edits: (): readonly FileEdit[] =>
      parts.steps.map((made) =>
        made.op === "write"
          ? { op: "write", path: made.path, data: made.file.data, expected: made.expected }
          : made,
      ),
    /** Whose words it read, if they are not the user's own. */
    origins: () => distinctOrigins([...parts.origins.values()]),
    read: () => [...parts.read],
    written: () => [
      ...new Set(parts.steps.flatMap((made) => (made.op === "move" ? [made.path, made.to] : [made.path]))),
    ],
    /** The call is over: nothing more is answered or held. */
    close() {
      isOver = true;
      parts.usage.release();
    },
  };
}

async function answer(parts: FileParts, { op, ...request }: FileRequest): Promise<FileReply> {
  const { offset = 0, length = 0 } = request;
  switch (op) {
    case "stat": {
      const seen = await look(parts, allow(parts, request.path, "read"));
      return { ok: true, body: NOTHING, entries: seen === undefined ? [] : [shown(seen)] };
    }
    case "list": {
      const inside = await listFolder(parts, allow(parts, request.path, "read"));
      // A name can say something, too.
      for (const { entry } of inside) if (entry !== undefined) note(parts, entry);
      return { ok: true, body: NOTHING, entries: inside.map(shown) };
    }
    case "read": {
      const seen = await existing(parts, allow(parts, request.path, "read"));
      return { ok: true, body: await readPart(parts, seen, offset, Math.min(length, MAX_FILE_PART_BYTES)) };
    }
    case "write":
    case "patch":
    case "append":
    case "resize":
      await write(parts, allow(parts, request.path, "write"), { op, ...request });
      return DONE;
    case "folder":
      await makeFolder(parts, allow(parts, request.path, "write"));
      return DONE;
    case "move":
      await move(parts, allow(parts, request.path, "write"), allow(parts, request.to ?? "", "write"));
      return DONE;
    case "remove":
      await remove(parts, allow(parts, request.path, "write"));
      return DONE;
  }
}

function toReply(error: unknown): FileReply {
  if (error instanceof FileProblem) return { ok: false, code: error.code, error: error.message };
  if (error instanceof Fault)
    return { ok: false, code: error.kind === "missing" ? "no-entry" : "invalid", error: error.message };
  throw error;
}
