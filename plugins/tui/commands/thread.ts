/** Commands for the open thread and its next message. */
import { open, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { lexer, type Tokens, walkTokens } from "marked";
import { cutMarkdown } from "../../../kernel/kit/text.ts";
import type { ModelOption } from "../../models/services.ts";
import { completePath, fileFault, pathOf } from "../files/paths.ts";
import { plural, sizeOf } from "../text/amounts.ts";
import { quoted } from "../text/markdown.ts";
import type { Commands, SlashCommand } from "./command.ts";

const NO_THREAD = "There is no thread yet. Your first message starts one; */threads* lists the others.";

/** Some terminals take more, and none says when it was too much. */
const MAX_COPY_BYTES = 70_000;

/** More than one turn back, since each answer to an approval is a turn. */
const MAX_TURNS_BACK = 50;

const MAX_MODELS_LISTED = 20;

/** Lists the models or chooses one for the open thread. */
const MODEL: SlashCommand = {
  about: "list the models, or choose one for this thread; /model default takes the configured one",
  takes: "[name]",
  complete: (rest, { modelNames }) => modelNames().filter((name) => name.startsWith(rest)),
  async run({ terminal, conversation }, rest) {
    const { items, unlisted } = await terminal.models();
    const { provider, name } = conversation.model ?? terminal.model();
    if (rest === "") {
      const lines = items.slice(0, MAX_MODELS_LISTED).map((each) => {
        const mark = each.provider === provider && each.name === name ? " ← this thread" : "";
        return `- ${quoted(fullName(each))}${each.role ? ` (${each.role})` : ""}${mark}`;
      });
      const more = items.length - lines.length;
      const notes = [
        ...(more > 0 ? [`*${more} more; Tab after /model completes their names.*`] : []),
        ...unlisted.map((each) => `*${quoted(each)} does not list its models.*`),
      ];
      return `**${quoted(name)}** (${quoted(provider)}) answers here.\n\n${lines.join("\n")}\n\n${notes.join("\n\n")}`;
    }
    if (rest === "default") {
      await conversation.setModel(undefined);
      return `**${quoted(terminal.model().name)}**, the configured model, answers here from now on.`;
    }
    const matching = find(items, rest);
    const [chosen, ...others] = matching;
    if (chosen === undefined) return `There is no model ${quoted(rest)} here. /model lists them.`;
    if (others.length > 0)
      return `${quoted(rest)} matches ${matching
        .slice(0, MAX_MODELS_LISTED)
        .map((each) => quoted(fullName(each)))
        .join(", ")}. Write more of the name.`;
    await conversation.setModel({ provider: chosen.provider, name: chosen.name });
    return `**${quoted(chosen.name)}** answers ${conversation.thread === undefined ? "in the thread that your next message starts" : "here from now on"}.`;
  },
};

const fullName = ({ provider, name }: ModelOption): string => `${provider}/${name}`;

/** Finds a model by its name, with or without its provider, or by a part of it that no other has. */
function find(items: readonly ModelOption[], wanted: string): readonly ModelOption[] {
  const exact = items.filter((each) => each.name === wanted || fullName(each) === wanted);
  // If several providers have it, the configured one comes first.
  if (exact.length > 0) return exact.slice(0, 1);
  const part = wanted.toLowerCase();
  return items.filter((each) => fullName(each).toLowerCase().includes(part));
}

export const THREAD_COMMANDS: Commands = {
  new: {
    about: "start a new thread",
    async run({ conversation }) {
      await conversation.open(undefined);
      return "*New thread. Your next message starts it.*";
    },
  },
  retry: {
    about: "ask the last message again, for another answer",
    async run({ conversation, terminal }) {
      const { thread } = conversation;
      if (thread === undefined) return NO_THREAD;
      if (conversation.activity) return "An answer is on its way. Esc cancels it; then /retry asks again.";
      const turns = await terminal.threads.turns(thread, MAX_TURNS_BACK);
      const last = turns
        .toSorted((a, b) => a.createdAt.localeCompare(b.createdAt))
        .findLast(({ input }) => input.type === "message");
      if (last === undefined) return "There is no message to ask again.";
      await conversation.sendAgain(last);
      return undefined;
    },
  },
  copy: {
    about: "copy the last answer, or the last code block in it",
    takes: "[code]",
    complete: (rest) => ["code"].filter((word) => word.startsWith(rest)),
    run({ conversation, copy }, rest) {
      if (rest !== "" && rest !== "code")
        return "/copy copies the last answer, /copy code its last code block.";
      const answer = conversation.entries.findLast(({ type }) => type === "answer");
      if (answer?.type !== "answer") return "There is no answer to copy yet.";
      const text = rest === "code" ? codeBlocks(answer.text).at(-1) : answer.text;
      if (text === undefined) return "There is no code block in the last answer.";
      if (Buffer.byteLength(text) > MAX_COPY_BYTES)
        return "It is too long for the clipboard of a terminal. /export writes the thread to a file.";
      copy(text);
      return `Copied ${rest === "code" ? "the code block" : "the answer"}: ${text.length} characters. *If your terminal does not allow that, /export writes a file.*`;
    },
  },
  attach: {
    about: "attach a file or an image to the next message; /attach none removes them",
    takes: "<path>",
    complete: completePath,
    async run({ pendingFiles }, rest) {
      if (rest === "none") {
        const count = await pendingFiles.removeAll();
        return count === 0 ? "No files are attached." : `Removed ${plural(count, "file")}.`;
      }
      if (rest === "") {
        const { waiting } = pendingFiles;
        if (waiting.length === 0)
          return "Write a path after the command: /attach ~/notes.md. In a message, @notes.md attaches a file too.";
        return waiting.map(({ name, size }) => `- ${quoted(name)}, ${sizeOf(size)}`).join("\n");
      }
      const { name, size, note } = await pendingFiles.add(pathOf(rest.replace(/^(['"])(.*)\1$/, "$2")));
      return `Attached ${quoted(name)}, ${sizeOf(size)}. It goes with your next message.${note ? ` ${quoted(note)}` : ""}`;
    },
  },
  export: {
    about: "write the thread to a file: Markdown, or JSON if it ends with .json",
    takes: "[file]",
    complete: completePath,
    async run({ conversation, terminal: { threads } }, rest) {
      const { thread } = conversation;
      if (thread === undefined) return NO_THREAD;
      const format = rest.toLowerCase().endsWith(".json") ? "json" : "markdown";
      const { name, text } = await threads.export(thread, format);
      const given = pathOf(rest === "" ? "." : rest);
      const path = (await look(given))?.isDirectory() ? join(given, name) : given;
      const isThere = (await look(path)) !== undefined;
      if (isThere && !(await conversation.confirm(`${path} exists. Overwrite it?`, "Overwrite")))
        return "Nothing was written.";
      await writeThread(path, text, isThere).catch((error: unknown) => {
        throw fileFault("write", path, error);
      });
      return `Wrote the thread to ${quoted(path)}.`;
    },
  },
  rename: {
    about: "rename the thread",
    takes: "<title>",
    async run({ conversation, terminal: { threads } }, rest) {
      if (conversation.thread === undefined) return NO_THREAD;
      if (rest === "") return "Write the new title after the command: /rename Plans for May";
      await threads.rename(conversation.thread, rest);
      await conversation.lookUpTitle();
      return `Renamed to ${quoted(conversation.title ?? rest)}.`;
    },
  },
  delete: {
    about: "move the thread to the bin for 30 days; /delete now deletes it for good",
    takes: "[now]",
    async run({ conversation, terminal: { threads } }, rest) {
      if (rest !== "" && rest !== "now") return "Write */delete*, or */delete now* to delete it for good.";
      const { thread } = conversation;
      const found = thread === undefined ? undefined : await threads.find(thread);
      if (found === undefined) return NO_THREAD;
      const { id, title, turns } = found;
      const question = `Delete "${title}" with ${plural(turns, "turn")} for good? It cannot be restored.`;
      if (rest === "now" && !(await conversation.confirm(question, "Delete"))) return "Not deleted.";
      await (rest === "now" ? threads.remove(id) : threads.bin(id));
      if (conversation.thread === id) await conversation.open(undefined);
      const what =
        rest === "now"
          ? `Deleted ${quoted(title)} for good.`
          : `Moved ${quoted(title)} to the bin. */restore* brings it back.`;
      return `${what} *Your next message starts a new thread.*`;
    },
  },
  model: MODEL,
};

async function writeThread(path: string, text: AsyncIterable<string>, isThere: boolean): Promise<void> {
  // An existing file stays whole until the new one is.
  const target = isThere ? join(dirname(path), `.${basename(path)}.${process.pid}.part`) : path;
  const file = await open(target, "wx");
  try {
    for await (const piece of text) await file.appendFile(piece);
    await file.close();
    if (isThere) await rename(target, path);
  } catch (error) {
    await file.close().catch(() => {});
    await rm(target, { force: true });
    throw error;
  }
}

const look = (path: string) => stat(path).catch(() => undefined);

/** Returns the fenced blocks of an answer, also those in lists and quotes. */
function codeBlocks(text: string): readonly string[] {
  return cutMarkdown(text).flatMap((piece) => {
    if (piece.type === "code") return [piece.text];
    if (piece.type === "plain") return [];
    const found: string[] = [];
    void walkTokens(lexer(piece.raw), (token) => {
      if (token.type === "code") found.push((token as Tokens.Code).text);
    });
    return found;
  });
}
