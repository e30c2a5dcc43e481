/** Brings what is attached to messages to those that a model is shown, once they fit its window. */
import type { Attachment, Turn } from "../../../kernel/plugin.ts";
import type { ModelAttachment, ModelMessage, RenderedMessage } from "../models/model.ts";

type Read = (ids: readonly string[]) => Promise<ReadonlyMap<string, Uint8Array>>;

/** Each is read once for a turn. */
export function createAttaching(
  { attached = [] }: Pick<Turn, "attached">,
  read: Read,
): (messages: readonly RenderedMessage[]) => Promise<readonly ModelMessage[]> {
  const known = new Map<string, Uint8Array | undefined>(attached.map(({ id, data }) => [id, data]));

  function bring<Message extends RenderedMessage>(message: Message): ModelMessage {
    if (message.role === "assistant" || message.attachments === undefined) return message as ModelMessage;
    const attachments = message.attachments.flatMap((attachment) =>
      withBytes(attachment, known.get(attachment.id)),
    );
    const missing = message.attachments.filter(({ id }) => known.get(id) === undefined).map(note);
    return message.role === "user"
      ? { ...message, text: joined(message.text, missing), attachments }
      : { ...message, output: joined(message.output, missing), attachments };
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

function withBytes(
  { kind, mime, name, detail }: Attachment,
  data: Uint8Array | undefined,
): ModelAttachment[] {
  if (data === undefined) return [];
  return [{ kind, mime, data, ...(name !== undefined && { name }), ...(detail !== undefined && { detail }) }];
}

const note = ({ kind, name }: Attachment): string =>
  `[${name === undefined ? kind : `${kind} ${name}`} no longer available]`;

const joined = (text: string, notes: readonly string[]): string =>
  [text, ...notes].filter((piece) => piece !== "").join("\n");
