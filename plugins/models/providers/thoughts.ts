/** The model's thoughts before the calls of a turn, which go back to it with them. */
import { LRUCache } from "lru-cache";
import type { ModelMessage } from "../services.ts";
import type { ReasoningPart } from "./language-model.ts";
import type { WholeAnswer } from "./reader.ts";

// Characters over all turns that run.
const MAX_LENGTH = 32_000_000;
// About how many characters a seal adds to a thought.
const SEAL_LENGTH = 2000;

export interface Thoughts {
  /** Returns the thoughts before this answer; undefined if none are known. */
  before(message: Extract<ModelMessage, { role: "assistant" }>): readonly ReasoningPart[] | undefined;
  keep(answer: WholeAnswer): void;
}

/** For servers that take the text of a thought, which the thread has. */
export const TEXT_THOUGHTS: Thoughts = {
  before: ({ reasoning }) => (reasoning ? [{ type: "reasoning", text: reasoning }] : undefined),
  keep() {},
};

/**
 * For providers that seal what they want back, so that it cannot be made from the text of a thread. After a restart it is
 * gone, and the model continues without.
 */
export function createSealedThoughts(): Thoughts {
  const kept = new LRUCache<string, readonly ReasoningPart[]>({
    maxSize: MAX_LENGTH,
    sizeCalculation: (parts) => parts.reduce((sum, { text }) => sum + text.length + SEAL_LENGTH, 1),
  });
  return {
    before: ({ calls: [first] }) => (first === undefined ? undefined : kept.get(first.id)),
    keep({ calls: [first], thoughts }) {
      if (first !== undefined) kept.set(first.id, thoughts);
    },
  };
}
