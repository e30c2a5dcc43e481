/** The user's files: listed, read, written, and taken back. Each route needs the scope of the tool of the agent's that does the same. */
import { Readable } from "node:stream";
import type { TextThreads } from "../../../kernel/kit/concurrency.ts";
import { documentKind } from "../../../kernel/kit/files.ts";
import {
  assertTool,
  invalidFault,
  missingFault,
  orRefuse,
  pageFields,
  type Route,
  routesOf,
} from "../../../kernel/kit/http.ts";
import { named, Type } from "../../../kernel/kit/schema.ts";
import { Upload } from "../../../kernel/kit/tools.ts";
import { Fault, type Services, type User } from "../../../kernel/plugin.ts";
import type { Change, Edit } from "../services.ts";
import {
  ChangeSet,
  FileDifference,
  FileEntry,
  FileHit,
  FilePath,
  FilesRoot,
  FilesUsage,
  FileText,
  FileVersion,
  KeptVersion,
  shownSet,
  UndoOutcome,
  UndoRequest,
} from "../wire.ts";

const route = routesOf("files");

const BYTES = "application/octet-stream";
/** A picture cannot load anything, run a script or be opened as a page; its own styles belong to it. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox";
/** Everything else is sent as bytes, so that no browser takes a stranger's file for a script or a style. */
const PICTURES: ReadonlySet<string> = new Set([
  ...["image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/svg+xml"],
]);

/** What one open download may hold in memory. */
const STREAM_BYTES = 2 ** 20;
/** Limits a text that is shown, and each of two that are compared. */
const MAX_TEXT_BYTES = 256 * 1024;
const MAX_LISTED = 1000;
const MAX_HITS = 100;
const MAX_HIT_LENGTH = 300;
const MAX_QUERY_LENGTH = 200;

const At = Type.Object({ path: FilePath });
const AtVersion = Type.Object({ path: FilePath, version: Type.Optional(FileVersion) });

const off = { 503: "The workspace is off" };
const outOfScope = { 403: "The token may not use the tool that does this", ...off };
const refusals = { ...outOfScope, 404: "There is no such file" };
const refusalsOfWrites = {
  ...refusals,
  409: "Somebody else has changed it meanwhile",
  413: "The file is too large, or there is no room for it",
};

