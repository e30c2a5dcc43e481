/** The workspace as the model sees it. */
import { setTimeout as sleep } from "node:timers/promises";
import { createMutex, type TextThreads } from "../../../kernel/kit/concurrency.ts";
import { documentKind, isTextual } from "../../../kernel/kit/files.ts";
import { tryUtf8 } from "../../../kernel/kit/text.ts";
import { documentOutcome, paramsSchema, writtenFrom } from "../../../kernel/kit/tools.ts";
import { MODEL } from "../../../kernel/kit/turns.ts";
import { Fault } from "../../../kernel/plugin.ts";
import type { Attachments, OwnOutcome, OwnTool, OwnToolContext } from "../../agent/services.ts";
import type {
  Change,
  ChangedDigests,
  ChangeSet,
  PlannedEdit,
  UndoOutcome,
  Workspace,
  WorkspaceEntry,
  Writer,
} from "../services.ts";
import { compareTexts, MAX_COMPARED_BYTES } from "./file-change.ts";
import { readLines } from "./lines.ts";

// Models with a small window read these before every message: each word costs.
const PATH = { type: "string", minLength: 1 };

const MAX_LISTED = 200;
const DEFAULT_LINES = 500;
const MAX_READ_BYTES = 60_000;
const DEFAULT_HITS = 50;
const MAX_ATTEMPTS = 5;
/** What is added needs no version: only other processes can come in between, and they come to an end. */
const MAX_APPEND_ATTEMPTS = 200;
const APPEND_RETRY_MS = 20;
const MAX_NAMED = 20;

