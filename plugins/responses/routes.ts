/** The endpoints, under the prefix of the version and under the one that older clients are pinned to. */
import type { Context, Middleware } from "koa";
import { applyLimit } from "../../kernel/net/rate-limit.ts";
import type { Agent, ExternalTools, Limiter, Log, Threads, Web } from "../../kernel/plugin.ts";
import { Fault } from "../../kernel/plugin.ts";
import type { Answers } from "./answer/answer.ts";
import { parseResponseId } from "./answer/id.ts";
import { PLACEHOLDER_MODEL } from "./answer/response.ts";
import type { ResponseObject, WireTool } from "./answer/wire.ts";
import { listInput } from "./intake/input-items.ts";
import { CHANNEL, type Intake, repeatKeyOf } from "./intake/intake.ts";
import { parseRequest } from "./intake/request.ts";
import type { Requests, TakenRequest } from "./intake/requests.ts";
import { invalid, refusalOf } from "./refusal.ts";

const PREFIXES = ["/api/v1", "/v1"];

export interface RouteParts {
  readonly web: Web;
  readonly agent: Agent;
  readonly threads: Threads;
  readonly requests: Requests;
  readonly chatLimit: Limiter;
  /** Absent in a composition that cannot pause a turn for the caller's own tools. */
  readonly externalTools: ExternalTools | undefined;
  readonly intake: Intake;
  readonly answers: Answers;
  readonly startedAt: Date;
  readonly log: Log;
}

export function mountRoutes(parts: RouteParts): void {
  const { web, agent, threads, requests, intake, answers } = parts;
  const guard = answerFaults(parts.log);

  async function create(context: Context): Promise<void> {
    const user = web.user(context).id;
    applyLimit(await parts.chatLimit.take(user), context, { perRequests: true });
    const { body } = context.request as { readonly body?: unknown };
    const request = parseRequest(body, parts.externalTools !== undefined);
    await refuseReserved(request.tools, parts.externalTools);
    const begun = await intake.take(user, request, repeatKeyOf(context.get("idempotency-key"), body));
    context.state["turnBegan"] = true;
    if (request.stream) {
      context.respond = false;
      await answers.stream(begun, request.model, context.res);
    } else context.body = await answers.whole(begun, request.model);
  }

  function find(context: Context): TakenRequest {
    const id = parseResponseId(String(context["params"].id));
    const taken = id && requests.find(web.user(context).id, id.turn);
    if (taken === undefined || taken.thread !== id?.thread) throw notFound();
    return taken;
  }

  function show(taken: TakenRequest): ResponseObject {
    const response = answers.current(taken, PLACEHOLDER_MODEL);
    if (response === undefined) throw notFound();
    return response;
  }

  function retrieve(context: Context): void {
    context.body = show(find(context));
  }

  async function cancel(context: Context): Promise<void> {
    const taken = find(context);
    if (agent.cancel(taken.user, taken.id)) await intake.running(taken.id)?.record;
    context.body = show(taken);
  }

  /** The conversation goes with the last of its responses; until then the others build on it. */
  function remove(context: Context): void {
    const { id, user, thread } = find(context);
    agent.cancel(user, id);
    requests.remove(id);
    const isEmpty = requests.countOf(user, thread) === 0 && threads.find(user, thread) !== undefined;
    if (isEmpty && isOursAlone(threads, user, thread)) threads.remove(user, thread);
    context.body = { id: context["params"].id, object: "response", deleted: true };
  }

  function inputItems(context: Context): void {
    const taken = find(context);
    show(taken);
    context.body = listInput(taken, context.query);
  }

  function models(context: Context): void {
    const created = Math.floor(parts.startedAt.getTime() / 1000);
    const ids = new Set([PLACEHOLDER_MODEL, agent.model().name]);
    context.body = {
      object: "list",
      data: [...ids].map((id) => ({ id, object: "model", created, owned_by: "postern" })),
    };
  }

  for (const prefix of PREFIXES) {
    web.router
      .post(`${prefix}/responses`, guard, create)
      .get(`${prefix}/responses/:id`, guard, retrieve)
      .delete(`${prefix}/responses/:id`, guard, remove)
      .post(`${prefix}/responses/:id/cancel`, guard, cancel)
      .get(`${prefix}/responses/:id/input_items`, guard, inputItems)
      .get(`${prefix}/models`, guard, models);
  }
}

/** False where people went on with the conversation on another channel. */
function isOursAlone(threads: Threads, user: string, thread: string): boolean {
  for (let before: string | undefined; ; ) {
    const { items, next } = threads.turns(user, thread, before === undefined ? {} : { before });
    if (items.some(({ channel }) => channel !== CHANNEL)) return false;
    if (next === undefined) return true;
    before = next;
  }
}

function answerFaults(log: Log): Middleware {
  return async (context, next) => {
    try {
      await next();
    } catch (error) {
      const { status, headers, body } = refusalOf(error, context.state["turnBegan"] === true);
      if (status >= 500) log.error({ error, request: context.state["requestId"] }, body.error.message);
      context.status = status;
      context.set(headers);
      context.body = body;
    }
  };
}

async function refuseReserved(
  tools: readonly WireTool[] | undefined,
  externalTools: ExternalTools | undefined,
): Promise<void> {
  if (!tools?.length || externalTools === undefined) return;
  for (const [index, { name }] of tools.entries()) {
    if (!(await externalTools.isReserved(name))) continue;
    throw invalid(
      `tools[${index}].name`,
      "reserved_tool_name",
      `"tools[${index}].name": "${name}" is the name of an action the agent has already. Rename your tool.`,
    );
  }
}

const notFound = () =>
  new Fault("missing", "response_not_found", "You have no response with this id.", { param: "response_id" });
