/** `/responses/input_tokens` and `/responses/compact`: what a request would cost of the window, and how it gets smaller. */
import { randomUUIDv7 } from "node:crypto";
import type { Context } from "koa";
import { applyLimit, type Declared, Type } from "../../../../kernel/kit.ts";
import type { Limiter, Services } from "../../../../kernel/plugin.ts";
import { formatItemId } from "../../answer/id.ts";
import { PLACEHOLDER_MODEL, usageOf, withCacheWrites } from "../../answer/response.ts";
import { WireUsage } from "../../answer/wire.ts";
import type { Endpoint, Mounting } from "../../endpoint.ts";
import type { CreateRequest } from "../../intake/request.ts";
import type { Requests } from "../../intake/requests.ts";
import { invalid } from "../../refusal.ts";
import type { Seals } from "../../seal.ts";
import type { GoingOn } from "../conversations/going-on.ts";
import { waitingItem } from "../conversations/listing.ts";
import { refuseDeep } from "../depth.ts";
import { prospectOf } from "./prospect.ts";

export interface ContextParts extends Mounting {
  readonly agent: Services["agent"];
  readonly requests: Requests;
  readonly chatLimit: Limiter;
  goingOn(user: string, body: unknown): Promise<GoingOn>;
  /** Reads a body as `POST /responses` does. */
  read(body: unknown): CreateRequest;
  /** What only we can read again, and only for this user. */
  readonly seal: Seals["seal"];
  readonly unseal: Seals["unseal"];
}

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
  output: Type.Array(Type.Record(Type.String(), Type.Unknown()), {
    description: "The user's messages, then an item of type `compaction`: the input to go on with",
  }),
  usage: WireUsage,
});

const MISSING = { 404: "There is no such response or conversation", 429: "Too many requests" };

export function contextEndpoints(parts: ContextParts): readonly Endpoint[] {
  const { web, agent } = parts;

  async function readBody(context: Context) {
    const user = web.user(context);
    applyLimit(await parts.chatLimit.take(user.id), context, { perRequests: true });
    const { body } = context.request as { readonly body?: unknown };
    return { user, body: typeof body === "object" && body !== null ? body : {} };
  }

  async function count(context: Context): Promise<void> {
    const { user, body } = await readBody(context);
    const going = await parts.goingOn(user.id, withoutNulls({ model: PLACEHOLDER_MODEL, input: [] }, body));
    const turn = await prospectOf(parts, user, parts.read(going.body), going.place);
    const counted: Declared<typeof InputTokens> = {
      object: "response.input_tokens",
      input_tokens: await agent.measure(turn),
    };
    context.body = counted;
  }

  async function compact(context: Context): Promise<void> {
    const { user, body } = await readBody(context);
    if ((body as { readonly conversation?: unknown }).conversation)
      throw invalid(
        "conversation",
        "conversation_not_supported",
        '"conversation" cannot be compacted: its thread is compacted by itself. Leave it out.',
      );
    const request = parts.read(withoutNulls({ input: [] }, body));
    if (request.items.length === 0 && request.previous === undefined)
      throw invalid("input", "input_required", '"input" or "previous_response_id" must say what to compact.');
    const id = randomUUIDv7();
    const kept = userMessages((body as { readonly input?: unknown }).input, id);
    const { text, usage } = await agent.condense(await prospectOf(parts, user, request), hangUp(context));
    const compacted: Declared<typeof Compaction> = {
      id: `resp_${id.replaceAll("-", "")}`,
      object: "response.compaction",
      created_at: Math.floor(Date.now() / 1000),
      output: [
        ...kept,
        {
          type: "compaction",
          id: `cmp_${id.replaceAll("-", "")}`,
          encrypted_content: parts.seal(user.id, "summary", text),
        },
      ],
      usage: withCacheWrites(usageOf(usage)),
    };
    context.body = compacted;
  }

  return [
    {
      method: "post",
      path: "/responses/input_tokens",
      summary: "Count the tokens that a request would send to the model",
      body: CountBody,
      answer: InputTokens,
      refusals: MISSING,
      handle: count,
    },
    {
      method: "post",
      path: "/responses/compact",
      summary: "Put what was said into one item, to go on with instead",
      body: CompactBody,
      answer: Compaction,
      refusals: MISSING,
      handle: compact,
    },
  ];
}

/** As they were sent: with them the input has been read already. */
function userMessages(input: unknown, id: string): readonly Readonly<Record<string, unknown>>[] {
  const given = typeof input === "string" ? [{ role: "user", content: input }] : ((input ?? []) as object[]);
  return given.flatMap((item, index) => {
    const { type = "message", role } = item as { readonly type?: unknown; readonly role?: unknown };
    if (type !== "message" || role !== "user") return [];
    refuseDeep(item, `input[${index}]`);
    return [waitingItem({ id: formatItemId("msg", id, index), item: { ...item, type } })];
  });
}

/** What is null was left out. */
function withoutNulls(defaults: object, body: object): object {
  return {
    ...defaults,
    ...Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null)),
  };
}

/** Aborted when the caller hangs up: nobody waits for the rest. */
function hangUp(context: Context): AbortSignal {
  const controller = new AbortController();
  context.res.once("close", () => controller.abort());
  return controller.signal;
}
