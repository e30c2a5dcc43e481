/**
 * Thoughts as a provider wants them back between the calls of a turn: sealed by it, so they cannot be told from the text
 * of a thread. After a restart they are gone, and the model goes on without.
 */
import { LRUCache } from "lru-cache";
import type { ModelMessage } from "../../../../kernel/kit.ts";
import type { ReasoningPart, StreamPart } from "./language-model.ts";

// Characters over all turns that run.
const MAX_LENGTH = 32_000_000;
// What a sealed thought adds to its text, about.
const SEAL = 2000;

export interface Thoughts {
  /** Those before these calls; undefined where none are known. */
  before(message: Extract<ModelMessage, { role: "assistant" }>): readonly ReasoningPart[] | undefined;
  keep(calls: readonly { readonly id: string }[], thoughts: readonly ReasoningPart[]): void;
}

export function createThoughts(): Thoughts {
  const kept = new LRUCache<string, readonly ReasoningPart[]>({
    maxSize: MAX_LENGTH,
    sizeCalculation: (parts) => parts.reduce((sum, { text }) => sum + text.length + SEAL, 1),
  });
  return {
    before: ({ calls: [first] }) => (first === undefined ? undefined : kept.get(first.id)),
    keep([first], thoughts) {
      if (first !== undefined) kept.set(first.id, thoughts);
    },
  };
}

export interface ThoughtReader {
  /** What of it is to be shown. */
  read(part: StreamPart): string;
  whole(): readonly ReasoningPart[];
}

export function createThoughtReader(): ThoughtReader {
  const thoughts = new Map<string, ReasoningPart>();
  let last: string | undefined;
  return {
    read(part) {
      if (part.type !== "reasoning-start" && part.type !== "reasoning-delta" && part.type !== "reasoning-end")
        return "";
      const { id, providerMetadata: providerOptions } = part;
      const delta = part.type === "reasoning-delta" ? part.delta : "";
      const known = thoughts.get(id) ?? { type: "reasoning", text: "" };
      thoughts.set(id, { ...known, text: known.text + delta, ...(providerOptions && { providerOptions }) });
      if (delta === "") return "";
      const isNext = last !== undefined && last !== id;
      last = id;
      return isNext ? `\n\n${delta}` : delta;
    },
    whole: () => [...thoughts.values()],
  };
}
