/** The endpoints of responses, under the prefixes of both doors. */
import type { Context } from "koa";
import type { TSchema } from "typebox";
import { applyLimit, type Declared, Type } from "../../kernel/kit.ts";
import type { Limiter, Log, Services, Web } from "../../kernel/plugin.ts";
import { Fault } from "../../kernel/plugin.ts";
import type { Answers } from "./answer/answer.ts";
import { parseResponseId } from "./answer/id.ts";
import type { Places } from "./answer/place.ts";
import { PLACEHOLDER_MODEL } from "./answer/response.ts";
import {
  DeletedResponse,
  ResponseObject,
  SentEvent,
  StrictEvent,
  StrictResponse,
  type WireTool,
} from "./answer/wire.ts";
import { DOORS, type Door, STRICT } from "./doors.ts";
import { type Endpoint, mountEndpoints } from "./endpoint.ts";
import { compile } from "./intake/check.ts";
import { InputList, InputQuery, listInput } from "./intake/input-items.ts";
import { CHANNEL, type Intake, repeatKeyOf } from "./intake/intake.ts";
import { OpenCreateBody } from "./intake/open/body.ts";
import { ignoredHeader } from "./intake/open/ignored.ts";
import { parseOpen } from "./intake/open/open.ts";
import { sentItems } from "./intake/replay/chain.ts";
import type { CreateRequest } from "./intake/request.ts";
import type { Requests, TakenRequest } from "./intake/requests.ts";
import { CreateBody, parseStrict } from "./intake/strict.ts";
import { invalid } from "./refusal.ts";
import type { GoingOn } from "./resources/conversations/going-on.ts";
import { modelList } from "./resources/models.ts";

interface Body {
  readonly schema: TSchema;
  parse(body: unknown, wired: boolean): CreateRequest;
}

const BODIES: Readonly<Record<Door["name"], Body>> = {
  strict: { schema: CreateBody, parse: parseStrict },
  open: { schema: OpenCreateBody, parse: parseOpen },
};

const ANSWERS = {
  strict: { answer: StrictResponse, events: StrictEvent },
  open: { answer: ResponseObject, events: SentEvent },
} as const;

const RetrievalQuery = Type.Object({
  stream: Type.Optional(Type.Enum(["true", "false"], { refusal: "must be true or false" })),
  starting_after: Type.Optional(
    Type.String({ pattern: "^\\d{1,9}$", refusal: "must be the sequence_number of an event" }),
  ),
});
const checkRetrieval = compile(RetrievalQuery);

export interface RouteParts {
  readonly web: Web;
  readonly agent: Services["agent"];
  readonly threads: Services["threads"];
  readonly requests: Requests;
  readonly chatLimit: Limiter;
  /** Absent in a composition that cannot pause a turn for the caller's own tools. */
  readonly externalTools: Services["toolCalls"] | undefined;
  readonly intake: Intake;
  /** Goes on with the conversation that a body names. */
  goingOn(user: string, body: unknown): Promise<GoingOn>;
  readonly places: Places;
  readonly answers: Answers;
  readonly startedAt: Date;
  readonly log: Log;
}

