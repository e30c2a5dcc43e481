/** The parts of a request that every provider shares. */

import { isRecord, tryJson } from "../../../kernel/kit/text.ts";
import { readsAsText } from "../../../kernel/kit/tools.ts";
import { cautionFor, escapeTags } from "../../../kernel/kit/untrusted.ts";
import type { Format, ModelAttachment, ModelMessage, ModelRequest, ModelTool } from "../services.ts";

export interface Offer {
  readonly tools: readonly ModelTool[];
  readonly choice: "auto" | "none" | "required";
}

export function offerTools({ tools, toolChoice = "auto", messages }: ModelRequest): Offer | undefined {
  const isNamed = typeof toolChoice === "object";
  const choice = isNamed ? toolChoice.mode : toolChoice;
  // No server has to be trusted to leave alone what it is not shown. But some want the tools of earlier calls.
  const isHidden = choice === "none" && !messages.some(({ role }) => role === "tool");
  // A server that takes one name may not take several; all of them understand a shorter list.
  const shown = isNamed ? tools.filter(({ name }) => toolChoice.names.includes(name)) : tools;
  return isHidden || shown.length === 0 ? undefined : { tools: shown, choice };
}

/** For providers that want the tools of earlier calls described, also where none may be called. */
export function offerPast(messages: readonly ModelMessage[]): Offer | undefined {
  const calls = messages.flatMap((message) => (message.role === "assistant" ? message.calls : []));
  const names = new Set(calls.map(({ name }) => name));
  const tools = [...names].map((name) => ({ name, description: "", schema: { type: "object" } }));
  return tools.length === 0 ? undefined : { tools, choice: "none" };
}

/** The request with its format told to the model instead of being asked of the server. */
export function inWords({ format, ...request }: ModelRequest): ModelRequest {
  return format === undefined
    ? request
    : { ...request, system: `${request.system}\n\n${sayFormat(format)}`.trimStart() };
}

function sayFormat(format: Format): string {
  const answer = "When you answer without calling a tool, answer only with";
  if (format.type === "json_object") return `${answer} one JSON object, without any other text.`;
  const { schema, description } = format;
  const about = description === undefined ? "" : ` (${description})`;
  return `${answer} JSON${about} that matches this JSON Schema, without any other text:\n${JSON.stringify(schema)}`;
}

/** Some servers refuse to answer with a JSON object unless a message has the word. */
export function systemOf({ system, format }: ModelRequest): string {
  return format?.type === "json_object" ? `${system}\n\nAnswer with one JSON object.`.trimStart() : system;
}

/** Returns where this turn's answers begin: only their thoughts are wanted back. */
export function startOfTurn(messages: readonly ModelMessage[]): number {
  return messages.findLastIndex(({ role }) => role === "user") + 1;
}

/** The messages with files that are text as text, which every provider takes. */
export function readFiles(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  return messages.some(hasAttachments) ? messages.map(readFilesOf) : messages;
}

function hasAttachments(message: ModelMessage): boolean {
  return message.role !== "assistant" && message.attachments !== undefined;
}

function readFilesOf(message: ModelMessage): ModelMessage {
  if (message.role === "assistant" || message.attachments === undefined) return message;
  const files = message.attachments.filter(readsAsText).map(({ name = "file", data }) => {
    const text = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("utf8");
    return wrapFile(text, name);
  });
  if (files.length === 0) return message;
  const attachments = message.attachments.filter((attachment) => !readsAsText(attachment));
  return message.role === "user"
    ? { ...message, text: [...files, message.text].join("\n\n"), attachments }
    : { ...message, output: [message.output, ...files].join("\n\n"), attachments };
}

/** For providers whose tool results are only text: what results carry comes in a message after all of them. */
export function attachToUser(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  if (!messages.some((message) => message.role === "tool" && hasAttachments(message))) return messages;
  const moved: ModelMessage[] = [];
  let attachments: ModelAttachment[] = [];
  let names: string[] = [];
  const flush = (): void => {
    if (attachments.length > 0)
      moved.push({ role: "user", text: `Attached by the result of ${names.join(", ")}.`, attachments });
    [attachments, names] = [[], []];
  };
  for (const message of messages) {
    if (message.role !== "tool") {
      flush();
      moved.push(message);
      continue;
    }
    const { attachments: own = [], ...result } = message;
    moved.push(result);
    attachments.push(...own);
    if (own.length > 0) names.push(message.call.name);
  }
  flush();
  return moved;
}

/** A call's arguments as providers take them back: only objects, so what the model wrote wrongly is shown to it inside one. */
export function objectText(params: string): string {
  return isRecord(tryJson(params)) ? params : JSON.stringify({ malformed: params });
}

export function toBase64({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}

const FILE_TAG = /<(\s*(?:\/\s*)?file)(?![\w-])/gi;

/** A file's text, which anybody may have written: it cannot pose as the message that it came with. */
function wrapFile(text: string, name: string): string {
  const body = escapeTags(text).replace(FILE_TAG, "&lt;$1");
  return `${cautionFor(body, "file")}<file name=${JSON.stringify(name)}>\n${body}\n</file>`;
}
