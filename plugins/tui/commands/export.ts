/** `/export`: the thread as a file. */
import { open, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { beside, completePath, fileFault, pathOf } from "../files/paths.ts";
import { quoted } from "../screen/text/markdown.ts";
import { NO_THREAD, type SlashCommand } from "./command.ts";

export const EXPORT: SlashCommand = {
  about: "write the thread to a file: Markdown, or JSON where it ends with .json",
  takes: "[file]",
  complete: completePath,
  async run({ conversation, threads, user }, rest) {
    const { thread } = conversation;
    if (thread === undefined) return NO_THREAD;
    const format = rest.toLowerCase().endsWith(".json") ? "json" : "markdown";
    const { name, text } = await threads.export(user, thread, format);
    const given = pathOf(rest === "" ? "." : rest);
    const path = (await isFolder(given)) ? join(given, name) : given;
    const isThere = await exists(path);
    if (isThere && !(await conversation.confirm(`${path} exists. Overwrite it?`, "Overwrite")))
      return "Nothing was written.";
    await write(path, text, isThere).catch((error: unknown) => {
      throw fileFault("write", path, error);
    });
    return `Wrote the thread to ${quoted(path)}.`;
  },
};

async function write(path: string, text: AsyncIterable<string>, isThere: boolean): Promise<void> {
  // What is there stays whole until the new one is.
  const target = isThere ? beside(path) : path;
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

const isFolder = async (path: string) => (await stat(path).catch(() => undefined))?.isDirectory() === true;
const exists = async (path: string) => (await stat(path).catch(() => undefined)) !== undefined;
