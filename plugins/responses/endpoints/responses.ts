/** The endpoints of responses, in both dialects. */
import type { TSchema } from "typebox";
import type { Asked } from "../../../kernel/kit/http.ts";
import { Type } from "../../../kernel/kit/schema.ts";
import { Fault, type Services, type User } from "../../../kernel/plugin.ts";
import { PLACEHOLDER_MODEL } from "../answer/response.ts";
import { ignoredHeader, OpenCreateBody, parseOpen } from "../parse/open.ts";
import type { CreateRequest } from "../parse/request.ts";
import { CreateBody, parseStrict } from "../parse/strict.ts";
import { sentItems } from "../resolve/history.ts";
import type { TakenRequest } from "../stored/requests.ts";
import { repeatKeyOf } from "../turn/intake.ts";
import { CHANNEL } from "../turn/turn.ts";
import type { Dialect } from "../wire/format.ts";
import { DeletedResponse, ResponseObject, SentEvent, StrictEvent, StrictResponse } from "../wire/format.ts";
import { parseResponseId } from "../wire/id.ts";
import { invalid } from "../wire/refusal.ts";
import {
  checkItemQuery,
  type Endpoint,
  type EndpointParts,
  endpoint,
  ItemQuery,
  OTHERS,
  refuseOthers,
  unparsed,
} from "./endpoint.ts";
import { InputList, listInput } from "./input-items.ts";

interface Form {
  readonly body: TSchema;
  parse(body: unknown, wired: boolean): CreateRequest;
  readonly answer: TSchema;
  readonly events: TSchema;
}

const FORMS: Readonly<Record<Dialect, Form>> = {
  strict: { body: CreateBody, parse: parseStrict, answer: StrictResponse, events: StrictEvent },
  open: { body: OpenCreateBody, parse: parseOpen, answer: ResponseObject, events: SentEvent },
};

const RetrievalQuery = Type.Object({
  stream: Type.Optional(Type.Enum(["true", "false"], { refusal: "must be true or false" })),
  starting_after: Type.Optional(
    Type.String({ pattern: "^\\d{1,9}$", refusal: "must be the sequence_number of an event" }),
  ),
});

const MISSING = { 404: "There is no such response" };

