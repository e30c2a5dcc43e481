/** What the model thought before the calls of a turn, and how its provider sealed it: both go back to it with them. */
import { LRUCache } from "lru-cache";
import { tryJson } from "../../../kernel/kit/text.ts";
import type { ToolCall } from "../../../kernel/plugin.ts";
import type { ModelMessage, ModelRequest } from "../services.ts";
import type { AnswerPart } from "./language-model.ts";
import type { Need } from "./refusals.ts";

// Characters over all turns that run.
const MAX_LENGTH = 32_000_000;
// About how many characters a seal adds to a part.
const SEAL_LENGTH = 2000;

// Google's own word for a call that did not come from its model, or whose seal is gone.
const NO_SEAL = {
  openai: { extraContent: { google: { thought_signature: "skip_thought_signature_validator" } } },
};
const BY_FIELD = { openai: { thoughtField: "reasoning_content" } };

export interface Thoughts {
  /** Returns the parts of this answer as far as they go back as they came; `wanted`: with its thoughts. */
  before(user: User, message: Answer, wanted: boolean, needs: ReadonlySet<Need>): readonly AnswerPart[];
  keep(user: User, answer: readonly AnswerPart[]): void;
  /** For answers whose thoughts the provider does not take back, because what was before them has changed. */
  forget(user: User, messages: readonly ModelMessage[]): void;
}

type User = ModelRequest["user"];

type Answer = Extract<ModelMessage, { role: "assistant" }>;

/** What a provider sealed is gone after a restart: the thread's text cannot make it again. */
export function createThoughts(kind: "text" | "sealed"): Thoughts {
  const kept = new LRUCache<string, readonly AnswerPart[]>({
    maxSize: MAX_LENGTH,
    sizeCalculation: (parts) =>
      parts.reduce((sum, part) => sum + ("text" in part ? part.text.length : 0) + SEAL_LENGTH, 1),
  });

  function sealedParts(
    user: User,
    { calls: [first] }: Answer,
    needs: ReadonlySet<Need>,
  ): readonly AnswerPart[] {
    const parts = first && kept.get(keyOf(user, first));
    if (parts !== undefined || first === undefined || !needs.has("seals")) return parts ?? [];
    const { id: toolCallId, name: toolName } = first;
    return [{ type: "tool-call", toolCallId, toolName, input: {}, providerOptions: NO_SEAL }];
  }

  return {
    before(user, message, wanted, needs) {
      const parts = sealedParts(user, message, needs).filter(({ type }) => wanted || type !== "reasoning");
      if (kind === "sealed") return parts;
      const { reasoning: text = "" } = message;
      // Kimi refuses an empty one.
      if (needs.has("allThoughts"))
        return [{ type: "reasoning", text: text || " ", providerOptions: BY_FIELD }, ...parts];
      return wanted && text !== "" ? [{ type: "reasoning", text }, ...parts] : parts;
    },
    keep(user, answer) {
      const first = answer.find((part) => part.type === "tool-call");
      const isSealed = (part: AnswerPart) => part.type === "tool-call" && part.providerOptions !== undefined;
      const parts = kind === "sealed" ? answer : answer.filter(isSealed);
      if (first === undefined || parts.length === 0) return;
      const { toolCallId: id, toolName: name, input } = first;
      kept.set(keyOf(user, { id, name, params: String(input) }), parts);
    },
    forget(user, messages) {
      for (const message of messages)
        if (message.role === "assistant" && message.calls[0]) kept.delete(keyOf(user, message.calls[0]));
    },
  };
}

/** Some servers only number their calls, so that the id alone is that of many answers. */
function keyOf(user: User, { id, name, params }: ToolCall): string {
  return JSON.stringify([user, id, name, tryJson(params.trim() || "{}")]);
}
