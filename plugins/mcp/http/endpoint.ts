/** Requests on the gateway: 2026-07-28 without sessions, 2025-11-25 as its clients expect it. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type NodeIncomingMessageLike, toNodeHandler } from "@modelcontextprotocol/node";
import {
  createMcpHandler,
  isLegacyRequest,
  type McpServerFactory,
  type ServerEvent,
  type ServerEventBus,
} from "@modelcontextprotocol/server";
import { type Caller, parseJson } from "../../../kernel/kit.ts";
import type { Log, Store, User } from "../../../kernel/plugin.ts";
import { CHANNEL } from "../parts.ts";
import type { Change } from "../server/list-changes.ts";
import type { Servers } from "../server/server.ts";
import { createLegacy, refusal, type Visit } from "./legacy.ts";

export interface Endpoint {
  handle(request: IncomingMessage, response: ServerResponse, user: User): Promise<void>;
  /** Waits for calls that outlive their request. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

export interface EndpointParts {
  readonly servers: Servers;
  readonly store: Store;
  readonly log: Log;
}

const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** For one user, including open streams. */
const MAX_OPEN_REQUESTS = 100;

export async function createEndpoint({ servers, store, log }: EndpointParts): Promise<Endpoint> {
  const onerror = (error: Error) => log.debug({ error }, "an MCP request was refused");
  const factory: McpServerFactory = ({ authInfo, era }) => {
    const caller = authInfo?.extra?.["caller"];
    if (caller === undefined) throw new Error("an MCP request came without a caller");
    return servers.create(caller as Caller, era);
  };
  const authOf = (caller: Caller) => ({ token: "", clientId: caller.user, scopes: [], extra: { caller } });
  // The SDK subscribes to the bus within the request that opens the stream, which says who listens.
  const listening = new AsyncLocalStorage<Caller>();
  const bus: ServerEventBus = {
    publish: () => {},
    subscribe(listener) {
      const caller = listening.getStore();
      return caller ? servers.changes.follow(caller, (change) => listener(eventOf(change))) : () => {};
    },
  };
  const modern = createMcpHandler(factory, { legacy: "reject", bus, onerror });
  const legacy = await createLegacy({ servers, store, log, factory, authOf });
  const open = new Map<ServerResponse, string>();

  const route = async (request: Request, { caller, body, onEnd }: Visit): Promise<Response> => {
    if (await isLegacyRequest(request, body)) return legacy.serve(request, { caller, body, onEnd });
    return listening.run(caller, () => modern.fetch(request, { authInfo: authOf(caller), parsedBody: body }));
  };

  return {
    async handle(request, response, { id, scope }) {
      const caller: Caller = { user: id, channel: CHANNEL, scope };
      const count = [...open.values()].filter((user) => user === id).length;
      open.set(response, id);
      response.once("close", () => open.delete(response));
      const onEnd = (listener: () => void) => void response.once("close", listener);
      const tapped = tapBody(request);
      const fetch = (given: Request) =>
        count < MAX_OPEN_REQUESTS
          ? route(given, { caller, body: tapped.body(), onEnd })
          : Promise.resolve(refusal(429, `You have ${MAX_OPEN_REQUESTS} open requests. End one first.`));
      const serve = toNodeHandler({ fetch }, { onerror, maxRequestBodySize: MAX_BODY_BYTES });
      await serve(tapped.request, response);
    },
    drain: servers.drain,
    async close() {
      // Cut, not ended: a client would take the end of a stream for a pause and wait for its result.
      for (const response of open.keys()) response.destroy();
      await Promise.all([modern.close(), legacy.close()]);
      await servers.close();
    },
  };
}

/** Keeps the text of a request as it is read: reading it from a copy afterwards costs as much as the call. */
function tapBody(request: IncomingMessage) {
  const decoder = new TextDecoder();
  let text = "";
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for await (const chunk of request) {
      text += decoder.decode(chunk, { stream: true });
      yield chunk;
    }
    text += decoder.decode();
  }
  const { method, url, headers } = request;
  const copy = { method, url, headers, [Symbol.asyncIterator]: chunks } as NodeIncomingMessageLike;
  return {
    request: copy,
    /** Undefined if it is not JSON: then the SDK responds with the protocol's error. */
    body(): unknown {
      try {
        return text === "" ? undefined : parseJson(text);
      } catch {
        return undefined;
      }
    },
  };
}

function eventOf(change: Change): ServerEvent {
  return change.kind === "resource"
    ? { kind: "resource_updated", uri: change.uri }
    : { kind: `${change.kind}_list_changed` };
}