export function responseEndpoints(parts: EndpointParts, dialect: Dialect): readonly Endpoint[] {
  const { agent, threads, requests, locations, answers, toolCalls } = parts;
  const isOpen = dialect === "open";
  const { body: bodySchema, parse, answer, events } = FORMS[dialect];

  async function find({ user, params }: Asked & { readonly user: User }): Promise<TakenRequest> {
    const id = parseResponseId(String(params["id"]));
    const taken = id && (await requests.find(user.id, id.turn));
    if (taken === undefined || taken.thread !== id?.thread) throw notFound();
    const { thread } = await locations.find(taken);
    if (await threads.isBinned(user.id, thread)) throw notFound();
    return taken;
  }

  /** A conversation goes with its thread, so a token with a scope must have made it too. */
  async function mayRemove({ id, scope }: User, thread: string): Promise<boolean> {
    if (scope === undefined) return true;
    const named = await parts.conversations.ofThread(id, thread);
    return named.every(({ token }) => token === scope.token);
  }

  /** The names of the caller's tools that the thread of this request waits with. */
  async function waitingNames(user: string, thread: string | undefined): Promise<ReadonlySet<string>> {
    const gate = thread === undefined ? undefined : await toolCalls?.pending(user, thread);
    const waiting = gate && (await requests.find(user, gate.turn));
    return new Set(waiting?.echo.tools.map(({ name }) => name));
  }

  /** Refuses names of the agent's tools. A tool installed while the thread waited does not keep the caller from resuming. */
  async function checkNames(user: string, request: CreateRequest): Promise<CreateRequest> {
    const { settings, tools = [], previous } = request;
    if (settings.callersToolsWin) return request;
    const isReserved = await Promise.all(tools.map(({ name }) => toolCalls?.isReserved(name)));
    if (!isReserved.includes(true)) return request;
    const waiting = await waitingNames(user, previous?.thread);
    const index = tools.findIndex(({ name }, at) => isReserved[at] && !waiting.has(name));
    if (index === -1) return { ...request, settings: { ...settings, callersToolsWin: true } };
    const message = `"tools[${index}].name": "${tools[index]?.name}" is already the name of one of the agent's tools. Rename your tool.`;
    throw invalid(`tools[${index}].name`, "reserved_tool_name", message);
  }

  async function show(taken: TakenRequest, model = PLACEHOLDER_MODEL): Promise<ResponseObject> {
    const response = await answers.current(taken, { dialect, model });
    if (response === undefined) throw notFound();
    return response;
  }

  return [
    endpoint("post", "/responses", {
      summary: "Create a response; with `stream`, as server-sent events",
      limited: true,
      body: bodySchema,
      readBody: unparsed,
      answer,
      events,
      refusals: {
        403: "The token may not use the model",
        429: "Too many requests",
        ...(isOpen && { 404: "There is no such response or conversation to continue" }),
      },
      async handle({ user, body, context }) {
        const joined = isOpen ? await parts.joinConversation(user.id, body) : { body, place: undefined };
        const request = await checkNames(user.id, parse(joined.body, toolCalls !== undefined));
        if (request.ignored.length > 0) context.set("x-postern-ignored", ignoredHeader(request.ignored));
        const repeat = repeatKeyOf(context.get("idempotency-key"), body);
        const begun = await parts.intake.take(user, request, repeat, joined.place);
        context.state["turnBegan"] = true;
        const { model, stream, background } = request;
        if (!stream)
          return background ? await show(begun.taken, model) : await answers.whole(begun, { dialect, model });
        context.respond = false;
        return await answers.stream(begun, { dialect, model }, context.res);
      },
    }),
    endpoint("get", "/responses/{id}", {
      summary: "Get a response; with `stream=true` its events, from the one after `starting_after` on",
      query: RetrievalQuery,
      answer,
      events,
      refusals: MISSING,
      async handle(asked) {
        const { query, context } = asked;
        const taken = await find(asked);
        const response = await show(taken);
        if (query.stream !== "true") return response;
        context.respond = false;
        const { turn } = await locations.find(taken);
        const running = turn === undefined ? undefined : agent.running(taken.user, turn);
        const after = query.starting_after === undefined ? undefined : Number(query.starting_after);
        const rendering = { dialect, model: PLACEHOLDER_MODEL };
        return await answers.stream({ taken, running }, rendering, context.res, after);
      },
    }),
    endpoint("delete", "/responses/{id}", {
      summary: "Delete a response; its thread goes with the last one",
      answer: DeletedResponse,
      refusals: { ...MISSING, 403: OTHERS },
      async handle(asked) {
        const taken = await find(asked);
        refuseOthers(asked.user, taken);
        const { id, user } = taken;
        await locations.cancel(taken);
        const { thread } = await locations.find(taken);
        await locations.forget(taken);
        await requests.remove(id);
        // The thread goes with its last response; until then the others build on it.
        if ((await requests.countOf(user, thread)) === 0 && (await mayRemove(asked.user, thread))) {
          await requests.removeThread(user, thread);
          const isThere = (await threads.find(user, thread)) !== undefined;
          if (isThere && (await isOursAlone(threads, user, thread))) await threads.remove(user, thread);
        }
        return { id: String(asked.params["id"]), object: "response", deleted: true } as const;
      },
    }),
    endpoint("post", "/responses/{id}/cancel", {
      summary: "Cancel a response that is still running",
      answer,
      refusals: MISSING,
      async handle(asked) {
        const taken = await find(asked);
        if (await locations.cancel(taken)) await answers.ended(taken);
        return await show(taken);
      },
    }),
    endpoint("get", "/responses/{id}/input_items", {
      summary: "List the input items of a response",
      query: ItemQuery,
      readQuery: unparsed,
      answer: InputList,
      refusals: MISSING,
      async handle(asked) {
        const taken = await find(asked);
        await show(taken);
        return listInput(await sentItems(taken, parts), checkItemQuery({ ...asked.context.query }));
      },
    }),
  ];
}

/** False when people continued the conversation on another channel. */
async function isOursAlone(threads: Services["threads"], user: string, thread: string): Promise<boolean> {
  for (let before: string | undefined; ; ) {
    const { items, next } = await threads.turns(user, thread, { before });
    if (items.some(({ channel }) => channel !== CHANNEL)) return false;
    if (next === undefined) return true;
    before = next;
  }
}

const notFound = () =>
  new Fault("missing", "response_not_found", "You have no response with this id.", { param: "response_id" });
