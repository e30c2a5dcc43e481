/** How much of the text of files a model is shown: its window has to hold the conversation too. */
import type { Attachment } from "../../../../kernel/plugin.ts";
import type { Model } from "../../../models/services.ts";
import type { Turn } from "../../services.ts";

const BYTES_PER_TOKEN = 4;
// A share of the window; the rest is for earlier messages, tool output and the answer.
const SHARE = 0.4;

const roomOf = ({ window }: Pick<Model, "window">): number => Math.floor(window * SHARE);

/** Tells the person about limits before the file is sent. */
export function noteFor(
  attachment: Attachment,
  model: Pick<Model, "name" | "window" | "takes">,
): string | undefined {
  const { kind, text } = attachment;
  const { name } = model.name;
  if (kind === "image" && !model.takes.has("image"))
    return `The model ${name} does not take images. Choose one that does before you send it.`;
  if (text === undefined) return undefined;
  if (model.name.provider === "builtin")
    return "The built-in model does not read files. Set up a language model before you send it.";
  const tokens = Math.ceil(text.bytes / BYTES_PER_TOKEN);
  const room = roomOf(model);
  if (tokens <= room) return undefined;
  const [has, fits, all] = [tokens, room, model.window].map((count) => count.toLocaleString("en"));
  return `The model ${name} will be shown the first ${fits} of about ${has} tokens: its context window is ${all} tokens.`;
}

/** The turn with its texts cut to what fits the model. Short ones stay whole; the others share what is left. */
export function fitTexts(turn: Turn, model: Pick<Model, "window">): Turn {
  const { input, attached = [] } = turn;
  // Callers of an API say themselves what happens to what does not fit.
  if (turn.answer?.truncation !== undefined || input.type !== "message" || !input.attachments?.length)
    return turn;
  const texts = input.attachments.filter(({ text }) => text !== undefined);
  const cuts = shareOut(texts.map(lengthOf), roomOf(model) * BYTES_PER_TOKEN);
  const shown = new Map(texts.map(({ id }, at) => [id, cuts[at] ?? 0]));
  const attachments = input.attachments.map((attachment) => {
    const { id, text } = attachment;
    const most = shown.get(id);
    if (text === undefined || most === undefined || text.bytes <= most) return attachment;
    const given = attached.find((one) => one.id === id);
    const data = given?.text ?? given?.data;
    return { ...attachment, text: { bytes: text.bytes, shown: data ? cutAt(data, most) : most } };
  });
  return { ...turn, input: { ...input, attachments } };
}

const lengthOf = ({ text }: Attachment): number => text?.bytes ?? 0;

function shareOut(lengths: readonly number[], room: number): readonly number[] {
  const shares = new Array<number>(lengths.length).fill(0);
  const byLength = lengths.map((length, at) => ({ length, at })).sort((a, b) => a.length - b.length);
  let left = room;
  for (const [done, { length, at }] of byLength.entries()) {
    const share = Math.min(length, Math.floor(left / (byLength.length - done)));
    shares[at] = share;
    left -= share;
  }
  return shares;
}

const LINE = 0x0a;

/** Before a line that does not fit whole, or at least before a letter. */
function cutAt(data: Uint8Array, most: number): number {
  const line = data.lastIndexOf(LINE, most - 1) + 1;
  if (line > most * 0.9) return line;
  let end = most;
  while (end > 0 && ((data[end] ?? 0) & 0xc0) === 0x80) end--;
  return end;
}
