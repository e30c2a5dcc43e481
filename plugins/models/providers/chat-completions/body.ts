/** A prompt as the body of a request. */
import type { CallOptions, FilePart, FunctionTool, PromptMessage } from "../language-model.ts";
import { toBase64 } from "../request.ts";

/** The names by which servers send a model's thoughts, and want them back. */
export type ThoughtField = "reasoning_content" | "reasoning";

/** `thoughts`: the server's name for them, once it has sent any. */
export function bodyOf(model: string, options: CallOptions, thoughts: ThoughtField | undefined): string {
  const { toolChoice, providerOptions } = options;
  const hints = providerOptions?.["openai"] ?? {};
  const body = JSON.stringify({
    model,
    messages: options.prompt.flatMap((message) => wireMessages(message, thoughts)),
    stream: true,
    temperature: options.temperature,
    top_p: options.topP,
    seed: options.seed,
    stop: options.stopSequences,
    max_tokens: options.maxOutputTokens,
    max_completion_tokens: hints["maxCompletionTokens"],
    reasoning_effort: hints["reasoningEffort"],
    prompt_cache_key: hints["promptCacheKey"],
    parallel_tool_calls: hints["parallelToolCalls"],
    stream_options: hints["includeUsage"] ? { include_usage: true } : undefined,
    tool_choice: toolChoice?.type,
    response_format: wireFormat(options.responseFormat, hints["strictJsonSchema"]),
  });
  const tools = (options.tools ?? []).filter((tool) => tool.type === "function");
  // The largest part of most requests, and the same in all of them.
  return tools.length === 0 ? body : `${body.slice(0, -1)},"tools":[${tools.map(toolText).join(",")}]}`;
}

function wireMessages(message: PromptMessage, thoughts: ThoughtField | undefined): readonly object[] {
  switch (message.role) {
    case "system":
      return [
        { role: "system", content: wireContent([{ type: "text", text: message.content }], markOf(message)) },
      ];
    case "user":
      return [{ role: "user", content: wireContent(message.content, markOf(message)) }];
    case "assistant":
      return [wireAnswer(message, thoughts)];
    case "tool":
      return message.content.flatMap((part) =>
        part.type === "tool-result" && "value" in part.output
          ? [{ role: "tool", tool_call_id: part.toolCallId, content: part.output.value }]
          : [],
      );
  }
}

type UserContent = Extract<PromptMessage, { role: "user" }>["content"];

const markOf = ({ providerOptions }: PromptMessage) => providerOptions?.["openai"]?.["cacheControl"];

/** `mark`: asks to cache up to here. */
function wireContent(content: UserContent, mark: unknown): unknown {
  const [first] = content;
  if (content.length === 1 && first?.type === "text" && mark === undefined) return first.text;
  const parts = content.map((part) =>
    part.type === "text" ? { type: "text", text: part.text } : wireFile(part),
  );
  return parts.map((part, at) =>
    mark !== undefined && at === parts.length - 1 ? { ...part, cache_control: mark } : part,
  );
}

function wireAnswer(
  { content }: Extract<PromptMessage, { role: "assistant" }>,
  thoughts: ThoughtField | undefined,
): object {
  let [text, reasoning, field] = ["", "", thoughts];
  const calls: object[] = [];
  for (const part of content) {
    if (part.type === "text") text += part.text;
    else if (part.type === "reasoning") {
      reasoning += part.text;
      field = (part.providerOptions?.["openai"]?.["thoughtField"] as ThoughtField | undefined) ?? field;
    } else if (part.type === "tool-call")
      calls.push({
        id: part.toolCallId,
        type: "function",
        function: { name: part.toolName, arguments: part.input },
        extra_content: part.providerOptions?.["openai"]?.["extraContent"],
      });
  }
  return {
    role: "assistant",
    content: calls.length > 0 && text === "" ? null : text,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(field !== undefined && reasoning !== "" && { [field]: reasoning }),
  };
}

function wireFile({ mediaType, data, filename = "file", providerOptions }: FilePart): object {
  if (data.type !== "data" || typeof data.data === "string")
    throw new TypeError("a file is sent as its bytes");
  const base64 = toBase64(data.data);
  const url = `data:${mediaType};base64,${base64}`;
  switch (mediaType.split("/")[0]) {
    case "image":
      return { type: "image_url", image_url: { url, detail: providerOptions?.["openai"]?.["imageDetail"] } };
    case "audio":
      return { type: "input_audio", input_audio: { data: base64, format: audioFormat(mediaType) } };
    default:
      return { type: "file", file: { filename, file_data: url } };
  }
}

function audioFormat(mediaType: string): string {
  const [, subtype = "wav"] = mediaType.split(/[/;]/);
  return subtype === "mpeg" ? "mp3" : subtype;
}

function wireFormat(format: CallOptions["responseFormat"], strict: unknown): object | undefined {
  if (format?.type !== "json") return undefined;
  const { name, description, schema } = format;
  if (schema === undefined) return { type: "json_object" };
  return { type: "json_schema", json_schema: { name, description, schema, strict } };
}

const toolTexts = new WeakMap<FunctionTool, string>();

function toolText(tool: FunctionTool): string {
  return toolTexts.getOrInsertComputed(tool, ({ name, description, inputSchema: parameters }) =>
    JSON.stringify({ type: "function", function: { name, description, parameters } }),
  );
}