export function workspaceTools(
  workspace: Workspace,
  threads: Pick<TextThreads, "diff">,
  attachments: Pick<Attachments, "textOf">,
): OwnTool[] {
  const inTurn = createMutex();
  /** The model reads what was written, and the person what that changed. */
  const writing = async (
    { isScoped }: OwnToolContext,
    write: () => Promise<WrittenText>,
  ): Promise<OwnOutcome> => {
    let made: WrittenText | undefined;
    const outcome = await documentOutcome("file", async () => {
      made = await write();
      return [written(made.entry)];
    });
    // Who has such a token may write and not read, and is told of the call.
    if (made?.before === undefined || isScoped) return outcome;
    return { ...outcome, change: await compareTexts(threads, made.entry.path, made.before, made.after) };
  };
  /** Asks about changes of the machine's own files, also if the operator allows the tool. */
  const asking = (
    plan: (params: unknown, context: OwnToolContext) => readonly [PlannedEdit, Change | Promise<Change>],
  ): Pick<OwnTool, "asks" | "asksAnyway"> => ({
    asksAnyway: true,
    async asks(params, context) {
      const [edit, change] = plan(params, context);
      const sentences = await workspace.agreements(context.user, [edit], await change);
      return sentences.length > 0 ? sentences : undefined;
    },
  });

  /** The service was killed between the file on the disk and the store. */
  const found: OwnTool["found"] = async (note, params, { user }) => {
    const { before, after } = note as ChangedDigests;
    const entry = await workspace.find(user, (params as { path: string }).path);
    if (entry?.digest === after) return writtenOutcome(entry);
    return entry?.digest === before ? "undone" : undefined;
  };

  return [
    {
      name: "workspace_list",
      effect: "reads",
      words: { did: "listed", object: ["{folder}"], otherwise: "/", counts: ["entries"] },
      description: "Lists a folder of the workspace, where the user keeps files such as /reports/may.csv.",
      schema: paramsSchema(
        {
          folder: PATH,
          deep: { type: "boolean" },
          after: { type: "string" },
        },
        [],
      ),
      run: (params, { user }) =>
        documentOutcome("file", async () => {
          const { folder = "/", deep, after } = params as { folder?: string; deep?: boolean; after?: string };
          const { items, next } = await workspace.list(user, folder, {
            limit: MAX_LISTED,
            ...(deep !== undefined && { deep }),
            ...(after !== undefined && { after }),
          });
          const roots = folder === "/" ? await workspace.roots(user) : [];
          const named = roots.filter(({ kind }) => kind === "named").map(({ name }) => `${name}:/`);
          const entries = items.map(({ path, kind, bytes, updatedAt, isReadOnly }) => ({
            path,
            ...(kind === "folder" ? { folder: true } : { bytes, updated_at: updatedAt }),
            read_only: isReadOnly || undefined,
          }));
          const output = { entries, more_after: next, named_workspaces: named.length ? named : undefined };
          return [output, ...items];
        }),
    },
    {
      name: "workspace_read",
      effect: "reads",
      words: { did: "read", object: ["{path}"] },
      description: `Reads lines of a file in the workspace (${DEFAULT_LINES}, unless told otherwise).`,
      schema: paramsSchema(
        {
          path: PATH,
          from_line: { type: "integer", minimum: 1 },
          to_line: { type: "integer", minimum: 1 },
          version: { type: "integer", minimum: 1 },
        },
        ["path"],
      ),
      run: (params, { user }) =>
        documentOutcome("file", async () => {
          const { path, version, ...lines } = params as ReadParams;
          const from = lines.from_line ?? 1;
          const to = lines.to_line ?? from + DEFAULT_LINES - 1;
          const found = await workspace.stream(user, path, version);
          if (!found) throw noFile(version === undefined ? path : `${path} in version ${version}`);
          const { entry, data } = found;
          const isDocument = mayBeDocument(entry);
          if (!isDocument) assertText(entry);
          const range = { from, to, maxBytes: MAX_READ_BYTES };
          const read = isDocument
            ? // A document is whole in memory: one at a time for each user.
              await inTurn(`documents of ${user}`, () =>
                readLines(documentText(attachments, user, entry, data), range),
              )
            : await readLines(data, range);
          if (read.text === "" && from > read.total && read.total > 0)
            throw new Fault("invalid", "no_such_line", `${entry.path} has ${read.total} lines.`);
          const output = {
            path: entry.path,
            version: entry.version,
            from_line: read.from,
            to_line: read.to,
            lines: read.total,
            text: read.text,
            cut: read.isCut || undefined,
            written_from: writtenFrom(entry),
          };
          return [output, entry];
        }),
    },
    {
      name: "workspace_search",
      effect: "reads",
      words: { did: "searched_files", object: ["{words}", "{pattern}"], counts: ["results"] },
      description: "Finds lines in files of the workspace, by words or by a regular expression (RE2).",
      schema: paramsSchema(
        {
          words: { type: "string", minLength: 1 },
          pattern: { type: "string", minLength: 1 },
          folder: PATH,
          limit: { type: "integer", minimum: 1, maximum: 200 },
        },
        [],
      ),
      run: (params, { user }) =>
        documentOutcome("file", async () => {
          const { limit = DEFAULT_HITS, ...query } = params as { limit?: number };
          const { hits, isComplete } = await workspace.search(user, { ...query, limit });
          const results = hits.map(({ path, line, text }) => ({ path, line, text }));
          return [{ results, more: isComplete ? undefined : true }, ...hits];
        }),
    },
    {
      name: "workspace_write",
      effect: "recorded",
      words: { did: "wrote", object: ["{path}"] },
      found,
      description: "Writes a text file in the workspace. Earlier versions are kept.",
      schema: paramsSchema(
        {
          path: PATH,
          text: { type: "string" },
          append: { type: "boolean" },
        },
        ["path", "text"],
      ),
      ...asking((params, context) => {
        const { path, text } = params as { path: string; text: string };
        return [{ op: "write", path }, changeBy(context, text, path)];
      }),
      run: (params, context) =>
        writing(context, async () => {
          const { path, text, append } = params as { path: string; text: string; append?: boolean };
          const change = await changeBy(context, text, path);
          return await (append === true
            ? inTurn(`${context.user} ${path}`, () => addTo(workspace, context.user, path, text, change))
            : write(workspace, context.user, path, text, change));
        }),
    },
    {
      name: "workspace_edit",
      effect: "recorded",
      words: { did: "edited", object: ["{path}"] },
      found,
      description: "Replaces an exact text that stands once in a file of the workspace.",
      schema: paramsSchema({ path: PATH, old: { type: "string", minLength: 1 }, new: { type: "string" } }, [
        "path",
        "old",
        "new",
      ]),
      ...asking((params, context) => {
        const { path, new: text } = params as { path: string; new: string };
        return [{ op: "write", path }, changeBy(context, text, path)];
      }),
      run: (params, context) =>
        writing(context, async () => {
          const edit = params as { path: string; old: string; new: string };
          const change = await changeBy(context, edit.new, edit.path);
          return await replaceText(workspace, context.user, edit, change);
        }),
    },
    {
      name: "workspace_move",
      effect: "writes",
      words: { did: "moved", object: ["{path} → {to}"] },
      description: "Moves or renames a file or folder of the workspace.",
      schema: paramsSchema({ path: PATH, to: PATH }, ["path", "to"]),
      ...asking((params, context) => {
        const { path, to } = params as { path: string; to: string };
        return [{ op: "move", path, to }, moveBy(context, `${path} ${to}`)];
      }),
      run: (params, context) =>
        documentOutcome("file", async () => {
          const { path, to } = params as { path: string; to: string };
          // What would be replaced has to be removed first, which the person may have to agree to.
          if (path !== to && (await workspace.find(context.user, to)) !== undefined)
            throw new Fault("invalid", "workspace_exists", `There is a ${to} already: use another name.`);
          const change = await moveBy(context, to);
          const [moved] = await workspace.apply(context.user, [{ op: "move", path, to }], change);
          return [{ from: path, to: moved?.path }];
        }),
    },
    {
      name: "workspace_remove",
      effect: "writes",
      words: { did: "removed", object: ["{path}"] },
      description: "Removes a file or folder of the workspace. Only when the user asks for it.",
      schema: paramsSchema({ path: PATH }, ["path"]),
      judged: { path: "selector" },
      ...asking((params, context) => {
        const { path } = params as { path: string };
        return [{ op: "remove", path }, removalBy(context)];
      }),
      run: (params, context) =>
        documentOutcome("file", async () => {
          const { path } = params as { path: string };
          await workspace.apply(context.user, [{ op: "remove", path }], removalBy(context));
          return [{ path, removed: true }];
        }),
    },
    {
      name: "workspace_undo",
      effect: "writes",
      words: { did: "undid", counts: ["paths"] },
      description:
        "Takes back what the last answer changed in the workspace, or a change by its id. Only when the user asks for it.",
      schema: paramsSchema(
        {
          change: { type: "string" },
          conflicts: { type: "string", enum: ["overwrite", "skip"] },
        },
        [],
      ),
      needsPerson: true,
      asks: (params) => [
        "take back what an earlier answer changed in your workspace",
        ...((params as UndoParams).conflicts === "overwrite" ? ["replace what was changed there since"] : []),
      ],
      run: (params, context) =>
        documentOutcome("file", async () => {
          const { change, conflicts } = params as UndoParams;
          const set = change ?? (await lastChange(workspace, context));
          const undone = await workspace.undo(context.user, set, { writer: writerOf(context) }, conflicts);
          return [undoneInWords(undone)];
        }),
    },
  ];
}

