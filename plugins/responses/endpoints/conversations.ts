/** `/conversations` and their items. */
import type { Asked } from "../../../kernel/kit/http.ts";
import { type Declared, maybe, Type } from "../../../kernel/kit/schema.ts";
import { Fault, type TurnRecord, type User } from "../../../kernel/plugin.ts";
import type { TurnPage } from "../../agent/services.ts";
import { outputOf } from "../answer/output.ts";
import { inSeconds } from "../answer/response.ts";
import { parseItem } from "../parse/items.ts";
import { Metadata } from "../parse/open.ts";
import { BODY } from "../parse/request.ts";
import { type AddedItem, type Conversation, conversationNotFound } from "../stored/conversations.ts";
import { CHANNEL } from "../turn/turn.ts";
import { anyObject } from "../wire/format.ts";
import { compile, invalid, refuseDeep } from "../wire/refusal.ts";
import {
  checkItemQuery,
  DEFAULT_LIMIT,
  type Endpoint,
  type EndpointParts,
  endpoint,
  firstPage,
  ItemQuery,
  listOf,
  OTHERS,
  refuseOthers,
  toPage,
  unparsed,
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

const Item = anyObject({
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

  /** One that the caller may change: a token with a scope changes only those it made. */
  async function findOwn(asked: ByUser): Promise<Conversation> {
    const conversation = await find(asked);
    refuseOthers(asked.user, conversation);
    return conversation;
  }

  async function findItem({ params }: ByUser, conversation: Conversation): Promise<ListedItem> {
    for await (const item of listItems(parts, conversation)) if (item.id === params["item"]) return item;
    throw new Fault("missing", "item_not_found", "There is no item with this id in the conversation.", {
      param: "item_id",
    });
  }

  return [
    endpoint("post", "/conversations", {
      limited: true,
      summary: "Create a conversation, with items to begin with",
      body: CreateConversation,
      readBody: (body) => checkCreate(body ?? {}),
      answer: ConversationObject,
      refusals: LIMITED,
      async handle({ user, body: { items, metadata } }) {
        const given = (items ?? []).map(readItem);
        return shown(await conversations.create(user.id, metadata ?? {}, given, user.scope?.token));
      },
    }),
    endpoint("get", "/conversations/{id}", {
      summary: "Get a conversation",
      answer: ConversationObject,
      refusals: MISSING,
      handle: async (asked) => shown(await find(asked)),
    }),
    endpoint("post", "/conversations/{id}", {
      summary: "Change the metadata of a conversation",
      body: UpdateConversation,
      answer: ConversationObject,
      refusals: { ...MISSING, 403: OTHERS },
      handle: async (asked) =>
        shown(await conversations.update(await findOwn(asked), asked.body.metadata ?? {})),
    }),
    endpoint("delete", "/conversations/{id}", {
      summary: "Delete a conversation; its responses and their thread stay",
      answer: DeletedConversation,
      refusals: { ...MISSING, 403: OTHERS },
      async handle(asked) {
        const conversation = await findOwn(asked);
        await conversations.remove(conversation);
        return { id: conversation.id, object: "conversation.deleted", deleted: true } as const;
      },
    }),
    endpoint("post", "/conversations/{id}/items", {
      summary: "Add items, which go to the next response of the conversation",
      // The items may be as large as a message.
      limited: true,
      body: AddItems,
      answer: ItemList,
      refusals: { ...MISSING, ...LIMITED },
      async handle(asked) {
        const given = asked.body.items.map(readItem);
        const added = await conversations.add(await find(asked), given);
        return toPage(added.map(waitingItem), false);
      },
    }),
    endpoint("get", "/conversations/{id}/items", {
      summary: "List the items of a conversation",
      query: ItemQuery,
      readQuery: unparsed,
      answer: ItemList,
      refusals: MISSING,
      async handle(asked) {
        const conversation = await find(asked);
        const { limit = DEFAULT_LIMIT, order, after } = checkItemQuery({ ...asked.context.query });
        const items = listItems(parts, conversation, order);
        return await firstPage(after === undefined ? items : itemsAfter(items, after), Number(limit));
      },
    }),
    endpoint("get", "/conversations/{id}/items/{item}", {
      summary: "Get an item of a conversation",
      answer: Item,
      refusals: MISSING,
      handle: async (asked) => findItem(asked, await find(asked)),
    }),
    endpoint("delete", "/conversations/{id}/items/{item}", {
      summary: "Delete an item that no response has taken yet",
      answer: ConversationObject,
      refusals: { ...MISSING, 403: OTHERS },
      async handle(asked) {
        const conversation = await findOwn(asked);
        const { id } = await findItem(asked, conversation);
        if (await conversations.removeItem(conversation, id)) return shown(conversation);
        const message =
          "A response was made with this item, or made it: it is part of the thread. Only items that no response has taken can be deleted; delete the conversation instead.";
        throw invalid("item_id", "item_in_use", message);
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

interface ListedItem {
  readonly id: string;
  readonly [key: string]: unknown;
}

async function* itemsAfter(items: AsyncIterable<ListedItem>, id: string): AsyncGenerator<ListedItem> {
  let isReached = false;
  for await (const item of items) {
    if (isReached) yield item;
    isReached ||= item.id === id;
  }
  if (!isReached)
    throw invalid("after", "invalid_after", '"after" must be the id of an item of this conversation.');
}

/** Everything in a conversation: what requests brought, what was answered, and then what waits. */
async function* listItems(
  { threads, requests, conversations }: EndpointParts,
  conversation: Conversation,
  order: "asc" | "desc" = "desc",
): AsyncGenerator<ListedItem> {
  const { user, thread } = conversation;
  const added = await conversations.added(conversation);
  const waiting = added.filter(({ turn }) => turn === null).map(waitingItem);
  const names = new Map(added.map(({ id, turn, place }) => [`${turn} ${place}`, id]));
  if (order === "desc") yield* waiting.toReversed();
  let next = thread === undefined ? undefined : order === "asc" ? "0" : "";
  while (thread !== undefined && next !== undefined) {
    const from = order === "asc" ? { after: next } : { before: next || undefined };
    const page: TurnPage = await threads.turns(user, thread, from);
    const listed = (await Promise.all(page.items.map((record) => itemsOf(record)))).flat();
    yield* order === "asc" ? listed : listed.toReversed();
    next = page.next;
  }
  if (order === "asc") yield* waiting;

  async function itemsOf(record: TurnRecord): Promise<readonly ListedItem[]> {
    const request = await requests.find(user, record.id);
    // Earlier items that a request brought are a turn of their own; the request has them, under their ids.
    if (request === undefined && record.channel === CHANNEL) return [];
    const asked =
      request?.input ??
      (record.input.type === "message"
        ? [{ type: "message", role: "user", text: record.input.text } as const]
        : []);
    const tools = request?.echo.tools ?? [];
    const brought = asked.map((item, place) => {
      const listed = inputItem({ item, turn: record.id, from: "input", index: place, tools });
      return { ...listed, id: names.get(`${record.id} ${place}`) ?? listed.id };
    });
    const view = { isOpen: true, tools };
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
