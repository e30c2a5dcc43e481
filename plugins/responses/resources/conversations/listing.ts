/** What has been said in a conversation, item by item: what its requests brought, what was answered, and what waits. */
import type { Services, TurnRecord } from "../../../../kernel/plugin.ts";
import { outputOf } from "../../answer/output.ts";
import { inputItem } from "../../intake/input-items.ts";
import { CHANNEL } from "../../intake/intake.ts";
import type { Requests } from "../../intake/requests.ts";
import type { AddedItem, Conversation, StoredConversations } from "./stored-conversations.ts";

export interface ListedItem {
  readonly id: string;
  readonly [key: string]: unknown;
}

export interface ListingParts {
  readonly threads: Pick<Services["threads"], "turns">;
  readonly requests: Requests;
  readonly conversations: Pick<StoredConversations, "added">;
}

/** From the newest to the oldest; whoever has seen enough stops. */
export async function* listItems(
  { threads, requests, conversations }: ListingParts,
  conversation: Conversation,
): AsyncGenerator<ListedItem> {
  const { user, thread } = conversation;
  const added = await conversations.added(conversation);
  yield* added
    .filter(({ turn }) => turn === null)
    .map(waitingItem)
    .reverse();
  if (thread === undefined) return;
  const names = new Map(added.map(({ id, turn, place }) => [`${turn} ${place}`, id]));
  for (let before: string | undefined; ; ) {
    const { items: turns, next } = await threads.turns(user, thread, before === undefined ? {} : { before });
    const told = await Promise.all(turns.map((record) => itemsOf(record)));
    yield* told.flat().reverse();
    if (next === undefined) return;
    before = next;
  }

  async function itemsOf(record: TurnRecord): Promise<readonly ListedItem[]> {
    const request = await requests.find(user, record.id);
    // What a request brought of earlier items is a turn of its own; the request has them, under their ids.
    if (request === undefined && record.channel === CHANNEL) return [];
    const asked =
      request?.input ??
      (record.input.type === "message"
        ? [{ type: "message", role: "user", text: record.input.text } as const]
        : []);
    const brought = asked.flatMap((item, place) => {
      if (item.type === "reasoning") return [];
      const listed = inputItem(item, record.id, place, request?.echo.tools);
      return [{ ...listed, id: names.get(`${record.id} ${place}`) ?? listed.id }];
    });
    const view = { isOpen: true, tools: request?.echo.tools ?? [] };
    return [...brought, ...outputOf(record, view)];
  }
}

/** As it was sent, in the form in which items are listed. */
export function waitingItem({ id, item }: Pick<AddedItem, "id" | "item">): ListedItem {
  const { content, ...rest } = item ?? {};
  return {
    ...rest,
    id,
    status: "completed",
    ...(content !== undefined && { content: partsOf(content, rest["role"]) }),
  };
}

function partsOf(content: unknown, role: unknown): unknown {
  if (typeof content !== "string") return content ?? [];
  return role === "assistant"
    ? [{ type: "output_text", text: content, annotations: [] }]
    : [{ type: "input_text", text: content }];
}