interface ReadParams {
  readonly path: string;
  readonly version?: number;
  readonly from_line?: number;
  readonly to_line?: number;
}

interface UndoParams {
  readonly change?: string;
  readonly conflicts?: "overwrite" | "skip";
}

function writerOf({ thread, channel, turn }: OwnToolContext): Writer {
  return { kind: "model", thread, channel, turn };
}

/** A name can say something too. */
const othersOf = async ({ originsOf }: OwnToolContext, text: string, path: string) =>
  (await originsOf?.(text, path)) ?? [];

async function changeBy(context: OwnToolContext, text: string, path: string): Promise<Change> {
  const origins = [...(await othersOf(context, text, path)), MODEL];
  const record = recordOf(context, path);
  return { writer: writerOf(context), origins, isAgreed: context.isApproved, record };
}

const recordOf = ({ record }: OwnToolContext, about: string): Change["record"] =>
  record && {
    begun: (tx, note) => record(tx, { about, note }),
    done: async (tx, [entry]) =>
      record(tx, { about, outcome: await writtenOutcome(entry as WorkspaceEntry) }),
  };

const writtenOutcome = (entry: WorkspaceEntry) => documentOutcome("file", async () => [written(entry)]);

/** The words in it stay whose they were. */
const moveBy = async (context: OwnToolContext, names: string): Promise<Change> => ({
  writer: writerOf(context),
  origins: await othersOf(context, "", names),
  isAgreed: context.isApproved,
});

