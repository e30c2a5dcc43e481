/** A request as the body of a call. */
import type { Format, ModelAttachment, ModelMessage, ModelRequest, ModelTool } from "../../services.ts";
import { describeForProvider } from "../flat-schema.ts";
import {
  attachToUser,
  inWords,
  objectText,
  offerTools,
  readFiles,
  startOfTurn,
  systemOf,
  toBase64,
  toDataUrl,
} from "../request.ts";
import type { Dialect } from "./call-error.ts";

export interface Body {
  readonly text: string;
  /** Fields in it that the answer could do without. */
  readonly optional: readonly string[];
}

export function bodyOf(
  model: string,
  given: ModelRequest,
  dialect: Dialect,
  without: ReadonlySet<string>,
): Body {
  const offered = offerTools(given);
  const offer = dialect.readsToolChoice || offered?.choice !== "none" ? offered : undefined;
  // Most of these servers hold every answer to the format, so that no tool is called any more; others refuse both at once.
  const request = offer === undefined || offer.choice === "none" ? given : inWords(given);
  const hints = Object.entries(hintsOf(request, offer !== undefined, without)).filter(
    ([name, value]) => value !== undefined && !without.has(name),
  );
  const thoughts = dialect.thoughts;
  const thinkers = thoughts === undefined || without.has(thoughts) ? NOBODY : thinkersOf(request.messages);
  const body = JSON.stringify({
    model,
    messages: [
      { role: "system", content: systemOf(request) },
      ...attachToUser(readFiles(request.messages)).map((message) =>
        thoughts !== undefined && thinkers.has(message)
          ? { ...wireMessage(message), [thoughts]: thinkers.get(message) }
          : wireMessage(message),
      ),
    ],
    stream: true,
    ...Object.fromEntries(hints),
    ...(offer && { tool_choice: offer.choice }),
    ...(request.format && { response_format: wireFormat(request.format) }),
  });
  return {
    // The largest part of most requests, and the same in all of them.
    text: offer ? `${body.slice(0, -1)},"tools":[${offer.tools.map(toolText).join(",")}]}` : body,
    optional: [...hints.map(([name]) => name), ...(thoughts && thinkers.size > 0 ? [thoughts] : [])],
  };
}

function hintsOf(
  { generation = {}, temperature, parallelCalls }: ModelRequest,
  isOffering: boolean,
  without: ReadonlySet<string>,
): Readonly<Record<string, unknown>> {
  // The older name is the one that every local server reads; newer models of OpenAI's take only the other.
  const most = without.has("max_tokens") ? "max_completion_tokens" : "max_tokens";
  return {
    temperature: generation.temperature ?? temperature,
    top_p: generation.topP,
    seed: generation.seed,
    stop: generation.stop?.length ? generation.stop : undefined,
    [most]: generation.maxOutputTokens,
    reasoning_effort: generation.reasoningEffort,
    prompt_cache_key: generation.cacheKey,
    parallel_tool_calls: isOffering ? parallelCalls : undefined,
    stream_options: { include_usage: true },
  };
}

const NOBODY: ReadonlyMap<ModelMessage, string> = new Map();

/** The answers of this turn with what was thought before them; of earlier turns no server wants it. */
function thinkersOf(messages: readonly ModelMessage[]): ReadonlyMap<ModelMessage, string> {
  const own = messages.slice(startOfTurn(messages));
  return new Map(
    own.flatMap((message) =>
      message.role === "assistant" && message.reasoning ? [[message, message.reasoning] as const] : [],
    ),
  );
}

function wireMessage(message: ModelMessage): object {
  switch (message.role) {
    case "user":
      return { role: "user", content: wireContent(message.text, message.attachments) };
    case "assistant":
      if (message.calls.length === 0) return { role: "assistant", content: message.text };
      return {
        role: "assistant",
        content: message.text === "" ? null : message.text,
        tool_calls: message.calls.map(({ id, name, params }) => ({
          id,
          type: "function",
          function: { name, arguments: objectText(params) },
        })),
      };
    case "tool":
      return { role: "tool", tool_call_id: message.call.id, content: message.output };
  }
}

/** The question comes after the files it is about. */
function wireContent(text: string, attachments: readonly ModelAttachment[] = []): unknown {
  if (attachments.length === 0) return text;
  return [...attachments.map(wireAttachment), ...(text === "" ? [] : [{ type: "text", text }])];
}

function wireAttachment(attachment: ModelAttachment): object {
  const { kind, mime, data, name, detail } = attachment;
  switch (kind) {
    case "image":
      return {
        type: "image_url",
        image_url: { url: toDataUrl(attachment), detail },
      };
    case "audio":
      return { type: "input_audio", input_audio: { data: toBase64(data), format: audioFormat(mime) } };
    case "file":
      return { type: "file", file: { filename: name ?? "file", file_data: toDataUrl(attachment) } };
  }
}

const AUDIO_FORMATS = new Map([
  ["mpeg", "mp3"],
  ["wave", "wav"],
  ["x-wav", "wav"],
]);

function audioFormat(mime: string): string {
  const [, subtype = "wav"] = mime.split(/[/;]/);
  return AUDIO_FORMATS.get(subtype) ?? subtype;
}

function wireFormat(format: Format): object {
  if (format.type === "json_object") return { type: "json_object" };
  const { type, ...json_schema } = format;
  return { type, json_schema };
}

const toolTexts = new WeakMap<ModelTool, string>();

function toolText(tool: ModelTool): string {
  const known = toolTexts.get(tool);
  if (known !== undefined) return known;
  const { description, inputSchema: parameters } = describeForProvider(tool);
  const text = JSON.stringify({ type: "function", function: { name: tool.name, description, parameters } });
  toolTexts.set(tool, text);
  return text;
}
