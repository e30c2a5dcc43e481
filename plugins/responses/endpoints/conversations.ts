/** `/conversations` and their items. */
import type { Context } from "koa";
import { applyLimit, type Declared, Type } from "../../../kernel/kit.ts";
import { Fault, type Limiter } from "../../../kernel/plugin.ts";
import { inSeconds } from "../answer/response.ts";
import { Metadata } from "../parse/body.ts";
import { parseItem } from "../parse/items.ts";
import { maybe } from "../parse/request.ts";
import {
  type Conversation,
  conversationNotFound,
  type StoredConversations,
} from "../stored/conversations.ts";
import { compile } from "../wire/check.ts";
import { invalid } from "../wire/refusal.ts";
import { refuseDeep } from "./depth.ts";
import type { Endpoint, Mounting } from "./endpoint.ts";
import { InputQuery } from "./input-items.ts";
import { type ListedItem, type ListingParts, listItems, waitingItem } from "./listing.ts";

export interface ConversationParts extends Mounting, ListingParts {
  readonly conversations: StoredConversations;
  readonly chatLimit: Limiter;
}

const items = (refusal: string) => Type.Array(Type.Unknown(), { minItems: 1, maxItems: 20, refusal });

const CreateConversation = Type.Object(
  {
    items: maybe(
      Type.Array(Type.Unknown(), { maxItems: 20, refusal: "must be an array of at most 20 items" }),
    ),
    metadata: maybe(Metadata),
  },
  { $id: "CreateConversation", refusal: "must be a JSON object, sent as application/json" },
);
const BODY = { refusal: "must be a JSON object, sent as application/json" };
const UpdateConversation = Type.Object({ metadata: Type.Union([Metadata, Type.Null()]) }, BODY);
const AddItems = Type.Object({ items: items("must be an array of 1 to 20 items") }, BODY);

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

const ItemList = Type.Object({
  object: Type.Literal("list"),
  data: Type.Array(Item),
  first_id: Type.Union([Type.String(), Type.Null()]),
  last_id: Type.Union([Type.String(), Type.Null()]),
  has_more: Type.Boolean(),
});

const checkCreate = compile(CreateConversation);
const checkUpdate = compile(UpdateConversation);
const checkAdd = compile(AddItems);
const checkQuery = compile(InputQuery);

const USUAL = "20";
const MISSING = { 404: "There is no such conversation, or no such item in it" };
const LIMITED = { 429: "Too many requests" };

