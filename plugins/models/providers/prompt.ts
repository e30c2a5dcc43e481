/** A request as a package's model takes it. */
import type { Format, ModelAttachment, ModelMessage, ModelRequest } from "../services.ts";
import { describeForProvider } from "./flat-schema.ts";
import type { CallOptions, FilePart, PromptMessage } from "./language-model.ts";
import {
  attachToUser,
  objectText,
  offerPast,
  offerTools,
  readFiles,
  startOfTurn,
  systemOf,
} from "./request.ts";
import type { Thoughts } from "./thoughts.ts";

export interface Manner {
  /** False where a result of a tool is only text. */
  readonly resultsCarryFiles: boolean;
  /** True where a model that is to think needs its earlier thoughts of the turn back. */
  readonly needsThoughts: boolean;
  /** True where the tools of earlier calls have to be described in any case. */
  readonly wantsPastTools: boolean;
  /** The least it takes as a limit. */
  readonly leastTokens: number;
  providerOptions(request: ModelRequest): NonNullable<CallOptions["providerOptions"]>;
}

const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

export function callOptions(
  request: ModelRequest,
  manner: Manner,
  thoughts: Thoughts,
  signal: AbortSignal,
): CallOptions {
  const { generation = {}, format } = request;
  const { maxOutputTokens: mostTokens } = generation;
  const offer = offerTools(request) ?? (manner.wantsPastTools ? offerPast(request.messages) : undefined);
  const files = readFiles(request.messages);
  const messages = manner.resultsCarryFiles ? files : attachToUser(files);
  const start = startOfTurn(request.messages);
  const own = request.messages.slice(start);
  const canThink = !manner.needsThoughts || own.every((message) => isThoughtKnown(message, thoughts));
  const effort = EFFORTS.find((name) => name === generation.reasoningEffort);
  const turn = new Set(own);
  return {
    prompt: [
      { role: "system", content: systemOf(request) },
      ...messages.map((message) => promptMessage(message, turn.has(message) ? thoughts : undefined)),
    ],
    abortSignal: signal,
    headers: { traceparent: request.traceparent },
    temperature: generation.temperature ?? request.temperature,
    topP: generation.topP,
    seed: generation.seed,
    stopSequences: generation.stop?.length ? [...generation.stop] : undefined,
    maxOutputTokens: mostTokens === undefined ? undefined : Math.max(manner.leastTokens, mostTokens),
    reasoning: canThink ? effort : undefined,
    responseFormat: format && responseFormat(format),
    tools: offer?.tools.map((tool) => ({ type: "function", name: tool.name, ...describeForProvider(tool) })),
    toolChoice: offer && { type: offer.choice },
    providerOptions: manner.providerOptions(request),
  };
}

function isThoughtKnown(message: ModelMessage, thoughts: Thoughts): boolean {
  return message.role !== "assistant" || message.calls.length === 0 || thoughts.before(message) !== undefined;
}

function responseFormat(format: Format): NonNullable<CallOptions["responseFormat"]> {
  if (format.type === "json_object") return { type: "json" };
  const { name, description, schema } = format;
  return { type: "json", name, schema, description };
}

function promptMessage(message: ModelMessage, thoughts: Thoughts | undefined): PromptMessage {
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
          ...(thoughts?.before(message) ?? []),
          ...(message.text === "" ? [] : [{ type: "text" as const, text: message.text }]),
          ...message.calls.map((call) => ({
            type: "tool-call" as const,
            toolCallId: call.id,
            toolName: call.name,
            input: JSON.parse(objectText(call.params)) as unknown,
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
