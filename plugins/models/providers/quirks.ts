/** What the endpoints of providers take and what they do not. `refusals.ts` learns what a server turns out to refuse. */
import type { Format } from "../services.ts";
import type { ProviderOptions } from "./language-model.ts";
import type { Hint, Hints } from "./refusals.ts";

export interface Quirks {
  /** What is sent of the settings that an answer can do without. */
  readonly hints: ReadonlySet<Hint>;
  /** False if a result of a tool is only text. */
  readonly resultsCarryFiles: boolean;
  /** How the thoughts of a turn go back to the model: as their text, or as the provider sealed them. */
  readonly thoughts: "text" | "sealed";
  /** True if a model that is to think needs its earlier thoughts of the turn back. */
  readonly needsThoughts: boolean;
  /** True if the model thinks whatever it is asked, and shows it only if asked. */
  readonly alwaysThinks?: boolean;
  /** True if the arguments of earlier calls go back as the text that the model wrote. */
  readonly argumentsAreText: boolean;
  /** True if the tools of earlier calls have to be described in any case. */
  readonly needsPastTools: boolean;
  /** False if the model calls any tool it is shown, whatever the choice is. */
  readonly readsToolChoice: boolean;
  /** False if a server that is asked for a format calls no tools any more, or refuses both at once. */
  readonly formatsWithTools: boolean;
  /** The least that is taken as a limit of an answer. */
  readonly minOutputTokens: number;
  /** What the shared options have no field for. */
  providerOptions(hints: Hints, format: Format | undefined): ProviderOptions;
  /** The mark of a place up to which to cache: the end of the system text, which threads have in common. */
  cachePlace?(hints: Hints): ProviderOptions | undefined;
  /** True if the last message of the user gets that mark too: the server does not move one by itself. */
  readonly marksMessages: boolean;
}

/** What every server with OpenAI's API takes. */
const COMMON = [
  "temperature",
  "topP",
  "seed",
  "stop",
  "maxTokens",
  "maxCompletionTokens",
  "reasoningEffort",
  "cacheKey",
  "parallelCalls",
  "forcedCall",
] as const;

const EPHEMERAL = { type: "ephemeral" } as const;

/** Compatible servers. */
const COMPATIBLE: Quirks = {
  hints: new Set([...COMMON, "usage", "thoughts"]),
  resultsCarryFiles: false,
  thoughts: "text",
  needsThoughts: false,
  argumentsAreText: true,
  needsPastTools: false,
  readsToolChoice: true,
  formatsWithTools: false,
  minOutputTokens: 1,
  marksMessages: false,
  providerOptions: (hints, format) => ({
    openai: {
      ...optionsOfOpenAI(hints, format),
      // In whichever words the server has: a package takes only those that it knows.
      reasoningEffort: hints.reasoningEffort,
      includeUsage: hints.usage,
    },
  }),
};

/** OpenRouter, and gateways that name models like it. */
const MARKED: Quirks = {
  ...COMPATIBLE,
  marksMessages: true,
  cachePlace: ({ cacheKey }) =>
    cacheKey === undefined ? undefined : { openai: { cacheControl: EPHEMERAL } },
};

/** Models that cache what they are asked to, and nothing else. */
const CACHES_MARKED = /^~?(?:anthropic|qwen)\//;

const OLLAMA: Quirks = { ...COMPATIBLE, readsToolChoice: false };

const OPENAI_CHAT: Quirks = {
  ...COMPATIBLE,
  hints: new Set([...COMMON, "safetyIdentifier"]),
  thoughts: "sealed",
  argumentsAreText: false,
  formatsWithTools: true,
  providerOptions: (hints, format) => ({ openai: optionsOfOpenAI(hints, format) }),
};

const OPENAI_RESPONSES: Quirks = {
  ...OPENAI_CHAT,
  hints: OPENAI_CHAT.hints.union(
    new Set<Hint>(["reasoningSummary", "cacheMark", "thoughts", "sealedThoughts"]),
  ),
  minOutputTokens: 16,
  providerOptions: (hints, format) => ({
    openai: {
      ...optionsOfOpenAI(hints, format),
      // The thread is ours to keep.
      store: false,
      // The package asks for it itself, but only of models whose names it knows.
      ...(hints.sealedThoughts && { include: ["reasoning.encrypted_content"] }),
      // Not by itself: some accounts may not have summaries.
      reasoningSummary: hints.reasoningSummary ?? null,
    },
  }),
  cachePlace: ({ cacheKey, cacheMark }) =>
    cacheKey === undefined || !cacheMark
      ? undefined
      : { openai: { promptCacheBreakpoint: { mode: "explicit" } } },
};

const ANTHROPIC: Quirks = {
  ...OPENAI_CHAT,
  hints: OPENAI_CHAT.hints.union(new Set<Hint>(["thoughts", "shownThoughts"])),
  resultsCarryFiles: true,
  needsThoughts: true,
  needsPastTools: true,
  providerOptions: ({ parallelCalls, cacheKey, safetyIdentifier, shownThoughts, reasoningEffort }) => ({
    anthropic: {
      ...(shownThoughts &&
        reasoningEffort !== "none" && { thinking: { type: "adaptive", display: "summarized" } }),
      ...(parallelCalls === false && { disableParallelToolUse: true }),
      // There is no key to a cache; with one, the request is the next of a thread. The mark moves to the end of each by itself.
      ...(cacheKey !== undefined && { cacheControl: EPHEMERAL }),
      ...(safetyIdentifier !== undefined && { metadata: { userId: safetyIdentifier } }),
    },
  }),
  cachePlace: ({ cacheKey }) =>
    cacheKey === undefined ? undefined : { anthropic: { cacheControl: EPHEMERAL } },
};

function optionsOfOpenAI(hints: Hints, format: Format | undefined): ProviderOptions[string] {
  return {
    parallelToolCalls: hints.parallelCalls,
    promptCacheKey: hints.cacheKey,
    safetyIdentifier: hints.safetyIdentifier,
    maxCompletionTokens: hints.maxCompletionTokens,
    strictJsonSchema: format?.type === "json_schema" ? format.strict : undefined,
  };
}

export const QUIRKS = {
  ollama: OLLAMA,
  "openai-chat": OPENAI_CHAT,
  "openai-responses": OPENAI_RESPONSES,
  anthropic: ANTHROPIC,
};

export const quirksOfCompatible = (name: string): Quirks => (CACHES_MARKED.test(name) ? MARKED : COMPATIBLE);
