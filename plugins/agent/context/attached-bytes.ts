/** Brings what is attached to messages to those that a model is shown, once they fit its window. */

import { redact } from "../../../kernel/kit/secrets.ts";
import { readsAsText } from "../../../kernel/kit/tools.ts";
import type { Attachment, Mask } from "../../../kernel/plugin.ts";
import type { ModelAttachment, ModelMessage } from "../../models/services.ts";
import type { Turn } from "../services.ts";
import type { RenderedMessage } from "../threads/tokens.ts";

type Read = (ids: readonly string[]) => Promise<ReadonlyMap<string, Uint8Array>>;

/** Each is read once for a turn. */
export function createAttacher(
  { attached = [] }: Pick<Turn, "attached">,
  read: Read,
  mask: Mask,
): (messages: readonly RenderedMessage[]) => Promise<readonly ModelMessage[]> {
  const known = new Map<string, Uint8Array | undefined>(
    attached.map(({ id, data, text }) => [id, text ?? data]),
  );

  function bring<Message extends RenderedMessage>(message: Message): ModelMessage {
    if (message.role === "assistant" || message.attachments === undefined) return message as ModelMessage;
    const attachments = message.attachments.flatMap((attachment) =>
      withBytes(attachment, known.get(attachment.id), mask),
    );
    const missing = message.attachments.filter(({ id }) => known.get(id) === undefined).map(note);
    return withNotes({ ...message, attachments } as ModelMessage, missing);
  }

  return async (messages) => {
    const ids = messages.flatMap((message) =>
      message.role === "assistant" ? [] : (message.attachments ?? []).map(({ id }) => id),
    );
    const unknown = [...new Set(ids)].filter((id) => !known.has(id));
    if (unknown.length > 0) {
      const found = await read(unknown);
      for (const id of unknown) known.set(id, found.get(id));
    }
    return ids.length === 0 ? (messages as readonly ModelMessage[]) : messages.map(bring);
  };
}

function withBytes(attachment: Attachment, data: Uint8Array | undefined, mask: Mask): ModelAttachment[] {
  if (data === undefined) return [];
  const { kind, mime, name, detail } = attachment;
  const shown = readsAsText(attachment)
    ? { mime: "text/plain", data: Buffer.from(redact(mask, textOf(attachment, data))) }
    : { mime, data };
  return [{ kind, ...shown, name, detail }];
}

/** Cuts a text to fit the model, which is told that it is not all. */
function textOf({ text }: Attachment, data: Uint8Array): string {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  if (text?.shown === undefined || text.shown >= data.byteLength) return bytes.toString("utf8");
  const share = Math.max(1, Math.floor((text.shown / data.byteLength) * 100));
  return `${bytes.toString("utf8", 0, text.shown)}\n\n[The file goes on: only its first ${share}% fits here. Say so where it matters.]`;
}

const note = ({ kind, name }: Attachment): string =>
  `[${name === undefined ? kind : `${kind} ${name}`} no longer available]`;

/** The message with lines about attachments that it lacks. */
export function withNotes(message: ModelMessage, notes: readonly string[]): ModelMessage {
  const add = (text: string) => [text, ...notes].filter((line) => line !== "").join("\n");
  if (message.role === "tool") return { ...message, output: add(message.output) };
  return { ...message, text: add(message.text) };
}
