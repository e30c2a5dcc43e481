/** Files that go with the next message. Each is uploaded when it is named, so that a refusal costs no message. */
import { open } from "node:fs/promises";
import { basename } from "node:path";
import { Fault, reason, type Services, type Upload } from "../../../kernel/plugin.ts";
import type { Conversation } from "../conversation.ts";
import { quoted } from "../screen/text/markdown.ts";
import { mentionsIn } from "./mentions.ts";
import { fileFault } from "./paths.ts";
import { sizeOf } from "./size.ts";

export interface Attaching {
  readonly waiting: readonly Upload[];
  /** Rejects with a `Fault` that says why it is not taken. */
  add(path: string): Promise<Upload>;
  /** Answers how many were given up. */
  drop(): Promise<number>;
  /** Sends a message with those that wait and those that it names; false where it was refused. */
  send(text: string, isPasted: boolean): Promise<boolean>;
}

export interface AttachingParts {
  readonly attachments: Services["attachments"];
  readonly conversation: Conversation;
  readonly user: string;
}

export function createAttaching({ attachments, conversation, user }: AttachingParts): Attaching {
  let waiting: readonly Upload[] = [];

  const upload = async (path: string): Promise<Upload> =>
    attachments.add(user, { name: basename(path), data: await read(path, attachments.limits.fileBytes) });

  const giveUp = (uploads: readonly Upload[]) =>
    Promise.allSettled(uploads.map(({ id }) => attachments.remove(user, id)));

  return {
    get waiting() {
      return waiting;
    },
    async add(path) {
      if (waiting.length >= attachments.limits.files)
        throw new Fault(
          "invalid",
          "too_many_files",
          `A message takes at most ${attachments.limits.files} files.`,
        );
      const added = await upload(path);
      waiting = [...waiting, added];
      conversation.changed();
      return added;
    },
    async drop() {
      const dropped = waiting;
      waiting = [];
      conversation.changed();
      await giveUp(dropped);
      return dropped.length;
    },
    async send(text, isPasted) {
      const named = mentionsIn(text);
      // Whoever wrote what was pasted must not choose which of the person's files are sent.
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
        await giveUp(uploads);
        conversation.note(reason(error), "bad");
        return false;
      }
      waiting = [];
      if (await conversation.send(text, [...before, ...uploads])) return true;
      waiting = [...before, ...waiting];
      await giveUp(uploads);
      return false;
    },
  };
}

async function read(path: string, most: number): Promise<Uint8Array> {
  try {
    const file = await open(path);
    try {
      const found = await file.stat();
      if (!found.isFile()) throw new Fault("invalid", "not_a_file", `${path} is not a file.`);
      if (found.size > most)
        throw new Fault(
          "invalid",
          "file_too_large",
          `${path} has ${sizeOf(found.size)}; a file may have at most ${sizeOf(most)}.`,
        );
      return await file.readFile();
    } finally {
      await file.close();
    }
  } catch (error) {
    throw error instanceof Fault ? error : fileFault("read", path, error);
  }
}