export function conversationEndpoints(parts: ConversationParts): readonly Endpoint[] {
  const { web, conversations } = parts;
  const bodyOf = (context: Context) => (context.request as { readonly body?: unknown }).body;

  /** What is stored counts as a message: it may be as large as one. */
  async function limit(context: Context): Promise<void> {
    applyLimit(await parts.chatLimit.take(web.user(context).id), context, { perRequests: true });
  }

  async function find(context: Context): Promise<Conversation> {
    const found = await conversations.find(web.user(context).id, String(context["params"].id));
    if (found === undefined) throw conversationNotFound("conversation_id");
    return found;
  }

  async function findItem(context: Context, conversation: Conversation): Promise<ListedItem> {
    const id = String(context["params"].item);
    for await (const item of listItems(parts, conversation)) if (item.id === id) return item;
    throw itemNotFound();
  }

  async function list(context: Context): Promise<void> {
    const { limit = USUAL, order = "desc", after } = checkQuery({ ...context.query });
    const conversation = await find(context);
    const most = Number(limit);
    const wanted: ListedItem[] = [];
    if (order === "asc") {
      const all: ListedItem[] = [];
      for await (const item of listItems(parts, conversation)) all.push(item);
      all.reverse();
      wanted.push(...from(all, after).slice(0, most + 1));
    } else {
      let isReached = after === undefined;
      for await (const item of listItems(parts, conversation)) {
        if (isReached) wanted.push(item);
        if (wanted.length > most) break;
        isReached ||= item.id === after;
      }
      if (!isReached) throw noSuchAfter();
    }
    context.body = page(wanted.slice(0, most), wanted.length > most);
  }

  async function removeItem(context: Context): Promise<void> {
    const conversation = await find(context);
    const { id } = await findItem(context, conversation);
    if (!(await conversations.removeItem(conversation, id)))
      throw invalid(
        "item_id",
        "item_in_use",
        "A response was made with this item, or made it: it is part of the thread. Only items that no response has taken can be deleted; delete the conversation instead.",
      );
    context.body = shown(conversation);
  }

  const at = { path: "/conversations/{id}", refusals: MISSING };
  const atItems = { ...at, path: "/conversations/{id}/items" };
  const atItem = { ...at, path: "/conversations/{id}/items/{item}" };
  return [
    {
      ...{ method: "post", path: "/conversations" },
      summary: "Create a conversation, with items to begin with",
      body: CreateConversation,
      answer: ConversationObject,
      refusals: LIMITED,
      async handle(context) {
        await limit(context);
        const { items, metadata } = checkCreate(bodyOf(context) ?? {});
        const given = (items ?? []).map(readItem);
        context.body = shown(await conversations.create(web.user(context).id, metadata ?? {}, given));
      },
    },
    {
      ...{ ...at, method: "get", summary: "Get a conversation", answer: ConversationObject },
      async handle(context) {
        context.body = shown(await find(context));
      },
    },
    {
      ...{ ...at, method: "post", summary: "Change the metadata of a conversation" },
      body: UpdateConversation,
      answer: ConversationObject,
      async handle(context) {
        const { metadata } = checkUpdate(bodyOf(context));
        context.body = shown(await conversations.update(await find(context), metadata ?? {}));
      },
    },
    {
      ...{ ...at, method: "delete", answer: DeletedConversation },
      summary: "Delete a conversation; its responses and their thread stay",
      async handle(context) {
        const conversation = await find(context);
        await conversations.remove(conversation);
        const deleted: Declared<typeof DeletedConversation> = {
          ...{ id: conversation.id, object: "conversation.deleted", deleted: true },
        };
        context.body = deleted;
      },
    },
    {
      ...{ ...atItems, method: "post", body: AddItems, answer: ItemList },
      summary: "Add items, which go to the next response of the conversation",
      refusals: { ...MISSING, ...LIMITED },
      async handle(context) {
        await limit(context);
        const { items } = checkAdd(bodyOf(context));
        const given = items.map(readItem);
        const added = await conversations.add(await find(context), given);
        context.body = page(added.map(waitingItem), false);
      },
    },
    {
      ...{ ...atItems, method: "get", summary: "List the items of a conversation" },
      query: InputQuery,
      answer: ItemList,
      handle: list,
    },
    {
      ...{ ...atItem, method: "get", summary: "Get an item of a conversation", answer: Item },
      async handle(context) {
        context.body = await findItem(context, await find(context));
      },
    },
    {
      ...{ ...atItem, method: "delete", answer: ConversationObject },
      summary: "Delete an item that no response has taken yet",
      handle: removeItem,
    },
  ];
}

const KINDS = new Set(["message", "function_call", "function_call_output"]);

/** Checked as the input of a request is, and kept as it was sent. */
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

const page = (data: readonly ListedItem[], has_more: boolean) => ({
  object: "list",
  data,
  first_id: data[0]?.id ?? null,
  last_id: data.at(-1)?.id ?? null,
  has_more,
});

function from(all: readonly ListedItem[], after: string | undefined): readonly ListedItem[] {
  if (after === undefined) return all;
  const index = all.findIndex(({ id }) => id === after);
  if (index === -1) throw noSuchAfter();
  return all.slice(index + 1);
}

const noSuchAfter = () =>
  invalid("after", "invalid_after", '"after" must be the id of an item of this conversation.');

const itemNotFound = () =>
  new Fault("missing", "item_not_found", "There is no item with this id in the conversation.", {
    param: "item_id",
  });
