/** What the model thought before the calls of a turn, and how its provider sealed it: both go back to it with them. */
import { LRUCache } from "lru-cache";
import type { ModelMessage } from "../services.ts";
import type { AnswerPart } from "./language-model.ts";

// Characters over all turns that run.
const MAX_LENGTH = 32_000_000;
// About how many characters a seal adds to a part.
const SEAL_LENGTH = 2000;

export interface Thoughts {
  /** Returns the parts of this answer as they go back, its thoughts among them; undefined if none are known. */
  before(message: Extract<ModelMessage, { role: "assistant" }>): readonly AnswerPart[] | undefined;
  keep(answer: readonly AnswerPart[]): void;
  /** For answers whose thoughts the provider does not take back, because what was before them has changed. */
  forget(messages: readonly ModelMessage[]): void;
}

/**
 * What a provider sealed cannot be made from the text of a thread. After a restart it is gone, and the model continues without.
 * Thoughts that go back as text are in the thread.
 */
export function createThoughts(kind: "text" | "sealed"): Thoughts {
  const kept = new LRUCache<string, readonly AnswerPart[]>({
    maxSize: MAX_LENGTH,
    sizeCalculation: (parts) =>
      parts.reduce((sum, part) => sum + ("text" in part ? part.text.length : 0) + SEAL_LENGTH, 1),
  });
  const known = ([first]: readonly { readonly id: string }[]) => first && kept.get(first.id);
  return {
    before({ calls, reasoning }) {
      const parts = known(calls);
      if (kind === "sealed" || !reasoning) return parts;
      return [{ type: "reasoning", text: reasoning }, ...(parts ?? [])];
    },
    keep(answer) {
      const [first] = answer.filter((part) => part.type === "tool-call");
      const parts =
        kind === "sealed"
          ? answer
          : answer.filter(({ type, providerOptions }) => type === "tool-call" && providerOptions);
      if (first !== undefined && parts.length > 0) kept.set(first.toolCallId, parts);
    },
    forget(messages) {
      for (const message of messages)
        if (message.role === "assistant" && message.calls[0]) kept.delete(message.calls[0].id);
    },
  };
}