/** Whether the person asked for it is judged by itself. */
const removalBy = (context: OwnToolContext): Change => ({
  writer: writerOf(context),
  isAgreed: context.isApproved,
});

/** `before`: absent where it is not known what was there, or where that is too long to be compared. */
interface WrittenText {
  readonly entry: WorkspaceEntry;
  readonly before?: string | undefined;
  readonly after: string;
}

async function write(
  workspace: Workspace,
  user: string,
  path: string,
  text: string,
  change: Change,
): Promise<WrittenText> {
  const known = await textToCompare(workspace, user, path);
  const after = text.toWellFormed();
  const [written] = await workspace.apply(user, [{ op: "write", path, data: Buffer.from(after) }], change);
  const entry = written as WorkspaceEntry;
  // Somebody else may have written in between.
  const isNext = known?.version === undefined || entry.version === known.version + 1;
  return { entry, before: isNext ? known?.text : undefined, after };
}

/** The text of a file that is about to be replaced; an empty one where there is none. */
async function textToCompare(
  workspace: Workspace,
  user: string,
  path: string,
): Promise<{ readonly text: string; readonly version?: number } | undefined> {
  // What is wrong with the path is said by the write.
  const entry = await workspace.find(user, path).catch(() => undefined);
  if (entry === undefined) return { text: "" };
  if (entry.kind !== "file" || entry.bytes > MAX_COMPARED_BYTES || !isTextual(entry.mime)) return undefined;
  const found = await workspace.read(user, path).catch(() => undefined);
  const text = found && tryUtf8(found.data, true);
  return text === undefined ? undefined : { text, version: found?.entry.version };
}

const written = ({ path, version, bytes }: WorkspaceEntry) => ({ path, version, bytes });

/** Writes a text that was made from what is there. Where somebody else writes at the same moment, it is made again. */
async function rewrite(
  workspace: Workspace,
  user: string,
  path: string,
  change: Change,
  make: (before: string | undefined) => string,
  maxAttempts = MAX_ATTEMPTS,
): Promise<WrittenText> {
  for (let attempt = 1; ; attempt++) {
    const before = await workspace.read(user, path);
    const text = before && textOf(before.entry, before.data);
    const after = make(text).toWellFormed();
    const data = Buffer.from(after);
    const origins = [...(before?.entry.origins ?? []), ...(change.origins ?? [])];
    try {
      const edit = { op: "write", path, data, origins, expected: before?.entry.version ?? 0 } as const;
      const [entry] = await workspace.apply(user, [edit], change);
      return { entry: entry as WorkspaceEntry, before: text ?? "", after };
    } catch (error) {
      const isOutdated = error instanceof Fault && error.code === "workspace_changed";
      if (!isOutdated || attempt === maxAttempts) throw error;
      if (attempt >= MAX_ATTEMPTS) await sleep(Math.random() * APPEND_RETRY_MS);
    }
  }
}