export function workspaceRoutes({
  workspace,
  attachments,
  threads,
}: Partial<Pick<Services, "workspace">> &
  Pick<Services, "attachments"> & { readonly threads: Pick<TextThreads, "diff"> }): readonly Route[] {
  const files = orRefuse(workspace, "workspace_off", "The workspace is off, so there are no files.");
  const may = (user: User, tool: string) => assertTool(user, `workspace_${tool}`, "do this with files");

  const find = async (user: User, path: string) => {
    const entry = await files().find(user.id, path);
    if (!entry) throw missing(path);
    return entry;
  };
  const readPart = async (user: User, path: string, version: number | undefined, length?: number) => {
    const found = await files().read(user.id, path, { version, length });
    if (!found) throw missing(path);
    return found;
  };
  const edit = async (user: User, isBrowser: boolean, path: string, one: Edit) => {
    const [entry] = await files().apply(user.id, [one], changeBy(isBrowser));
    return entry ?? (await find(user, path));
  };
  const readText = async (user: User, path: string, version: number | undefined) => {
    const { entry, data } = await readPart(user, path, version, MAX_TEXT_BYTES);
    const kind = documentKind(path, data);
    const isDocument = kind !== undefined && kind !== "html";
    const isWhole = isDocument || data.byteLength >= entry.bytes;
    const shown = isDocument ? (await readPart(user, path, version)).data : isWhole ? data : wholeLines(data);
    const text =
      shown.byteLength === 0 ? "" : await attachments.textOf(user.id, { name: nameIn(path), data: shown });
    return { text: text.slice(0, MAX_TEXT_BYTES), isComplete: isWhole && text.length <= MAX_TEXT_BYTES };
  };

  return [
    route("GET /api/workspace", {
      summary: "List a folder of the workspace; with `deep`, everything below it",
      query: Type.Object({
        folder: Type.Optional(FilePath),
        deep: Type.Optional(Type.Boolean()),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LISTED })),
        after: Type.Optional(Type.String({ description: "`next` of the page before" })),
      }),
      answer: Type.Object(pageFields("entries", FileEntry)),
      refusals: { ...refusals, 404: "There is no such folder" },
      scoped: true,
      handle({ user, query: { folder = "/", ...query } }) {
        may(user, "list");
        return files().list(user.id, folder, query);
      },
    }),
    route("GET /api/workspace/usage", {
      summary: "Get how much room the files take, and how much there is",
      answer: FilesUsage,
      refusals: outOfScope,
      scoped: true,
      handle({ user }) {
        may(user, "list");
        return files().usage(user.id);
      },
    }),
    route("GET /api/workspace/search", {
      summary: "Search the files: those whose names have the words, then the lines that have them",
      query: Type.Object({ q: Type.String({ minLength: 1, maxLength: MAX_QUERY_LENGTH }) }),
      answer: Type.Object({ hits: Type.Array(FileHit), isComplete: named("complete", Type.Boolean()) }),
      refusals: outOfScope,
      scoped: true,
      async handle({ user, query: { q } }) {
        may(user, "search");
        const words = q.toLowerCase().split(/\s+/);
        const [all, { hits, isComplete }] = await Promise.all([
          files().list(user.id, "/", { deep: true, limit: MAX_LISTED }),
          files().search(user.id, { words: q, limit: MAX_HITS }),
        ]);
        const named = all.items.filter(({ path }) =>
          words.every((word) => path.toLowerCase().includes(word)),
        );
        const paths = new Set(hits.map(({ path }) => path));
        const found = await Promise.all([...paths].map((path) => files().find(user.id, path)));
        const times = new Map(found.flatMap((entry) => (entry ? [[entry.path, entry.updatedAt]] : [])));
        return {
          hits: [
            ...named.slice(0, MAX_HITS).map(({ path, updatedAt }) => ({ path, updatedAt })),
            ...hits.map(({ path, line, text }) => ({
              ...{ path, line, updatedAt: times.get(path) },
              text: text.slice(0, MAX_HIT_LENGTH).toWellFormed(),
            })),
          ],
          isComplete: isComplete && all.next === undefined && named.length <= MAX_HITS,
        };
      },
    }),
    route("GET /api/workspace/roots", {
      summary: "List the named workspaces, and the folders of the machine that are mounted",
      answer: Type.Object({ roots: Type.Array(FilesRoot) }),
      refusals: outOfScope,
      scoped: true,
      async handle({ user }) {
        may(user, "list");
        return { roots: await files().roots(user.id) };
      },
    }),
    route("GET /api/workspace/entry", {
      summary: "Get what is known of a file or a folder, without its content",
      query: At,
      answer: FileEntry,
      refusals,
      scoped: true,
      handle({ user, query }) {
        may(user, "list");
        return find(user, query.path);
      },
    }),
    route("GET /api/workspace/file", {
      summary: "Download a file; with `version`, an earlier content of it. Only pictures have their own type",
      query: AtVersion,
      answer: "*/*",
      heldBytes: STREAM_BYTES,
      refusals,
      scoped: true,
      async handle({ user, query: { path, version }, context }) {
        may(user, "read");
        const found = await files().stream(user.id, path, version);
        if (!found) throw missing(path);
        const { entry, data } = found;
        context.type = PICTURES.has(entry.mime) ? entry.mime : BYTES;
        context.attachment(nameIn(entry.path));
        context.set("Content-Security-Policy", POLICY);
        context.set("X-Content-Type-Options", "nosniff");
        context.set("Cache-Control", "private, no-cache");
        if (entry.digest !== undefined) context.etag = entry.digest;
        if (context.fresh) {
          context.status = 304;
          return null;
        }
        const stream = Readable.from(data, { objectMode: false, highWaterMark: 64 * 1024 });
        // A reader that goes away ends the reading, too.
        context.res.once("close", () => stream.destroy());
        context.length = entry.bytes;
        return stream;
      },
    }),
    route("GET /api/workspace/text", {
      summary:
        "Get the beginning of a file as text: in whatever encoding it is written, or what a document says",
      query: AtVersion,
      answer: FileText,
      refusals: { ...refusals, 429: "Too many documents are being read" },
      scoped: true,
      async handle({ user, query: { path, version } }) {
        may(user, "read");
        try {
          return await readText(user, path, version);
        } catch (error) {
          if (!(error instanceof Fault) || error.param !== "file") throw error;
          return { text: "", isComplete: false, problem: error.message };
        }
      },
    }),
    route("PUT /api/workspace/file", {
      summary:
        "Write a file with what the body has, as it comes in; with `expected`, only if that is still its version (0: there is none yet)",
      query: Type.Object({ path: FilePath, expected: Type.Optional(Type.Integer({ minimum: 0 })) }),
      upload: BYTES,
      answer: FileEntry,
      scoped: true,
      refusals: refusalsOfWrites,
      async handle({ user, isBrowser, query: { path, expected }, context }) {
        may(user, "write");
        // Whoever sends a file need not have written it.
        const written = { kind: "file" as const, name: nameIn(path) };
        // Nor has whoever edits one written all of it.
        const before = (await files().find(user.id, path))?.origins ?? [];
        const change = { ...changeBy(isBrowser), origins: [written, ...before] };
        // A request that is refused half-way is still answered, so it must not be cut off.
        const data = context.req.iterator({ destroyOnReturn: false });
        try {
          return await files().upload(user.id, path, data, change, expected);
        } catch (error) {
          if (error instanceof Fault || !context.req.readableAborted) throw error;
          throw invalidFault("upload_broken", "The upload broke off, so nothing was changed.", "path");
        }
      },
    }),
    route("DELETE /api/workspace/file", {
      summary: "Remove a file, or a folder with everything in it. It can be undone",
      query: At,
      status: 204,
      scoped: true,
      refusals,
      async handle({ user, isBrowser, query: { path } }) {
        may(user, "remove");
        await files().apply(user.id, [{ op: "remove", path }], changeBy(isBrowser));
      },
    }),
    route("POST /api/workspace/folders", {
      summary: "Make a folder",
      body: At,
      status: 201,
      answer: FileEntry,
      scoped: true,
      refusals: refusalsOfWrites,
      handle({ user, isBrowser, body: { path } }) {
        may(user, "write");
        return edit(user, isBrowser, path, { op: "folder", path });
      },
    }),
    route("POST /api/workspace/move", {
      summary: "Move or rename a file or a folder",
      body: Type.Object({ path: FilePath, to: FilePath }),
      answer: FileEntry,
      scoped: true,
      refusals: refusalsOfWrites,
      handle({ user, isBrowser, body: { path, to } }) {
        may(user, "move");
        return edit(user, isBrowser, to, { op: "move", path, to });
      },
    }),
    route("POST /api/workspace/keep", {
      summary: "Keep an attachment of a message, or of a tool's result, as a file",
      body: Type.Object({ attachment: named("attachment_id", Type.String()), path: FilePath }),
      status: 201,
      answer: FileEntry,
      scoped: true,
      refusals: refusalsOfWrites,
      async handle({ user, isBrowser, body: { attachment, path } }) {
        may(user, "write");
        const found = await attachments.read(user.id, attachment);
        if (!found)
          throw missingFault("attachment_not_found", "There is no such attachment.", "attachment_id");
        const origins = [
          { kind: "file" as const, name: found.name ?? nameIn(path) },
          ...(found.origins ?? []),
        ];
        // What is there already is not replaced by one click.
        return edit(user, isBrowser, path, { op: "write", path, data: found.data, expected: 0, origins });
      },
    }),
    route("POST /api/workspace/attach", {
      summary: "Upload a file of the workspace for a message, as `POST /api/attachments` does with others",
      body: At,
      status: 201,
      answer: Upload,
      scoped: true,
      refusals: { ...refusals, 413: "The file is too large for a message" },
      async handle({ user, body: { path } }) {
        may(user, "read");
        const { entry, data } = await readPart(user, path, undefined, attachments.limits.fileBytes + 1);
        return await attachments.add(user.id, { name: nameIn(entry.path), data, origins: entry.origins });
      },
    }),
    route("GET /api/workspace/versions", {
      summary: "List the versions of a file that are kept, newest first, those of a removed one too",
      query: At,
      answer: Type.Object({ versions: Type.Array(KeptVersion) }),
      refusals,
      scoped: true,
      async handle({ user, query: { path } }) {
        may(user, "read");
        const versions = await files().versions(user.id, path);
        if (versions.length === 0) throw missing(path);
        return { versions };
      },
    }),
    route("GET /api/workspace/diff", {
      summary: "Compare two versions of a file line by line",
      query: Type.Object({ path: FilePath, from: FileVersion, to: FileVersion }),
      answer: FileDifference,
      refusals,
      scoped: true,
      async handle({ user, query: { path, from, to } }) {
        may(user, "read");
        const problem = (words: string) => ({ lines: [], problem: words });
        try {
          const [before, after] = [await readText(user, path, from), await readText(user, path, to)];
          if (!before.isComplete || !after.isComplete)
            return problem(`A file of more than ${MAX_TEXT_BYTES / 1024} KiB is not compared here.`);
          return { lines: await threads.diff(before.text, after.text) };
        } catch (error) {
          if (!(error instanceof Fault) || error.param !== "file") throw error;
          return problem(error.message);
        }
      },
    }),
    route("POST /api/workspace/restore", {
      summary: "Make an earlier version of a file the present one",
      body: Type.Object({ path: FilePath, version: FileVersion }),
      answer: FileEntry,
      scoped: true,
      refusals: refusalsOfWrites,
      handle({ user, isBrowser, body: { path, version } }) {
        may(user, "write");
        return files().restore(user.id, path, version, changeBy(isBrowser));
      },
    }),
    route("GET /api/workspace/log", {
      summary: "List what was changed, newest first; by one turn, or at one path",
      query: Type.Object({
        turn: Type.Optional(Type.String()),
        path: Type.Optional(FilePath),
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
        before: Type.Optional(Type.String({ description: "`next` of the page before" })),
      }),
      answer: Type.Object(pageFields("sets", ChangeSet)),
      refusals: outOfScope,
      scoped: true,
      async handle({ user, query }) {
        may(user, "list");
        const { items, ...page } = await files().log(user.id, query);
        return { items: items.map(shownSet), ...page };
      },
    }),
    route("POST /api/workspace/undo", {
      summary:
        "Take a set of changes back; an undo can be undone, too. Where paths were changed since, nothing is done unless `conflicts` says how",
      body: UndoRequest,
      answer: UndoOutcome,
      refusals: {
        ...off,
        404: "There is no such set, or its versions are no longer kept",
        409: "It was undone already",
      },
      async handle({ user, isBrowser, body: { set, conflicts } }) {
        const outcome = await files().undo(user.id, set, changeBy(isBrowser), conflicts);
        return { ...outcome, set: outcome.set && shownSet(outcome.set) };
      },
    }),
  ];
}

const changeBy = (isBrowser: boolean): Change => ({ writer: { kind: isBrowser ? "page" : "api" } });

const nameIn = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

const missing = (path: string) =>
  missingFault("workspace_not_found", `There is no ${path} in the workspace.`, "path");

/** A text that was cut may end in the middle of a character. */
function wholeLines(data: Uint8Array): Uint8Array {
  const end = data.lastIndexOf(0x0a);
  return end === -1
    ? data.subarray(0, data.findLastIndex((byte) => byte < 0x80) + 1)
    : data.subarray(0, end + 1);
}
