/** Tokens of a text without asking its model: four bytes each, which is close for words and high for code. */
import type { ModelMessage, ModelTool } from "../models/model.ts";

const BYTES_PER_TOKEN = 4;
// What a message costs besides its text.
const FRAME = 4;

export function estimateText(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

export function estimateTokens(message: ModelMessage): number {
  switch (message.role) {
    case "user":
      return FRAME + estimateText(message.text);
    case "assistant":
      return message.calls.reduce(
        (sum, { name, params }) => sum + FRAME + estimateText(name) + estimateText(params),
        FRAME + estimateText(message.text),
      );
    case "tool":
      return FRAME + estimateText(message.output);
  }
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
