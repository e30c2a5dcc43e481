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
import { parseJson } from "../../../kernel/kit.ts";
import type { Caller, Log, Store, User } from "../../../kernel/plugin.ts";
import type { Change } from "../lists/changes.ts";
import { CHANNEL } from "../parts.ts";
import type { Servers } from "../server.ts";
import { createLegacy, type Visit } from "./legacy.ts";
import { refusal } from "./refusal.ts";

export interface Endpoint {
  handle(request: IncomingMessage, response: ServerResponse, user: User): Promise<void>;
  /** Waits for calls that go on without their request. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

export interface EndpointParts {
  readonly servers: Servers;
  readonly store: Store;
  readonly log: Log;
}

const MOST_BYTES = 4 * 1024 * 1024;
/** Requests of one user at a time, with the streams that they hold open. */
const MOST_OPEN = 100;

export async function createEndpoint({ servers, store, log }: EndpointParts): Promise<Endpoint> {
  const onerror = (error: Error) => log.debug({ error }, "an MCP request was refused");
  const factory: McpServerFactory = ({ authInfo, era }) => {
    const caller = authInfo?.extra?.["caller"];
    if (caller === undefined) throw new Error("an MCP request came without a caller");
    return servers.create(caller as Caller, era);
  };
  const authOf = (caller: Caller) => ({ token: "", clientId: caller.user, scopes: [], extra: { caller } });
  // Who listens: the bus is asked within the request that opens the stream.
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
      const caller: Caller = { user: id, channel: CHANNEL, ...(scope && { scope }) };
      const count = [...open.values()].filter((user) => user === id).length;
      open.set(response, id);
      response.once("close", () => open.delete(response));
      const onEnd = (listener: () => void) => void response.once("close", listener);
      const heard = listenIn(request);
      const fetch = (given: Request) =>
        count < MOST_OPEN
          ? route(given, { caller, body: heard.body(), onEnd })
          : Promise.resolve(refusal(429, `You have ${MOST_OPEN} open requests. End one first.`));
      const serve = toNodeHandler({ fetch }, { onerror, maxRequestBodySize: MOST_BYTES });
      await serve(heard.request, response);
    },
    drain: servers.drain,
    async close() {
      // Cut, not ended: a client would take the end of a stream for a pause and wait for its answer.
      for (const response of open.keys()) response.destroy();
      await Promise.all([modern.close(), legacy.close()]);
      await servers.close();
    },
  };
}

/** The same request, whose text is kept as it is read: reading it from a copy afterwards costs as much as the call. */
function listenIn(request: IncomingMessage) {
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
  const tapped = { method, url, headers, [Symbol.asyncIterator]: chunks } as NodeIncomingMessageLike;
  return {
    request: tapped,
    /** Undefined where it is no JSON: the SDK says so in the protocol's words. */
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
