/** Files that go with the next message. Each is uploaded as soon as it is named, so that a refusal loses no message. */
import { open } from "node:fs/promises";
import { basename } from "node:path";
import { Fault, reason, type Services, type Upload } from "../../../kernel/plugin.ts";
import type { Conversation } from "../conversation/conversation.ts";
import { sizeOf } from "../text/amounts.ts";
import { quoted } from "../text/markdown.ts";
import { mentionsIn } from "./mentions.ts";
import { fileFault } from "./paths.ts";

export type PendingFiles = ReturnType<typeof createPendingFiles>;

export function createPendingFiles(
  attachments: Services["attachments"],
  conversation: Conversation,
  user: string,
) {
  let waiting: readonly Upload[] = [];

  const upload = async (path: string): Promise<Upload> =>
    attachments.add(user, { name: basename(path), data: await read(path, attachments.limits.fileBytes) });

  const remove = (uploads: readonly Upload[]) =>
    Promise.allSettled(uploads.map(({ id }) => attachments.remove(user, id)));

  return {
    get waiting() {
      return waiting;
    },
    /** Rejects with a `Fault` that says why the file is not accepted. */
    async add(path: string): Promise<Upload> {
      if (waiting.length >= attachments.limits.files)
        throw fault("too_many_files", `A message can have at most ${attachments.limits.files} files.`);
      const added = await upload(path);
      waiting = [...waiting, added];
      conversation.changed();
      return added;
    },
    /** Returns how many were removed. */
    async removeAll(): Promise<number> {
      const removed = waiting;
      waiting = [];
      conversation.changed();
      await remove(removed);
      return removed.length;
    },
    /** Sends a message with the waiting files and those that it names; returns false if it was refused. */
    async send(text: string, isPasted: boolean): Promise<boolean> {
      const named = mentionsIn(text);
      // Whoever wrote the pasted text must not choose which of the person's files are sent.
      if (isPasted && named.length > 0)
        conversation.note(
          `Not attached, since the text was pasted: ${named.map(quoted).join(", ")}. /attach attaches a file.`,
          "warning",
        );
      const before = waiting;
      const uploads: Upload[] = [];
      try {
        if (!isPasted) for (const path of named) uploads.push(await upload(path));
      } catch (error) {
        await remove(uploads);
        conversation.note(reason(error), "bad");
        return false;
      }
      waiting = [];
      if (await conversation.send(text, [...before, ...uploads])) return true;
      waiting = [...before, ...waiting];
      await remove(uploads);
      return false;
    },
  };
}

async function read(path: string, maxBytes: number): Promise<Uint8Array> {
  try {
    const file = await open(path);
    try {
      const found = await file.stat();
      if (!found.isFile()) throw fault("not_a_file", `${path} is not a file.`);
      if (found.size > maxBytes)
        throw fault(
          "file_too_large",
          `${path} has ${sizeOf(found.size)}; a file may have at most ${sizeOf(maxBytes)}.`,
        );
      return await file.readFile();
    } finally {
      await file.close();
    }
  } catch (error) {
    throw error instanceof Fault ? error : fileFault("read", path, error);
  }
}

const fault = (code: string, message: string) => new Fault("invalid", code, message);
