/** The files of a user as the API shows them. */
import { type Declared, named, Time, Type } from "../../kernel/kit/schema.ts";
import { Origin } from "../../kernel/kit/turns.ts";

const origins = Type.Optional(
  Type.Array(Origin, { description: "Whose words it was made from, where they are not the user's own" }),
);

export const FilePath = Type.String({
  minLength: 1,
  maxLength: 4096,
  description: "`/reports/may.csv`, or `garden:/plan.md` in a named workspace",
});

export const FileVersion = Type.Integer({ minimum: 1 });

export const FileEntry = Type.Object(
  {
    path: Type.String(),
    kind: Type.Enum(["file", "folder"]),
    bytes: Type.Integer({ description: "0 for a folder" }),
    mime: Type.String(),
    version: Type.Integer({ description: "Counts up with each change; 0 for a folder" }),
    digest: Type.Optional(Type.String({ description: "SHA-256 of the content, in hex" })),
    updatedAt: Time,
    origins,
    isReadOnly: Type.Optional(Type.Boolean()),
  },
  { $id: "FileEntry" },
);
export type WorkspaceEntry = Declared<typeof FileEntry>;

export const FileHit = Type.Object(
  {
    path: Type.String(),
    line: Type.Optional(Type.Integer({ description: "Absent if the name has the words" })),
    text: Type.Optional(Type.String({ description: "The line" })),
    updatedAt: Type.Optional(Time),
  },
  { $id: "FileHit" },
);

const FileWriter = Type.Object(
  {
    kind: Type.Enum(["page", "api", "cli", "model", "tool", "outside"], {
      description:
        "The user on the page, with a token or on the command line; the model in a turn, or a tool that it called; whoever changed a mounted file outside of Postern",
    }),
    channel: Type.Optional(Type.String({ description: "Where the turn came from" })),
    thread: Type.Optional(named("thread_id", Type.String())),
    /** All changes of one turn are one set. Without it, each call of `apply` is a set of its own. */
    turn: Type.Optional(named("turn_id", Type.String())),
    tool: Type.Optional(Type.String()),
  },
  { $id: "FileWriter" },
);
export type Writer = Declared<typeof FileWriter>;

const FileChange = Type.Enum(["created", "written", "removed", "moved"]);

export const KeptVersion = Type.Object(
  {
    version: Type.Integer(),
    set: named("set_id", Type.String({ description: "The changes that it was made with" })),
    change: FileChange,
    bytes: Type.Integer(),
    updatedAt: Time,
    writer: FileWriter,
    origins,
  },
  { $id: "KeptVersion" },
);
export type WorkspaceVersion = Declared<typeof KeptVersion>;

export const ChangeSet = Type.Object(
  {
    id: Type.String(),
    at: Time,
    writer: FileWriter,
    undoes: Type.Optional(Type.String({ description: "The set that this one took back" })),
    undoneBy: Type.Optional(Type.String({ description: "The set that took this one back" })),
    changes: Type.Array(
      Type.Object({
        path: Type.String(),
        change: FileChange,
        to: Type.Optional(Type.String({ description: "Where it was moved to" })),
        before: Type.Integer({ description: "The version before; 0 where there was none" }),
        after: Type.Integer({ description: "The version after; 0 where there is none" }),
        isFolder: Type.Optional(Type.Boolean()),
      }),
    ),
    isCut: Type.Optional(Type.Boolean({ description: "True where it has more changes than are listed" })),
  },
  { $id: "ChangeSet" },
);
export type ChangeSet = Declared<typeof ChangeSet>;

const MAX_CHANGES = 100;

/** A folder of thousands of files may have been removed at once. */
export const shownSet = (set: ChangeSet): ChangeSet => ({
  ...set,
  changes: set.changes.slice(0, MAX_CHANGES),
  isCut: set.isCut || set.changes.length > MAX_CHANGES,
});

export const UndoRequest = Type.Object({
  set: named("set_id", Type.String()),
  conflicts: Type.Optional(
    Type.Enum(["overwrite", "skip"], {
      description: "Take those back, too, or leave them as they are",
    }),
  ),
});

export const UndoOutcome = Type.Object(
  {
    set: Type.Optional(ChangeSet),
    conflicts: Type.Array(Type.Object({ path: Type.String(), by: FileWriter, at: Time }), {
      description:
        "Paths that were changed since. While any is listed and `set` is absent, nothing was undone",
    }),
  },
  { $id: "UndoOutcome" },
);
export type UndoOutcome = Declared<typeof UndoOutcome>;

export const FileText = Type.Object(
  {
    text: Type.String(),
    isComplete: Type.Boolean({ description: "False where the file has more" }),
    problem: Type.Optional(Type.String({ description: "Why there is no text, in words" })),
  },
  { $id: "FileText" },
);

export const FileDifference = Type.Object(
  {
    lines: Type.Array(Type.String(), { description: "Each begins with its sign: `+`, `-` or a space" }),
    problem: Type.Optional(Type.String({ description: "Why the versions cannot be compared, in words" })),
  },
  { $id: "FileDifference" },
);

export const FilesUsage = Type.Object(
  {
    bytes: Type.Integer({ description: "Old versions included" }),
    maxBytes: Type.Integer(),
    files: Type.Integer(),
    maxFiles: Type.Integer(),
  },
  { $id: "FilesUsage" },
);
export type WorkspaceUsage = Declared<typeof FilesUsage>;

export const FilesRoot = Type.Object(
  {
    name: Type.String(),
    kind: Type.Enum(["named", "mount"], {
      description: "A workspace of its own, or a folder of the machine that the operator mounted",
    }),
    isReadOnly: Type.Boolean(),
    problem: Type.Optional(Type.String({ description: "Why it cannot be used now, in words" })),
  },
  { $id: "FilesRoot" },
);
export type WorkspaceRoot = Declared<typeof FilesRoot>;
