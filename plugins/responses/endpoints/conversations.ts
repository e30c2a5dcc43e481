/** `/conversations` and their items. */
import { type Asked, type Declared, Type } from "../../../kernel/kit.ts";
import { Fault, type TurnRecord, type User } from "../../../kernel/plugin.ts";
import { outputOf } from "../answer/output.ts";
import { inSeconds } from "../answer/response.ts";
import { parseItem } from "../parse/items.ts";
import { Metadata } from "../parse/open.ts";
import { BODY, maybe } from "../parse/request.ts";
import { type AddedItem, type Conversation, conversationNotFound } from "../stored/conversations.ts";
import { CHANNEL } from "../turn/turn.ts";
import { compile, invalid, refuseDeep } from "../wire/refusal.ts";
import {
  DEFAULT_LIMIT,
  type Endpoint,
  type EndpointParts,
  endpoint,
  ItemQuery,
  listOf,
  toPage,
} from "./endpoint.ts";
import { inputItem } from "./input-items.ts";

const MAX_GIVEN_ITEMS = 20;

const CreateConversation = Type.Object(
  {
    items: maybe(
      Type.Array(Type.Unknown(), {
        maxItems: MAX_GIVEN_ITEMS,
        refusal: `must be an array of at most ${MAX_GIVEN_ITEMS} items`,
      }),
    ),
    metadata: maybe(Metadata),
  },
  { $id: "CreateConversation", ...BODY },
);
const UpdateConversation = Type.Object({ metadata: Type.Union([Metadata, Type.Null()]) }, BODY);
const AddItems = Type.Object(
  {
    items: Type.Array(Type.Unknown(), {
      minItems: 1,
      maxItems: MAX_GIVEN_ITEMS,
      refusal: `must be an array of 1 to ${MAX_GIVEN_ITEMS} items`,
    }),
  },
  BODY,
);

const ConversationObject = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal("conversation"),
    created_at: Type.Integer({ description: "Seconds since 1970" }),
    metadata: Type.Record(Type.String(), Type.String()),
  },
  { $id: "Conversation" },
);

const DeletedConversation = Type.Object({
  id: Type.String(),
  object: Type.Literal("conversation.deleted"),
  deleted: Type.Literal(true),
});

const Item = Type.Record(Type.String(), Type.Unknown(), {
  description: "A message, a function call or its output, as in the output of a response",
});

const ItemList = listOf(Item);

const checkCreate = compile(CreateConversation);

const MISSING = { 404: "There is no such conversation, or no such item in it" };
const LIMITED = { 429: "Too many requests" };

