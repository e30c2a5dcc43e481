/** Tools, prompts and resources of other plugins, listed with ours and served by those plugins. */

import {
  isInputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type ServerCapabilities,
  type ServerContext,
  UriTemplate,
} from "@modelcontextprotocol/server";
import { Fault } from "../../../kernel/plugin.ts";
import type { Caller } from "../../agent/services.ts";
import { OTHER_CALL } from "../elicitation/request-state.ts";
import { asObject, assertKnowsTasks, capabilitiesOf } from "../protocol/client.ts";
import { errorCodeOf, type Handlers } from "../protocol/handlers.ts";
import type { McpOffer, McpOffers, McpRequest, McpWords } from "../services.ts";
import type { CallParts } from "./tool-call.ts";

type OfferParts = Pick<CallParts, "server" | "caller" | "states" | "mcpOffers">;

type Handle = (request: { readonly params?: McpWords }, context: ServerContext) => Promise<McpWords>;
type Wrap = (handler: Handle) => Handle;

export function offerCapabilities(offers: McpOffers | undefined): ServerCapabilities {
  return offers === undefined ? {} : { logging: {}, completions: {} };
}

/** Returns handlers that add the offers to every list and let their plugin serve them. */
export function withOffers(handlers: Handlers, parts: OfferParts): Handlers {
  if (parts.mcpOffers === undefined) return handlers;
  const {
    tools = [],
    prompts = [],
    resources = [],
    resourceTemplates = [],
  } = offersFor(parts.caller, parts.mcpOffers);
  const answering = answerWith(parts);
  const uris = resourceTemplates.map((offer) => ({
    offer,
    template: new UriTemplate(String(offer.definition["uriTemplate"])),
  }));
  const resourceAt = (uri: unknown) =>
    named(resources, "uri", uri) ?? uris.find(({ template }) => template.match(String(uri)) !== null)?.offer;
  const wraps: Readonly<Record<string, Wrap>> = {
    "tools/list": listed("tools", tools),
    "prompts/list": listed("prompts", prompts),
    "resources/list": listed("resources", resources),
    "resources/templates/list": listed("resourceTemplates", resourceTemplates),
    "tools/call": answering(({ name }) => named(tools, "name", name)),
    "prompts/get": answering(({ name }) => named(prompts, "name", name)),
    "resources/read": answering(({ uri }) => resourceAt(uri)),
    // Plugins do not report changes, so there is nothing to subscribe to.
    "resources/subscribe": acknowledged(resourceAt),
    "resources/unsubscribe": acknowledged(resourceAt),
  };
  handlers.handle("completion/complete", async ({ params: { ref, argument } }) => {
    const offer =
      ref.type === "ref/prompt"
        ? named(prompts, "name", ref.name)
        : named(resourceTemplates, "uriTemplate", ref.uri);
    const values = (await offer?.complete?.(argument.name, argument.value)) ?? [];
    return { completion: { values: values.slice(0, MAX_COMPLETIONS), total: values.length } };
  });
  return {
    ...handlers,
    handle(method, handler) {
      const wrap = wraps[method];
      const wrapped = wrap ? wrap(handler as unknown as Handle) : handler;
      handlers.handle(method, wrapped as unknown as typeof handler);
    },
  };
}

/** The protocol allows no more in one result. */
const MAX_COMPLETIONS = 100;

function offersFor({ scope }: Caller, offers: McpOffers): McpOffers {
  const allowed = scope?.tools;
  if (allowed === undefined) return offers;
  return {
    tools: (offers.tools ?? []).filter(({ definition }) => allowed.includes(String(definition["name"]))),
  };
}

function named(offers: readonly McpOffer[], key: string, value: unknown): McpOffer | undefined {
  return offers.find(({ definition }) => definition[key] === value);
}

/** Puts the offers on the first page, before ours; one of ours with the same name or URI is left out. */
function listed(key: string, offers: readonly McpOffer[]): Wrap {
  const definitions = offers.map(({ definition }) => definition);
  const identify = (entry: McpWords) => entry["uriTemplate"] ?? entry["uri"] ?? entry["name"];
  const taken = new Set(definitions.map(identify));
  return (handler) => async (request, context) => {
    const result = await handler(request, context);
    const ours = (result[key] as readonly McpWords[]).filter((entry) => !taken.has(identify(entry)));
    const theirs = request.params?.["cursor"] === undefined ? definitions : [];
    return { ...result, [key]: [...theirs, ...ours] };
  };
}

function acknowledged(find: (uri: unknown) => McpOffer | undefined): Wrap {
  return (handler) => async (request, context) =>
    find(request.params?.["uri"]) === undefined ? handler(request, context) : {};
}

/** Turns faults into the protocol's codes here already, for a call that fails as a task. */
async function answer(offer: McpOffer, params: McpWords, request: McpRequest): Promise<McpWords> {
  try {
    return await offer.answer(params, request);
  } catch (error) {
    throw error instanceof Fault ? new ProtocolError(errorCodeOf(error), error.message) : error;
  }
}

/** A tool may declare that it can only be called as a task. */
function assertTask({ definition }: McpOffer, params: McpWords, context: ServerContext): void {
  if (asObject(definition["execution"])["taskSupport"] !== "required") return;
  if (context.mcpReq.envelope !== undefined) assertKnowsTasks(context);
  else if (params["task"] === undefined)
    throw new ProtocolError(ProtocolErrorCode.MethodNotFound, "This tool can only be called as a task.");
}

function answerWith({ server, caller, states }: OfferParts) {
  return (find: (params: McpWords) => McpOffer | undefined): Wrap =>
    (handler) =>
    async (request, context) => {
      const params = request.params ?? {};
      const offer = find(params);
      if (offer === undefined) return handler(request, context);
      assertTask(offer, params, context);
      const name = String(params["name"] ?? params["uri"]);
      const given = JSON.stringify(params["arguments"] ?? {});
      const result = await answer(offer, params, requestOf(context, name, given));
      if (!isInputRequiredResult(result)) return result;
      const { requestState: state, ...asked } = result as McpWords;
      if (state === undefined) return asked;
      return { ...asked, requestState: await states.mint({ for: "offer", state }, name, given, context) };
    };

  function requestOf(context: ServerContext, name: string, given: string): McpRequest {
    const { signal, inputResponses, _meta, notify, log } = context.mcpReq;
    const waiting = states.read(name, given, context)?.waiting;
    if (waiting !== undefined && waiting.for !== "offer")
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, OTHER_CALL);
    const progressToken = _meta?.progressToken;
    return {
      caller,
      signal,
      capabilities: capabilitiesOf(server, context) as McpWords,
      inputResponses,
      requestState: waiting?.state,
      async progress(progress, total) {
        if (progressToken === undefined) return;
        await notify({ method: "notifications/progress", params: { progressToken, progress, total } });
      },
      log: (level, text) => log(level, text),
    };
  }
}
