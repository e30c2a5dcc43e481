/** The messages that a model is shown, and an estimate of their tokens without asking the model. */
import type { Attachment } from "../../../kernel/kit/tools.ts";
import { readsAsText } from "../../../kernel/kit/tools.ts";
import { estimateText } from "../../../kernel/kit/turns.ts";
import type { ToolCall } from "../../../kernel/plugin.ts";
import type { ModelAttachment, ModelMessage, ModelTool } from "../../models/services.ts";

/** A message with the names of its attachments: the bytes are read only for those that fit the model's window. */
export type RenderedMessage =
  | { readonly role: "user"; readonly text: string; readonly attachments?: readonly Attachment[] }
  | Extract<ModelMessage, { role: "assistant" }>
  | {
      readonly role: "tool";
      readonly call: ToolCall;
      readonly output: string;
      readonly failed: boolean;
      readonly attachments?: readonly Attachment[];
    };

export const BYTES_PER_TOKEN = 4;

const TOKENS_OF_IMAGE = 1000;

// Files and audio are compressed to very different degrees: a page of a PDF costs about 2,000 tokens, a second of speech 10 to 30.
const BYTES_PER_TOKEN_OF = { file: 50, audio: 200 };

// A message costs this much besides its text.
const FRAME = 4;

export function estimateTokens(message: ModelMessage | RenderedMessage): number {
  switch (message.role) {
    case "user":
      return FRAME + estimateText(message.text) + estimateAttachments(message.attachments);
    case "assistant":
      return message.calls.reduce(
        (sum, { name, params }) => sum + FRAME + estimateText(name) + estimateText(params),
        FRAME + estimateText(message.text) + estimateText(message.reasoning ?? ""),
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
