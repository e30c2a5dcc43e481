/** A request in the words that every endpoint shares. */
import type { Format, ModelAttachment, ModelMessage, ModelRequest, ModelTool } from "../services.ts";
import { describeForProvider } from "./flat-schema.ts";
import type { AnswerPart, CallOptions, FilePart, FunctionTool, PromptMessage } from "./language-model.ts";
import type { Quirks } from "./quirks.ts";
import type { Hint, Hints, Need } from "./refusals.ts";
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

/** `without`: hints that the server refuses. `needs`: what it turned out to want back. */
export function buildPrompt(
  given: ModelRequest,
  quirks: Quirks,
  thoughts: Thoughts,
  without: ReadonlySet<Hint>,
  needs: ReadonlySet<Need>,
): Prompt {
  const offer = offerOf(given, quirks);
  const canFormat = quirks.formatsWithTools || offer === undefined || offer.choice === "none";
  const request = canFormat ? given : inWords(given);
  const { format, traceparent } = request;
  const own = request.messages.slice(startOfTurn(request.messages));
  const takesThoughts = !without.has("thoughts");
  // Those of earlier turns too: what a provider has cached begins with them.
  const answers = new Map<ModelMessage, readonly AnswerPart[]>();
  for (const message of request.messages)
    if (message.role === "assistant")
      answers.set(message, thoughts.before(request.user, message, takesThoughts, needs));
  const hints = hintsOf(
    request,
    {
      parallelCalls: offer === undefined ? undefined : request.parallelCalls,
      usage: true,
      thoughts: [...answers.values()].some(hasThoughts) || undefined,
      sealedThoughts: true,
      shownThoughts: quirks.alwaysThinks,
      cacheMark: true,
      forcedCall: offer?.choice === "required" || undefined,
    },
    quirks,
    without,
  );
  const canThink =
    !quirks.needsThoughts || own.every((message) => !isCalling(message) || hasThoughts(answers.get(message)));
  const files = readFiles(request.messages);
  const messages = quirks.resultsCarryFiles ? files : attachToUser(files);
  const cachePlace = quirks.cachePlace?.(hints);
  const last = quirks.marksMessages ? messages.findLastIndex(({ role }) => role === "user") : -1;
  return {
    hints,
    options: {
      prompt: [
        { role: "system", content: systemOf(request), providerOptions: cachePlace },
        ...messages.map((message, at) => ({
          ...promptMessage(message, quirks, answers.get(message)),
          ...(at === last && { providerOptions: cachePlace }),
        })),
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
      toolChoice: offer && {
        type: offer.choice === "required" && !hints.forcedCall ? "auto" : offer.choice,
      },
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
  others: Hints,
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

const hasThoughts = (parts?: readonly AnswerPart[]) => parts?.some(({ type }) => type === "reasoning");

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
  known: readonly AnswerPart[] = [],
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
        content: answerParts(
          message.text,
          message.calls.map((call) => ({
            type: "tool-call",
            toolCallId: call.id,
            toolName: call.name,
            input: argumentsAreText
              ? objectText(call.params)
              : (JSON.parse(objectText(call.params)) as unknown),
          })),
          known,
        ),
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

/** `known`: the same answer as it came. It goes back like that, unless its text is another one since a secret was hidden in it. */
function answerParts(text: string, calls: readonly CallPart[], known: readonly AnswerPart[]): AnswerPart[] {
  const knownCalls = known.filter((part) => part.type === "tool-call");
  const whole = calls.map((call): CallPart => {
    const same = knownCalls.find(({ toolCallId }) => toolCallId === call.toolCallId);
    return same?.providerOptions ? { ...call, providerOptions: same.providerOptions } : call;
  });
  const said = known.map((part) => (part.type === "text" ? part.text : "")).join("");
  if (said === text && knownCalls.length === calls.length)
    return known.flatMap((part): readonly AnswerPart[] => {
      if (part.type === "tool-call") return whole.splice(0, 1);
      return part.type === "text" && part.text === "" ? [] : [part];
    });
  return [
    ...known.filter(({ type }) => type === "reasoning"),
    ...(text === "" ? [] : [{ type: "text" as const, text }]),
    ...whole,
  ];
}

type CallPart = Extract<AnswerPart, { type: "tool-call" }>;

function filePart({ kind, mime, data, name, detail }: ModelAttachment): FilePart {
  return {
    type: "file",
    mediaType: kind === "audio" && /\bx-wav\b|\bwave\b/.test(mime) ? "audio/wav" : mime,
    data: { type: "data", data },
    filename: name,
    providerOptions: detail === undefined ? undefined : { openai: { imageDetail: detail } },
  };
}
