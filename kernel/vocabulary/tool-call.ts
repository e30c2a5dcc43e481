/** A call of a tool and what came of it. */
import { type Declared, hidden } from "../schema/declare.ts";
import { Type } from "../schema/type.ts";
import { isTextual } from "../text/file-type.ts";
import { COUNTED, DEEDS, type Deed } from "./call-summary.ts";
import { Origin } from "./origin.ts";

export const ToolCall = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    params: Type.String({ description: "A JSON text" }),
  },
  { $id: "ToolCall" },
);
export type ToolCall = Declared<typeof ToolCall>;

const receipt = Type.Optional(Type.String());

/** The outcome of a tool call. A failing tool is an outcome that the model reads, not an exception. */
export const ToolOutcome = Type.Union(
  [
    Type.Object({ status: Type.Literal("ok"), output: Type.String(), receipt }),
    Type.Object({ status: Type.Literal("error"), code: Type.String(), message: Type.String(), receipt }),
    /** The tool lacks a credential: nothing was sent. Becomes an authentication gate. */
    Type.Object({
      status: Type.Literal("unauthenticated"),
      tool: Type.String(),
      secret: Type.String(),
      message: Type.String(),
    }),
  ],
  { $id: "ToolOutcome" },
);
export type ToolOutcome = Declared<typeof ToolOutcome>;

const count = Type.Optional(Type.Integer());

/** A call as people read it. A call of a tool that does not say how it reads has none. */
export const CallSummary = Type.Object(
  {
    text: Type.String({ description: "In English: `Edited notes.md · +1 −1`, or that it failed" }),
    did: Type.Enum(Object.keys(DEEDS) as Deed[], { description: "The same for a page in another language" }),
    object: Type.Optional(Type.String({ description: "What it was done to: untrusted text of one line" })),
    counts: Type.Optional(
      Type.Object({
        added: count,
        removed: count,
        ...Object.fromEntries(COUNTED.map((name) => [name, count])),
      } as Record<"added" | "removed" | (typeof COUNTED)[number], typeof count>),
    ),
  },
  { $id: "CallSummary" },
);
export type CallSummary = Declared<typeof CallSummary>;

/** What a call changed in a file, for people. The model is not shown it. */
export const FileChange = Type.Object(
  {
    path: Type.String(),
    added: Type.Integer({ description: "Lines" }),
    removed: Type.Integer({ description: "Lines" }),
    lines: Type.Array(Type.String(), { description: "Each begins with `+`, `-` or a space, and a space" }),
    isCut: Type.Optional(Type.Boolean({ description: "There are more, or longer, lines than are kept" })),
  },
  { $id: "FileChange" },
);
export type FileChange = Declared<typeof FileChange>;

/** Bytes that came with a message or with the output of a call. They are kept beside the thread, and go with it. */
export const Attachment = Type.Object(
  {
    id: Type.String(),
    kind: Type.Enum(["image", "file", "audio"]),
    mime: Type.String(),
    size: Type.Integer(),
    name: Type.Optional(Type.String()),
    detail: Type.Optional(Type.String({ description: "How closely a model should look at an image" })),
    text: Type.Optional(
      Type.Object(
        {
          bytes: Type.Integer({ description: "The size of the text in UTF-8" }),
          shown: Type.Optional(
            Type.Integer({ description: "How many of these fit the model, which is shown the beginning" }),
          ),
        },
        { description: "Set for a file that models read as text" },
      ),
    ),
    /** Of a file of the workspace. */
    origins: Type.Optional(hidden(Type.Array(Origin))),
  },
  { $id: "Attachment" },
);
export type Attachment = Declared<typeof Attachment>;

/** Every model is given a file that is text, or whose text was read, as text. */
export function readsAsText({ kind, mime, text }: Pick<Attachment, "kind" | "mime" | "text">): boolean {
  return kind === "file" && (text !== undefined || isTextual(mime));
}

/** A file that was uploaded for a message. */
export const Upload = Type.Object(
  {
    ...Attachment.properties,
    name: Type.String(),
    note: Type.Optional(Type.String({ description: "What the model cannot read of it" })),
  },
  { $id: "Upload" },
);
export type Upload = Declared<typeof Upload>;
