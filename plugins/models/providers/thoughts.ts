/**
 * Thoughts as a provider wants them back between the calls of a turn: sealed by it, so they cannot be told from the text
 * of a thread. After a restart they are gone, and the model goes on without.
 */
import { LRUCache } from "lru-cache";
import type { ModelMessage } from "../services.ts";
import type { ReasoningPart, StreamPart } from "./language-model.ts";

// Characters over all turns that run.
const MAX_LENGTH = 32_000_000;
// About how many characters a seal adds to a thought.
const SEAL = 2000;

export type Thoughts = ReturnType<typeof createThoughts>;

export function createThoughts() {
  const kept = new LRUCache<string, readonly ReasoningPart[]>({
    maxSize: MAX_LENGTH,
    sizeCalculation: (parts) => parts.reduce((sum, { text }) => sum + text.length + SEAL, 1),
  });
  return {
    /** Returns the thoughts before these calls; undefined where none are known. */
    before: ({ calls: [first] }: Extract<ModelMessage, { role: "assistant" }>) =>
      first === undefined ? undefined : kept.get(first.id),
    keep([first]: readonly { readonly id: string }[], thoughts: readonly ReasoningPart[]): void {
      if (first !== undefined) kept.set(first.id, thoughts);
    },
  };
}

export function createThoughtReader() {
  const thoughts = new Map<string, ReasoningPart>();
  let last: string | undefined;
  return {
    /** Returns the text to show. */
    read(part: StreamPart): string {
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
