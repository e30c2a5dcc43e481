/** A request that names a conversation: what waits there comes before its input, and its turn goes on with the thread. */
import type { Services } from "../../../../kernel/plugin.ts";
import type { ConversationPlace } from "../../intake/intake.ts";
import { invalid } from "../../refusal.ts";
import { conversationNotFound, type StoredConversations } from "./stored-conversations.ts";

export interface GoingOnParts {
  readonly threads: Pick<Services["threads"], "turns">;
  readonly conversations: StoredConversations;
}

export interface GoingOn {
  /** As the request would have been without a conversation. */
  readonly body: unknown;
  /** Undefined where it names none. */
  readonly place: ConversationPlace | undefined;
}

export function createGoingOn({ threads, conversations }: GoingOnParts) {
  return async (user: string, body: unknown): Promise<GoingOn> => {
    const { conversation: given, input, store } = Object(body) as Record<string, unknown>;
    const id = typeof given === "object" && given !== null ? (given as { id?: unknown }).id : given;
    // What is no id is refused by those who read the body.
    if (typeof id !== "string") return { body, place: undefined };
    const conversation = await conversations.find(user, id);
    if (conversation === undefined) throw conversationNotFound("conversation");
    if (store === false)
      throw invalid(
        "store",
        "conversation_requires_store",
        '"store" cannot be false with "conversation": the response becomes part of it.',
      );
    const { thread } = conversation;
    const waiting = (await conversations.added(conversation)).filter(({ turn }) => turn === null);
    const items = waiting.flatMap(({ item }) => (item === null ? [] : [item]));
    const newest = thread === undefined ? undefined : await threads.turns(user, thread, { limit: 1 });
    return {
      body: items.length === 0 ? body : { ...Object(body), input: [...items, ...itemsOf(input)] },
      place: {
        thread,
        after: newest?.items.at(-1)?.id,
        claim: (tx, turn) => conversations.claim(tx, conversation, waiting, turn),
      },
    };
  };
}

/** Input of another kind is refused by those who read it. */
function itemsOf(input: unknown): readonly unknown[] {
  if (typeof input === "string") return [{ type: "message", role: "user", content: input }];
  return Array.isArray(input) ? input : [input];
}