export function conversationEndpoints(parts: EndpointParts): readonly Endpoint[] {
  const { conversations } = parts;
  type ByUser = Asked & { readonly user: User };

  async function find({ user, params }: ByUser): Promise<Conversation> {
    const found = await conversations.find(user.id, String(params["id"]));
    if (found === undefined) throw conversationNotFound("conversation_id");
    return found;
  }

  async function findItem({ params }: ByUser, conversation: Conversation): Promise<ListedItem> {
    for await (const item of listItems(parts, conversation)) if (item.id === params["item"]) return item;
    throw new Fault("missing", "item_not_found", "There is no item with this id in the conversation.", {
      param: "item_id",
    });
  }

  /** The items of a page, and one more if there is one. */
  async function itemsFrom(
    conversation: Conversation,
    order: "asc" | "desc",
    after: string | undefined,
    limit: number,
  ): Promise<readonly ListedItem[]> {
    if (order === "asc") {
      const all: ListedItem[] = [];
      for await (const item of listItems(parts, conversation)) all.push(item);
      all.reverse();
      const index = after === undefined ? -1 : all.findIndex(({ id }) => id === after);
      if (after !== undefined && index === -1) throw noSuchAfter();
      return all.slice(index + 1, index + limit + 2);
    }
    const found: ListedItem[] = [];
    let isReached = after === undefined;
    for await (const item of listItems(parts, conversation)) {
      if (isReached) found.push(item);
      if (found.length > limit) break;
      isReached ||= item.id === after;
    }
    if (!isReached) throw noSuchAfter();
    return found;
  }

  const at = { path: "/conversations/{id}", refusals: MISSING };
  const atItems = { ...at, path: "/conversations/{id}/items" };
  const atItem = { ...at, path: "/conversations/{id}/items/{item}" };
  return [
    endpoint({
      ...{ method: "post", path: "/conversations", limited: true },
      summary: "Create a conversation, with items to begin with",
      body: CreateConversation,
      readBody: (body) => checkCreate(body ?? {}),
      answer: ConversationObject,
      refusals: LIMITED,
      async handle({ user, body: { items, metadata } }) {
        return shown(await conversations.create(user.id, metadata ?? {}, (items ?? []).map(readItem)));
      },
    }),
    endpoint({
      ...{ ...at, method: "get", summary: "Get a conversation", answer: ConversationObject },
      handle: async (asked) => shown(await find(asked)),
    }),
    endpoint({
      ...{ ...at, method: "post", summary: "Change the metadata of a conversation" },
      body: UpdateConversation,
      answer: ConversationObject,
      handle: async (asked) =>
        shown(await conversations.update(await find(asked), asked.body.metadata ?? {})),
    }),
    endpoint({
      ...{ ...at, method: "delete", answer: DeletedConversation },
      summary: "Delete a conversation; its responses and their thread stay",
      async handle(asked) {
        const conversation = await find(asked);
        await conversations.remove(conversation);
        return { id: conversation.id, object: "conversation.deleted", deleted: true } as const;
      },
    }),
    endpoint({
      // Adding items counts as a message, because they may be as large as one.
      ...{ ...atItems, method: "post", limited: true, body: AddItems, answer: ItemList },
      summary: "Add items, which go to the next response of the conversation",
      refusals: { ...MISSING, ...LIMITED },
      async handle(asked) {
        const given = asked.body.items.map(readItem);
        const added = await conversations.add(await find(asked), given);
        return toPage(added.map(waitingItem), false);
      },
    }),
    endpoint({
      ...{ ...atItems, method: "get", summary: "List the items of a conversation" },
      query: ItemQuery,
      answer: ItemList,
      async handle(asked) {
        const { limit: given = DEFAULT_LIMIT, order = "desc", after } = asked.query;
        const limit = Number(given);
        const found = await itemsFrom(await find(asked), order, after, limit);
        return toPage(found.slice(0, limit), found.length > limit);
      },
    }),
    endpoint({
      ...{ ...atItem, method: "get", summary: "Get an item of a conversation", answer: Item },
      handle: async (asked) => findItem(asked, await find(asked)),
    }),
    endpoint({
      ...{ ...atItem, method: "delete", answer: ConversationObject },
      summary: "Delete an item that no response has taken yet",
      async handle(asked) {
        const conversation = await find(asked);
        const { id } = await findItem(asked, conversation);
        if (await conversations.removeItem(conversation, id)) return shown(conversation);
        throw invalid(
          "item_id",
          "item_in_use",
          "A response was made with this item, or made it: it is part of the thread. Only items that no response has taken can be deleted; delete the conversation instead.",
        );
      },
    }),
  ];
}

const KINDS = new Set(["message", "function_call", "function_call_output"]);

/** An item is checked as the input of a request is, and kept as it was sent. */
function readItem(value: unknown, index: number): Readonly<Record<string, unknown>> {
  const at = `items[${index}]`;
  const { type } = parseItem(value, at);
  if (!KINDS.has(type))
    throw invalid(
      `${at}.type`,
      "invalid_type",
      `"${at}.type" must be message, function_call or function_call_output: a conversation holds nothing else.`,
    );
  refuseDeep(value, at);
  const { id: _, ...item } = value as Record<string, unknown>;
  return { ...item, type };
}

const shown = ({ id, createdAt, metadata }: Conversation): Declared<typeof ConversationObject> => ({
  ...{ id, object: "conversation", created_at: inSeconds(createdAt), metadata },
});

const noSuchAfter = () =>
  invalid("after", "invalid_after", '"after" must be the id of an item of this conversation.');

interface ListedItem {
  readonly id: string;
  readonly [key: string]: unknown;
}

/** Everything in a conversation, from the newest item to the oldest: what waits, what was answered, and what requests brought. */
async function* listItems(
  { threads, requests, conversations }: EndpointParts,
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
    const { items: turns, next } = await threads.turns(user, thread, { before });
    const listed = await Promise.all(turns.map((record) => itemsOf(record)));
    yield* listed.flat().reverse();
    if (next === undefined) return;
    before = next;
  }

  async function itemsOf(record: TurnRecord): Promise<readonly ListedItem[]> {
    const request = await requests.find(user, record.id);
    // Earlier items that a request brought are a turn of their own; the request has them, under their ids.
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

/** An item as it was sent, in the form in which items are listed. */
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
