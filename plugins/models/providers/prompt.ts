/** A request in the words that every endpoint shares. */
import type { Format, ModelAttachment, ModelMessage, ModelRequest, ModelTool } from "../services.ts";
import { describeForProvider } from "./flat-schema.ts";
import type { CallOptions, FilePart, FunctionTool, PromptMessage, ReasoningPart } from "./language-model.ts";
import type { Quirks } from "./quirks.ts";
import type { Hint, Hints } from "./refusals.ts";
import {
  attachToUser,
  inWords,
  type Offer,
  objectText,
  offerPast,
  offerTools,
  readFiles,
  startOfTurn,
  systemOf,
} from "./request.ts";
import type { Thoughts } from "./thoughts.ts";

export interface Prompt {
  readonly options: CallOptions;
  /** What is in it that the answer can do without. */
  readonly hints: Hints;
}

const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

/** `without`: hints that the server refuses. */
export function buildPrompt(
  given: ModelRequest,
  quirks: Quirks,
  thoughts: Thoughts,
  without: ReadonlySet<Hint>,
): Prompt {
  const offer = offerOf(given, quirks);
  const canFormat = quirks.formatsWithTools || offer === undefined || offer.choice === "none";
  const request = canFormat ? given : inWords(given);
  const { format, traceparent } = request;
  const own = request.messages.slice(startOfTurn(request.messages));
  const thoughtsOf = new Map(own.flatMap((message) => thoughtsBefore(message, thoughts)));
  const hints = hintsOf(
    request,
    {
      parallelCalls: offer === undefined ? undefined : request.parallelCalls,
      usage: true,
      thoughts: thoughtsOf.size > 0 ? true : undefined,
    },
    quirks,
    without,
  );
  const canThink =
    !quirks.needsThoughts || own.every((message) => !isCalling(message) || thoughtsOf.has(message));
  const files = readFiles(request.messages);
  const messages = quirks.resultsCarryFiles ? files : attachToUser(files);
  const takesThoughts = !without.has("thoughts");
  return {
    hints,
    options: {
      prompt: [
        { role: "system", content: systemOf(request) },
        ...messages.map((message) =>
          promptMessage(message, quirks, takesThoughts ? thoughtsOf.get(message) : undefined),
        ),
      ],
      headers: { traceparent },
      temperature: hints.temperature,
      topP: hints.topP,
      seed: hints.seed,
      stopSequences: hints.stop && [...hints.stop],
      maxOutputTokens: hints.maxTokens,
      reasoning: canThink ? EFFORTS.find((name) => name === hints.reasoningEffort) : undefined,
      responseFormat: format && responseFormat(format),
      tools: offer?.tools.map(describeTool),
      toolChoice: offer && { type: offer.choice },
      providerOptions: quirks.providerOptions(hints, format),
    },
  };
}

function offerOf(request: ModelRequest, { readsToolChoice, needsPastTools }: Quirks): Offer | undefined {
  const offer = offerTools(request) ?? (needsPastTools ? offerPast(request.messages) : undefined);
  return readsToolChoice || offer?.choice !== "none" ? offer : undefined;
}

/** Returns what is sent of the hints: what was asked for, the endpoint takes and its server has not refused. */
function hintsOf(
  { generation = {}, temperature }: ModelRequest,
  others: Pick<Hints, "parallelCalls" | "usage" | "thoughts">,
  quirks: Quirks,
  without: ReadonlySet<Hint>,
): Hints {
  const { maxOutputTokens, ...asked } = generation;
  const limit = maxOutputTokens === undefined ? undefined : Math.max(quirks.minOutputTokens, maxOutputTokens);
  const hints: Hints = {
    ...asked,
    ...others,
    temperature: generation.temperature ?? temperature,
    stop: generation.stop?.length ? generation.stop : undefined,
    maxTokens: limit,
    maxCompletionTokens: without.has("maxTokens") ? limit : undefined,
  };
  const names = Object.keys(hints) as Hint[];
  return Object.fromEntries(
    names
      .filter((name) => hints[name] !== undefined && quirks.hints.has(name) && !without.has(name))
      .map((name) => [name, hints[name]]),
  );
}

function isCalling(message: ModelMessage): boolean {
  return message.role === "assistant" && message.calls.length > 0;
}

function thoughtsBefore(
  message: ModelMessage,
  thoughts: Thoughts,
): readonly (readonly [ModelMessage, readonly ReasoningPart[]])[] {
  const known = message.role === "assistant" ? thoughts.before(message) : undefined;
  return known === undefined ? [] : [[message, known]];
}

const described = new WeakMap<ModelTool, FunctionTool>();

/** Described once: tools are the largest part of most requests, and the same in all of them. */
function describeTool(tool: ModelTool): FunctionTool {
  return described.getOrInsertComputed(tool, () => ({
    type: "function",
    name: tool.name,
    ...describeForProvider(tool),
  }));
}

function responseFormat(format: Format): NonNullable<CallOptions["responseFormat"]> {
  if (format.type === "json_object") return { type: "json" };
  const { name, description, schema } = format;
  return { type: "json", name, schema, description };
}

function promptMessage(
  message: ModelMessage,
  { argumentsAreText }: Quirks,
  thoughts: readonly ReasoningPart[] = [],
): PromptMessage {
  switch (message.role) {
    case "user": {
      const files = (message.attachments ?? []).map(filePart);
      const isWordless = message.text === "" && files.length > 0;
      return {
        role: "user",
        // The question comes after the files it is about.
        content: [...files, ...(isWordless ? [] : [{ type: "text" as const, text: message.text }])],
      };
    }
    case "assistant":
      return {
        role: "assistant",
        content: [
          ...thoughts,
          ...(message.text === "" ? [] : [{ type: "text" as const, text: message.text }]),
          ...message.calls.map((call) => ({
            type: "tool-call" as const,
            toolCallId: call.id,
            toolName: call.name,
            input: argumentsAreText
              ? objectText(call.params)
              : (JSON.parse(objectText(call.params)) as unknown),
          })),
        ],
      };
    case "tool":
      return {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: message.call.id,
            toolName: message.call.name,
            output: message.attachments?.length
              ? {
                  type: "content",
                  value: [{ type: "text", text: message.output }, ...message.attachments.map(filePart)],
                }
              : { type: message.failed ? "error-text" : "text", value: message.output },
          },
        ],
      };
  }
}

function filePart({ kind, mime, data, name, detail }: ModelAttachment): FilePart {
  return {
    type: "file",
    mediaType: kind === "audio" && /\bx-wav\b|\bwave\b/.test(mime) ? "audio/wav" : mime,
    data: { type: "data", data },
    filename: name,
    providerOptions: detail === undefined ? undefined : { openai: { imageDetail: detail } },
  };
}
