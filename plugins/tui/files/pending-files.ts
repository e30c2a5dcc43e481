/** Files that go with the next message. Each is uploaded as soon as it is named, so that a refusal loses no message. */
import { open } from "node:fs/promises";
import { basename } from "node:path";
import { Fault, reason } from "../../../kernel/plugin.ts";
import type { Upload } from "../../agent/services.ts";
import type { Conversation } from "../conversation/conversation.ts";
import type { FileEntry, Terminal } from "../services.ts";
import { sizeOf } from "../text/amounts.ts";
import { quoted } from "../text/markdown.ts";
import { mentionsIn } from "./mentions.ts";
import { fileFault } from "./paths.ts";

export type PendingFiles = ReturnType<typeof createPendingFiles>;

export function createPendingFiles({ uploads, files }: Terminal, conversation: Conversation) {
  let waiting: readonly Upload[] = [];

  const upload = async (path: string): Promise<Upload> =>
    uploads.add({ name: basename(path), data: await read(path, uploads.limits.fileBytes) });

  /** The file of the workspace that a mention means; undefined where it means none. */
  const findKept = async (candidates: readonly string[]): Promise<FileEntry | undefined> => {
    for (const path of candidates) {
      // What cannot be a path is only text.
      const entry = await files?.find(path).catch(() => undefined);
      if (entry?.kind === "file") return entry;
    }
    return undefined;
  };

  /** One that no message can carry is only named by the message, and the agent can still read it. */
  const uploadKept = async ({ path }: FileEntry): Promise<readonly Upload[]> => {
    try {
      return files ? [await files.attach(path)] : [];
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      conversation.note(`${quoted(path)} is named, but not attached: ${quoted(error.message)}`, "warning");
      return [];
    }
  };

  const remove = (unsent: readonly Upload[]) =>
    Promise.allSettled(unsent.map(({ id }) => uploads.remove(id)));

  return {
    get waiting() {
      return waiting;
    },
    /** Rejects with a `Fault` that says why the file is not accepted. */
    async add(path: string): Promise<Upload> {
      if (waiting.length >= uploads.limits.files)
        throw fault("too_many_files", `A message can have at most ${uploads.limits.files} files.`);
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
      const { local, others } = mentionsIn(text);
      const kept: FileEntry[] = [];
      for (const candidates of others) {
        const entry = await findKept(candidates);
        if (entry) kept.push(entry);
      }
      const named = [...local, ...kept.map(({ path }) => path)];
      // Whoever wrote the pasted text must not choose which of the person's files are sent.
      if (isPasted && named.length > 0)
        conversation.note(
          `Not attached, since the text was pasted: ${named.map(quoted).join(", ")}. /attach attaches a file.`,
          "warning",
        );
      const before = waiting;
      const mentioned: Upload[] = [];
      try {
        if (!isPasted) {
          for (const path of local) mentioned.push(await upload(path));
          for (const entry of kept) mentioned.push(...(await uploadKept(entry)));
        }
      } catch (error) {
        await remove(mentioned);
        conversation.note(reason(error), "bad");
        return false;
      }
      waiting = [];
      if (await conversation.send(text, [...before, ...mentioned])) return true;
      waiting = [...before, ...waiting];
      await remove(mentioned);
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