export function mountRoutes(parts: RouteParts): void {
  const { web, agent, threads, requests, intake, places, answers } = parts;

  const createAt = (door: Door) => async (context: Context) => {
    const user = web.user(context);
    applyLimit(await parts.chatLimit.take(user.id), context, { perRequests: true });
    const { body } = context.request as { readonly body?: unknown };
    const going = door.name === "open" ? await parts.goingOn(user.id, body) : { body, place: undefined };
    const request = BODIES[door.name].parse(going.body, parts.externalTools !== undefined);
    if (!request.settings.callersToolsWin) await refuseReserved(request.tools, parts.externalTools);
    if (request.ignored.length > 0) context.set("x-postern-ignored", ignoredHeader(request.ignored));
    const repeat = repeatKeyOf(context.get("idempotency-key"), body);
    const begun = await intake.take(user, request, repeat, going.place);
    context.state["turnBegan"] = true;
    const wanted = { door: door.name, model: request.model };
    if (request.stream) {
      context.respond = false;
      await answers.stream(begun, wanted, context.res);
    } else if (request.background) context.body = await show(begun.taken, door, request.model);
    else context.body = await answers.whole(begun, wanted);
  };

  async function find(context: Context): Promise<TakenRequest> {
    const id = parseResponseId(String(context["params"].id));
    const taken = id && (await requests.find(web.user(context).id, id.turn));
    if (taken === undefined || taken.thread !== id?.thread) throw notFound();
    return taken;
  }

  async function show(
    taken: TakenRequest,
    door: Door,
    model: string = PLACEHOLDER_MODEL,
  ): Promise<ResponseObject> {
    const response = await answers.current(taken, { door: door.name, model });
    if (response === undefined) throw notFound();
    return response;
  }

  const retrieveAt = (door: Door) => async (context: Context) => {
    const query = checkRetrieval({ ...context.query });
    const taken = await find(context);
    const response = await show(taken, door);
    if (query.stream !== "true") {
      context.body = response;
      return;
    }
    context.respond = false;
    const { turn } = await places.find(taken);
    const running = turn === undefined ? undefined : agent.running(taken.user, turn);
    const after = query.starting_after === undefined ? undefined : Number(query.starting_after);
    await answers.stream(
      { taken, running },
      { door: door.name, model: PLACEHOLDER_MODEL },
      context.res,
      after,
    );
  };

  const cancelAt = (door: Door) => async (context: Context) => {
    const taken = await find(context);
    if (await places.cancel(taken)) await answers.ended(taken);
    context.body = await show(taken, door);
  };

  /** The conversation goes with the last of its responses; until then the others build on it. */
  async function remove(context: Context): Promise<void> {
    const taken = await find(context);
    const { id, user } = taken;
    await places.cancel(taken);
    const { thread } = await places.find(taken);
    await places.forget(taken);
    await requests.remove(id);
    const isLast = (await requests.countOf(user, thread)) === 0;
    // Its tools and instructions are kept beside it.
    if (isLast) await requests.removeThread(user, thread);
    const isEmpty = isLast && (await threads.find(user, thread)) !== undefined;
    if (isEmpty && (await isOursAlone(threads, user, thread))) await threads.remove(user, thread);
    const deleted: Declared<typeof DeletedResponse> = {
      id: String(context["params"].id),
      object: "response",
      deleted: true,
    };
    context.body = deleted;
  }

  async function inputItems(context: Context): Promise<void> {
    const taken = await find(context);
    await show(taken, STRICT);
    context.body = listInput(await sentItems(taken, parts), context.query);
  }

  const endpointsOf = (door: Door): readonly Endpoint[] => [
    {
      method: "post",
      path: "/responses",
      summary: "Create a response; with `stream`, as server-sent events",
      body: BODIES[door.name].schema,
      ...ANSWERS[door.name],
      refusals: {
        403: "The token may not use the model",
        429: "Too many requests",
        ...(door.name === "open" && { 404: "There is no such response or conversation to go on from" }),
      },
      handle: createAt(door),
    },
    {
      method: "get",
      path: "/responses/{id}",
      summary: "Get a response; with `stream=true` its events, from the one after `starting_after` on",
      query: RetrievalQuery,
      ...ANSWERS[door.name],
      refusals: MISSING,
      handle: retrieveAt(door),
    },
    {
      method: "delete",
      path: "/responses/{id}",
      summary: "Delete a response; its thread goes with the last one",
      answer: DeletedResponse,
      refusals: MISSING,
      handle: remove,
    },
    {
      method: "post",
      path: "/responses/{id}/cancel",
      summary: "Cancel a response that is still running",
      answer: ANSWERS[door.name].answer,
      refusals: MISSING,
      handle: cancelAt(door),
    },
    {
      method: "get",
      path: "/responses/{id}/input_items",
      summary: "List the input items of a response",
      query: InputQuery,
      answer: InputList,
      refusals: MISSING,
      handle: inputItems,
    },
  ];
  for (const door of DOORS) mountEndpoints(parts, door.prefixes, endpointsOf(door));
  mountEndpoints(parts, STRICT.prefixes, [modelList(parts)]);
}

const MISSING = { 404: "There is no such response" };

/** False where people went on with the conversation on another channel. */
async function isOursAlone(threads: Services["threads"], user: string, thread: string): Promise<boolean> {
  for (let before: string | undefined; ; ) {
    const { items, next } = await threads.turns(user, thread, before === undefined ? {} : { before });
    if (items.some(({ channel }) => channel !== CHANNEL)) return false;
    if (next === undefined) return true;
    before = next;
  }
}

async function refuseReserved(
  tools: readonly WireTool[] | undefined,
  externalTools: Services["toolCalls"] | undefined,
): Promise<void> {
  if (!tools?.length || externalTools === undefined) return;
  for (const [index, { name }] of tools.entries()) {
    if (!(await externalTools.isReserved(name))) continue;
    throw invalid(
      `tools[${index}].name`,
      "reserved_tool_name",
      `"tools[${index}].name": "${name}" is already the name of one of the agent's tools. Rename your tool.`,
    );
  }
}

const notFound = () =>
  new Fault("missing", "response_not_found", "You have no response with this id.", { param: "response_id" });
