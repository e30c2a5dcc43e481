/** Tokens of what a model is sent, without asking the model. */

import type { ModelAttachment, ModelMessage, ModelTool, RenderedMessage } from "./language-model.ts";
import { type Attachment, readsAsText } from "./tool-call.ts";
import { estimateText } from "./usage.ts";

const BYTES_PER_TOKEN = 4;
const TOKENS_OF_IMAGE = 1000;
// Files and audio are compressed to very different degrees: a page of a PDF costs about 2,000 tokens, a second of speech 10 to 30.
const BYTES_PER_TOKEN_OF = { file: 50, audio: 200 };
// What a message costs besides its text.
const FRAME = 4;

/** `isPast`: of an earlier turn, whose thoughts no model is sent again. */
export function estimateTokens(message: ModelMessage | RenderedMessage, { isPast = false } = {}): number {
  switch (message.role) {
    case "user":
      return FRAME + estimateText(message.text) + estimateAttachments(message.attachments);
    case "assistant":
      return message.calls.reduce(
        (sum, { name, params }) => sum + FRAME + estimateText(name) + estimateText(params),
        FRAME + estimateText(message.text) + (isPast ? 0 : estimateText(message.reasoning ?? "")),
      );
    case "tool":
      return FRAME + estimateText(message.output) + estimateAttachments(message.attachments);
  }
}

function estimateAttachments(attachments: readonly (ModelAttachment | Attachment)[] = []): number {
  return attachments.reduce((sum, attachment) => sum + FRAME + estimateAttachment(attachment), 0);
}

function estimateAttachment(attachment: ModelAttachment | Attachment): number {
  const { kind } = attachment;
  // Providers scale an image down, so it costs much the same at any size.
  if (kind === "image") return TOKENS_OF_IMAGE;
  const bytes = readsAsText(attachment) ? BYTES_PER_TOKEN : BYTES_PER_TOKEN_OF[kind];
  return Math.ceil(("data" in attachment ? attachment.data.byteLength : sizeOf(attachment)) / bytes);
}

/** Estimates the part that a model is shown. */
function sizeOf({ size, text }: Attachment): number {
  return text?.shown ?? text?.bytes ?? size;
}

/** A tool is the same object from turn to turn, and is counted once. */
const counted = new WeakMap<ModelTool, number>();

export function estimateTools(tools: readonly ModelTool[]): number {
  return tools.reduce((sum, tool) => sum + estimateTool(tool), 0);
}

function estimateTool(tool: ModelTool): number {
  const known = counted.get(tool);
  if (known !== undefined) return known;
  const tokens = estimateText(tool.name + tool.description + JSON.stringify(tool.schema));
  counted.set(tool, tokens);
  return tokens;
}

/** Returns the beginning of a text that has at most so many tokens. */
export function clipTokens(text: string, max: number): string {
  const bytes = max * BYTES_PER_TOKEN;
  if (text.length <= bytes && Buffer.byteLength(text) <= bytes) return text;
  const start = Buffer.from(text.slice(0, bytes)).subarray(0, bytes);
  // A stream waits for the rest of a letter that is cut in the middle, and so leaves it out.
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(start, { stream: true });
}
