/** Commands for the files of the workspace. */
import { relativeTime } from "../../../kernel/kit/terminal.ts";
import type { UndoOutcome, Writer } from "../../workspace/services.ts";
import { completeKept } from "../files/mentions.ts";
import type { FileChanges, TerminalFiles } from "../services.ts";
import { plural, sizeOf } from "../text/amounts.ts";
import { fenced, quoted, verbatim } from "../text/markdown.ts";
import type { Commands, SlashParts } from "./command.ts";

const MAX_LISTED = 100;
const MAX_SHOWN_BYTES = 8000;
const MAX_SETS_BACK = 100;
const OFF = "The workspace is off, so there are no files.";

export const WORKSPACE_COMMANDS: Commands = {
  files: {
    about: "list a folder of the workspace, or show the beginning of a file",
    takes: "[path]",
    complete: (rest, { keptPaths }) => completeKept(rest, keptPaths()),
    async run({ terminal: { files } }, rest) {
      if (!files) return OFF;
      const path = rest === "" ? "/" : rest;
      const entry = await files.find(path);
      if (entry?.kind === "file") return await showFile(files, entry.path);
      const { items, next } = await files.list(path, { limit: MAX_LISTED });
      const { bytes, maxBytes } = await files.usage();
      const lines = items.map(({ path: each, kind, bytes: size, updatedAt }) =>
        kind === "folder"
          ? `- ${verbatim(`${each}/`)}`
          : `- ${verbatim(each)} ${sizeOf(size)}, ${relativeTime(updatedAt)}`,
      );
      if (lines.length === 0) lines.push("*This folder is empty.*");
      if (next !== undefined) lines.push("", "*There are more: name a folder after the command.*");
      return `${lines.join("\n")}\n\n*${sizeOf(bytes)} of ${sizeOf(maxBytes)} used.*`;
    },
  },
  undo: {
    about: "undo what the last answer changed in files; once more brings it back",
    async run({ terminal: { files }, conversation }) {
      if (!files) return OFF;
      const sets = await files.log(MAX_SETS_BACK);
      const last = sets.find(
        ({ writer, undoes }) =>
          writer.turn !== undefined && writer.thread === conversation.thread && undoes === undefined,
      );
      if (last === undefined) return "No answer in this thread has changed a file.";
      return await undo(files, conversation, last);
    },
  },
};

async function showFile(files: TerminalFiles, path: string): Promise<string> {
  const found = await files.read(path, MAX_SHOWN_BYTES);
  if (!found) return `There is no ${verbatim(path)}.`;
  const { bytes, mime, version } = found.entry;
  const head = `${verbatim(path)} ${sizeOf(bytes)}, version ${version}`;
  const text = decode(found.data);
  if (text === undefined) return `${head}. *It is ${quoted(mime)}, which is not shown here.*`;
  const more = bytes > found.data.byteLength ? "\n\n*This is the beginning.*" : "";
  return `${head}\n\n${fenced(text, /\.(\w{1,10})$/.exec(path)?.[1] ?? "")}${more}`;
}

function decode(data: Uint8Array): string | undefined {
  try {
    // The last character may have been cut.
    const text = new TextDecoder("utf-8", { fatal: true }).decode(data, { stream: true });
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Takes a set back, or what took it back. Where that would undo somebody's later change, the person chooses. */
async function undo(
  files: TerminalFiles,
  conversation: SlashParts["conversation"],
  set: FileChanges,
): Promise<string> {
  const { thread } = conversation;
  const [id, words] =
    set.undoneBy === undefined ? [set.id, "Undone:"] : [set.undoneBy, "Brought back what was undone:"];
  const first = await files.undo(id, { thread });
  if (first.set) return `${words}\n${changeLines(set)}`;
  if (first.conflicts.length === 0) return "There is nothing left to undo.";
  const names = conflictWords(first.conflicts);
  const way = (await conversation.confirm(`${names} Undo the rest, and leave that?`, "Undo the rest"))
    ? "skip"
    : (await conversation.confirm("Undo that, too, and lose the later changes?", "Undo all"))
      ? "overwrite"
      : undefined;
  if (way === undefined) return "Nothing was undone.";
  const second = await files.undo(id, { thread, conflicts: way });
  if (!second.set) return "There was nothing left to undo.";
  const left =
    way === "skip" ? `\n\n*Left alone: ${first.conflicts.map(({ path }) => verbatim(path)).join(", ")}*` : "";
  return `${words}\n${changeLines(set)}${left}`;
}

const WORDS = { created: "new", written: "changed", removed: "removed", moved: "moved" } as const;
const MAX_LINES = 20;

function changeLines({ changes, isCut }: FileChanges): string {
  const lines = changes
    .slice(0, MAX_LINES)
    .map(
      ({ path, change, to }) =>
        `- ${WORDS[change]} ${verbatim(path)}${to === undefined ? "" : ` to ${verbatim(to)}`}`,
    );
  const more = changes.length - lines.length;
  if (more > 0 || isCut) lines.push(`- and ${more > 0 ? plural(more, "other") : "others"}`);
  return lines.join("\n");
}

function conflictWords(conflicts: UndoOutcome["conflicts"]): string {
  const [first] = conflicts;
  if (first === undefined) return "";
  const others = conflicts.length === 1 ? "" : `, and ${plural(conflicts.length - 1, "other")}`;
  return `${first.path} was changed since ${writerWords(first.by)}, ${relativeTime(first.at)}${others}.`;
}

const BY = {
  model: "by the model",
  page: "on the page",
  api: "with a token",
  cli: "on the command line",
  outside: "outside of Postern",
} as const;

const writerWords = ({ kind, tool = "" }: Writer): string =>
  kind === "tool" ? `by the tool ${tool}` : BY[kind];
