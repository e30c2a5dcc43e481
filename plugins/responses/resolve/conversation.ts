/** A request that names a conversation: items that wait there are put before its input, and its turn continues the thread. */
import type { Services, Transaction } from "../../../kernel/plugin.ts";
import { conversationNotFound, type StoredConversations } from "../stored/conversations.ts";
import { invalid } from "../wire/refusal.ts";

/** The place in a conversation where a request continues. */
export interface ConversationPlace {
  /** Undefined before its first response. */
  readonly thread: string | undefined;
  readonly after: string | undefined;
  /** Makes the turn the conversation's, in the transaction that opens it. */
  claim(tx: Transaction, turn: { readonly id: string; readonly thread: string }): Promise<void>;
}

export type JoinConversation = ReturnType<typeof createJoinConversation>;

/** Returns the body as it would have been without a conversation; `place` is undefined when the body names none. */
export function createJoinConversation(
  threads: Pick<Services["threads"], "turns">,
  conversations: StoredConversations,
) {
  return async (
    user: string,
    body: unknown,
  ): Promise<{ readonly body: unknown; readonly place: ConversationPlace | undefined }> => {
    const { conversation: given, input, store } = Object(body) as Record<string, unknown>;
    const id = typeof given === "object" && given !== null ? (given as { id?: unknown }).id : given;
    // The parser of the body refuses what is no id.
    if (typeof id !== "string") return { body, place: undefined };
    const conversation = await conversations.find(user, id);
    if (conversation === undefined) throw conversationNotFound("conversation");
    if (store === false) {
      const message = '"store" cannot be false with "conversation": the response becomes part of it.';
      throw invalid("store", "conversation_requires_store", message);
    }
    const { thread } = conversation;
    const waiting = (await conversations.added(conversation)).filter(({ turn }) => turn === null);
    const items = waiting.flatMap(({ item }) => (item === null ? [] : [item]));
    const newest = thread === undefined ? undefined : await threads.turns(user, thread, { limit: 1 });
    return {
      body: items.length === 0 ? body : { ...Object(body), input: [...items, ...rawItems(input)] },
      place: {
        thread,
        after: newest?.items.at(-1)?.id,
        claim: (tx, turn) => conversations.claim(tx, conversation, waiting, turn),
      },
    };
  };
}

/** The items of an input that is not parsed yet. Input of another kind is left for the parser to refuse. */
export function rawItems(input: unknown): readonly unknown[] {
  if (typeof input === "string") return [{ type: "message", role: "user", content: input }];
  return Array.isArray(input) ? input : [input];
}
