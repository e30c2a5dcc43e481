/** The files of the user, as the gateway of a service elsewhere offers them to the terminal. */
import { Type, toWire } from "../../kernel/kit/schema.ts";
import type { Services } from "../../kernel/plugin.ts";
import { pageOf } from "../gateway/api/schemas.ts";
import { ChangeSet, FileEntry, FilesUsage, UndoOutcome, UndoRequest } from "../gateway/api/workspace.ts";
import { orNone, type Requests } from "./requests.ts";

const Entries = Type.Object(pageOf("entries", FileEntry));
const Sets = Type.Object(pageOf("sets", ChangeSet));

type Offered = "list" | "find" | "read" | "log" | "undo" | "usage";

export function createRemoteWorkspace({ ask, download }: Requests): Pick<Services["workspace"], Offered> {
  const find = (path: string) => orNone(ask("GET /api/workspace/entry", FileEntry, { query: { path } }));
  return {
    list: (_user, folder, query = {}) => ask("GET /api/workspace", Entries, { query: { folder, ...query } }),
    find: (_user, path) => find(path),
    async read(_user, path, { version, length = Number.POSITIVE_INFINITY } = {}) {
      const entry = await find(path);
      const answer = entry && (await orNone(download("/api/workspace/file", { path, version })));
      return answer && { entry, data: await beginningOf(answer, length) };
    },
    log: (_user, query = {}) => ask("GET /api/workspace/log", Sets, { query: { ...query } }),
    undo: (_user, set, _change, conflicts) =>
      ask("POST /api/workspace/undo", UndoOutcome, { body: toWire(UndoRequest, { set, conflicts }) }),
    usage: () => ask("GET /api/workspace/usage", FilesUsage),
  };
}

/** The rest is not sent on. */
async function beginningOf({ body }: Response, length: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let read = 0;
  for await (const piece of body ?? []) {
    pieces.push(piece);
    read += piece.byteLength;
    if (read >= length) break;
  }
  const all = Buffer.concat(pieces);
  return all.subarray(0, Math.min(length, all.byteLength));
}
