/** What other plugins add: answered by them, and otherwise like what is ours. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  isInputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerCapabilities,
  type ServerContext,
  UriTemplate,
} from "@modelcontextprotocol/server";
import {
  type Caller,
  Fault,
  type McpOffer,
  type McpOffers,
  type McpRequest,
  type McpWords,
} from "../../../kernel/plugin.ts";
import type { States } from "../asking/states.ts";
import { codeOf, type Guarded } from "../guard.ts";
import { asObject, assertKnowsTasks } from "../tasks/wire.ts";

export interface OfferParts {
  readonly server: Server;
  readonly caller: Caller;
  readonly states: States;
  readonly offers: McpOffers | undefined;
}

type Handle = (request: { readonly params?: McpWords }, context: ServerContext) => Promise<McpWords>;
type Wrap = (handler: Handle) => Handle;

const NONE: McpOffers = {};

export function offerCapabilities(offers: McpOffers | undefined): ServerCapabilities {
  return offers === undefined ? {} : { logging: {}, completions: {} };
}

/** The same, with the offers in every list, and answered by their plugin. */
export function withOffers(guarded: Guarded, parts: OfferParts): Guarded {
  if (parts.offers === undefined) return guarded;
  const { tools = [], prompts = [], resources = [], resourceTemplates = [] } = offered(parts);
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
    // Nobody says when one changes.
    "resources/subscribe": acknowledged(resourceAt),
    "resources/unsubscribe": acknowledged(resourceAt),
  };
  guarded.handle("completion/complete", async ({ params: { ref, argument } }) => {
    const offer =
      ref.type === "ref/prompt"
        ? named(prompts, "name", ref.name)
        : named(resourceTemplates, "uriTemplate", ref.uri);
    const values = (await offer?.complete?.(argument.name, argument.value)) ?? [];
    return { completion: { values: values.slice(0, MOST_VALUES), total: values.length } };
  });
  return {
    ...guarded,
    handle(method, handler) {
      const wrap = wraps[method];
      const wrapped = wrap ? wrap(handler as unknown as Handle) : handler;
      guarded.handle(method, wrapped as unknown as typeof handler);
    },
  };
}

/** As many as the protocol allows in one answer. */
const MOST_VALUES = 100;

/** Those that the caller may use. */
function offered({ offers = NONE, caller }: OfferParts): McpOffers {
  const allowed = caller.scope?.tools;
  if (allowed === undefined) return offers;
  return {
    tools: (offers.tools ?? []).filter(({ definition }) => allowed.includes(String(definition["name"]))),
  };
}

function named(offers: readonly McpOffer[], key: string, value: unknown): McpOffer | undefined {
  return offers.find(({ definition }) => definition[key] === value);
}

/** On the first page, before the others; one of ours with the same name or address is left out. */
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

/** Now, not in the end: a task that fails is told in the protocol's codes too. */
async function answer(offer: McpOffer, params: McpWords, request: McpRequest): Promise<McpWords> {
  try {
    return await offer.answer(params, request);
  } catch (error) {
    throw error instanceof Fault ? new ProtocolError(codeOf(error), error.message) : error;
  }
}

/** A tool may say that it takes too long for anything but a task. */
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
    const { signal, envelope, inputResponses, _meta, notify, log } = context.mcpReq;
    const waiting = states.read(name, given, context)?.waiting;
    if (waiting !== undefined && waiting.for !== "offer")
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, "This requestState belongs to another call.");
    const declared = (envelope as McpWords | undefined)?.[CLIENT_CAPABILITIES_META_KEY];
    const progressToken = _meta?.progressToken;
    return {
      caller,
      signal,
      capabilities: (declared ?? server.getClientCapabilities() ?? {}) as McpWords,
      ...(inputResponses !== undefined && { inputResponses }),
      ...(waiting !== undefined && { requestState: waiting.state }),
      async progress(progress, total) {
        if (progressToken === undefined) return;
        const params = { progressToken, progress, ...(total !== undefined && { total }) };
        await notify({ method: "notifications/progress", params });
      },
      log: (level, text) => log(level, text),
    };
  }
}
