/** What came of a call, as the protocol says it. */
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server";
import type { CallOutcome } from "../../../kernel/plugin.ts";

type Settled = Extract<CallOutcome, { status: "ok" | "error" }>;

/** A failing tool is a result that the model reads, not an error of the protocol. */
export const failure = (text: string): CallToolResult => ({
  content: [{ type: "text", text }],
  isError: true,
});

export function resultOf(outcome: Settled): CallToolResult {
  const attached = outcome.attached?.map(contentOf) ?? [];
  if (outcome.status === "error") {
    const { content, ...rest } = failure(outcome.message);
    return { ...rest, content: [...content, ...attached] };
  }
  const structured = outcome.structured ?? readJson(outcome.output);
  return {
    content: [{ type: "text", text: outcome.output }, ...attached],
    ...(structured !== undefined && { structuredContent: structured as Record<string, unknown> }),
  };
}

function contentOf({ attachment, data }: NonNullable<Settled["attached"]>[number]): ContentBlock {
  const { kind, mime: mimeType, id } = attachment;
  const bytes = Buffer.from(data).toString("base64");
  return kind === "file"
    ? { type: "resource", resource: { uri: `attachment:///${id}`, mimeType, blob: bytes } }
    : { type: kind, data: bytes, mimeType };
}

/** Objects and lists; a number or a word alone is better read as text. */
function readJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