const addTo = (workspace: Workspace, user: string, path: string, text: string, change: Change) =>
  rewrite(
    workspace,
    user,
    path,
    change,
    (before = "") => (before === "" || before.endsWith("\n") ? `${before}${text}` : `${before}\n${text}`),
    MAX_APPEND_ATTEMPTS,
  );

const replaceText = (
  workspace: Workspace,
  user: string,
  edit: { readonly path: string; readonly old: string; readonly new: string },
  change: Change,
) =>
  rewrite(workspace, user, edit.path, change, (before) => {
    if (before === undefined) throw noFile(edit.path);
    const at = before.indexOf(edit.old);
    if (at === -1)
      throw new Fault(
        "invalid",
        "text_not_found",
        `The text does not stand in ${edit.path}. Read the file and copy the text exactly.`,
      );
    if (before.indexOf(edit.old, at + 1) !== -1)
      throw new Fault(
        "invalid",
        "text_not_unique",
        `The text stands in ${edit.path} more than once. Give more of the lines around it.`,
      );
    return `${before.slice(0, at)}${edit.new}${before.slice(at + edit.old.length)}`;
  });

/** Documents are read as what they say. */
const mayBeDocument = ({ path, mime, bytes }: WorkspaceEntry) =>
  bytes > 0 && (mime.startsWith("application/") ? !isTextual(mime) : /\.eml$/i.test(path));

async function* documentText(
  { textOf }: Pick<Attachments, "textOf">,
  user: string,
  { path, mime, bytes }: WorkspaceEntry,
  stream: AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) {
    // Anything else is not read to its end.
    if (chunks.length === 0 && documentKind(path, chunk) === undefined) throw notText(path, mime, bytes);
    chunks.push(chunk);
  }
  const data = Buffer.concat(chunks);
  yield Buffer.from(await textOf(user, { name: path.slice(path.lastIndexOf("/") + 1), data }));
}

function assertText({ path, mime, bytes }: WorkspaceEntry): void {
  if (!isTextual(mime) && bytes > 0) throw notText(path, mime, bytes);
}

function textOf(entry: WorkspaceEntry, data: Uint8Array): string {
  assertText(entry);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    throw notText(entry.path, entry.mime, entry.bytes);
  }
}

const notText = (path: string, mime: string, bytes: number): Fault =>
  new Fault(
    "invalid",
    "not_text",
    `${path} is not text but ${mime} of ${bytes.toLocaleString("en")} bytes, which cannot be read or edited here.`,
  );

const noFile = (which: string): Fault =>
  new Fault("missing", "workspace_not_found", `There is no file ${which}. workspace_list lists all files.`);

async function lastChange(workspace: Workspace, { user, thread, turn }: OwnToolContext): Promise<string> {
  for (let before: string | undefined; ; ) {
    const page = await workspace.log(user, before === undefined ? {} : { before });
    const isLast = ({ writer, undoes, undoneBy }: ChangeSet) =>
      writer.thread === thread && writer.turn !== turn && undoes === undefined && undoneBy === undefined;
    const found = page.items.find(isLast);
    if (found) return found.id;
    before = page.next;
    if (before === undefined)
      throw new Fault(
        "missing",
        "workspace_not_found",
        "No earlier answer of this conversation changed something.",
      );
  }
}

function undoneInWords({ set, conflicts }: UndoOutcome) {
  const changed = conflicts.slice(0, MAX_NAMED).map(({ path, by, at }) => ({ path, by: by.kind, at }));
  return set === undefined
    ? {
        undone: false,
        changed_since: changed.length ? changed : undefined,
        note: changed.length
          ? "Nothing was done: these files were changed since. Ask the user whether to overwrite or to skip them."
          : "There was nothing to take back.",
      }
    : {
        undone: true,
        id: set.id,
        paths: set.changes.slice(0, MAX_NAMED).map(({ path }) => path),
        left_alone_or_replaced: changed.length ? changed : undefined,
      };
}
