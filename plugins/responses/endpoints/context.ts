/** `/responses/input_tokens` and `/responses/compact`: how much of the window a request would take, and how to make it smaller. */
import { randomUUIDv7 } from "node:crypto";
import { Type } from "../../../kernel/kit/schema.ts";
import type { User } from "../../../kernel/plugin.ts";
import type { Turn } from "../../agent/services.ts";
import { PLACEHOLDER_MODEL, usageOf, withCacheWrites } from "../answer/response.ts";
import { parseOpen } from "../parse/open.ts";
import { type CreateRequest, previousNotFound } from "../parse/request.ts";
import type { ConversationPlace } from "../resolve/conversation.ts";
import { resolveItems } from "../resolve/previous.ts";
import { CHANNEL, historyItem } from "../turn/turn.ts";
import { anyObject, WireUsage } from "../wire/format.ts";
import { formatItemId } from "../wire/id.ts";
import { invalid, refuseDeep } from "../wire/refusal.ts";
import { offerTools } from "../wire/tool-names.ts";
import { waitingItem } from "./conversations.ts";
import { type Endpoint, type EndpointParts, endpoint, hangUp } from "./endpoint.ts";

const CountBody = Type.Object(
  {},
  { $id: "CountInputTokens", description: "As of `POST /responses`; every field may be left out" },
);
const CompactBody = Type.Object(
  { model: Type.String() },
  {
    $id: "CompactResponse",
    description: "As of `POST /responses`: `model`, `input`, `instructions`, `previous_response_id`",
  },
);

const InputTokens = Type.Object({
  object: Type.Literal("response.input_tokens"),
  input_tokens: Type.Integer({ description: "By estimate, with what the agent adds" }),
});

const Compaction = Type.Object({
  id: Type.String(),
  object: Type.Literal("response.compaction"),
  created_at: Type.Integer({ description: "Seconds since 1970" }),
  output: Type.Array(anyObject(), {
    description: "The user's messages, then an item of type `compaction`: the input to continue with",
  }),
  usage: WireUsage,
});

const MISSING = { 404: "There is no such response or conversation", 429: "Too many requests" };

export function contextEndpoints(parts: EndpointParts): readonly Endpoint[] {
  const { agent, requests, seals, toolCalls } = parts;
  const parse = (body: unknown) => parseOpen(body, toolCalls !== undefined);

  /** The turn that a request would be. All items are history: which of them is the message makes no difference here. */
  async function turnFor(user: User, request: CreateRequest, place?: ConversationPlace): Promise<Turn> {
    const { previous, instructions, tools } = request;
    if (previous !== undefined && (await requests.find(user.id, previous.turn))?.thread !== previous.thread)
      throw previousNotFound();
    const items = await resolveItems(
      request.items,
      // The response that a referred item belongs to is named by `previous_response_id`.
      async () => undefined,
      (kind, sealed) => seals.unseal(user.id, kind, sealed),
    );
    return {
      ...{ user: user.id, channel: CHANNEL, input: { type: "message", text: "" } },
      scope: user.scope,
      thread: previous?.thread ?? place?.thread,
      after: previous?.turn ?? place?.after,
      preamble: {
        history: items
          .filter((item) => item.type !== "reasoning")
          .map((item) => historyItem({ ...item, ...BARE })),
        instructionsOnce: instructions,
      },
      answer: { tools: tools && offerTools(tools).map(({ offer }) => offer), callersToolsWin: true },
    };
  }

  return [
    endpoint("post", "/responses/input_tokens", {
      summary: "Count the tokens that a request would send to the model",
      limited: true,
      body: CountBody,
      readBody: givenFields,
      answer: InputTokens,
      refusals: MISSING,
      async handle({ user, body }) {
        const given = { model: PLACEHOLDER_MODEL, input: [], ...withoutNulls(body) };
        const joined = await parts.joinConversation(user.id, given);
        const turn = await turnFor(user, parse(joined.body), joined.place);
        return { object: "response.input_tokens" as const, input_tokens: await agent.measure(turn) };
      },
    }),
    endpoint("post", "/responses/compact", {
      summary: "Condense a conversation into one item to continue with",
      limited: true,
      body: CompactBody,
      readBody: givenFields,
      answer: Compaction,
      refusals: MISSING,
      async handle({ user, body, context }) {
        if (body["conversation"]) {
          const message =
            '"conversation" cannot be compacted: its thread is compacted by itself. Leave it out.';
          throw invalid("conversation", "conversation_not_supported", message);
        }
        const request = parse({ input: [], ...withoutNulls(body) });
        if (request.items.length === 0 && request.previous === undefined) {
          const message = '"input" or "previous_response_id" must say what to compact.';
          throw invalid("input", "input_required", message);
        }
        const id = randomUUIDv7();
        const hex = id.replaceAll("-", "");
        const kept = userMessages(body["input"], id);
        const { text, usage } = await agent.condense(await turnFor(user, request), hangUp(context));
        const encrypted_content = seals.seal(user.id, "summary", text);
        return {
          id: `resp_${hex}`,
          object: "response.compaction" as const,
          created_at: Math.floor(Date.now() / 1000),
          output: [...kept, { type: "compaction", id: `cmp_${hex}`, encrypted_content }],
          usage: withCacheWrites(usageOf(usage)),
        };
      },
    }),
  ];
}

/** Neither bytes nor who wrote a summary matter to the count. */
const BARE = { attachments: undefined, isSummary: undefined };

type Fields = Readonly<Record<string, unknown>>;

const givenFields = (body: unknown): Fields =>
  typeof body === "object" && body !== null ? (body as Fields) : {};

/** The user's messages as they were sent: the parser has read them already. */
function userMessages(input: unknown, id: string): readonly Fields[] {
  const given = typeof input === "string" ? [{ role: "user", content: input }] : ((input ?? []) as object[]);
  return given.flatMap((item, index) => {
    const { type = "message", role } = item as { readonly type?: unknown; readonly role?: unknown };
    if (type !== "message" || role !== "user") return [];
    refuseDeep(item, `input[${index}]`);
    return [waitingItem({ id: formatItemId("msg", id, index), item: { ...item, type } })];
  });
}

/** A field that is null counts as left out. */
const withoutNulls = (body: Fields): Fields =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
