/** Sessions of 2025-11-25. An id says how its session began, sealed for the caller, so any node can continue it. */
import {
  type InitializeRequest,
  type JSONRPCMessage,
  type Server,
  WebStandardStreamableHTTPServerTransport as SessionTransport,
} from "@modelcontextprotocol/server";
import { seal, unseal } from "../../../kernel/kit/secrets.ts";
import type { Caller } from "../../agent/services.ts";
import type { Store } from "../../store/services.ts";
import type { Servers } from "../server/server.ts";

type Opening = InitializeRequest["params"];

export interface Session {
  readonly id: string;
  readonly caller: Caller;
  readonly transport: SessionTransport;
  readonly server: Server;
  holds: number;
  usedAt: number;
  /** Keeps the session while something of it is open. Returns a function that lets go. */
  hold(): () => void;
}

const MAX_PER_USER = 16;
const MAX_SESSIONS = 500;
const IDLE_MS = 30 * 60_000;
const SWEEP_MS = 60_000;
const MAX_ENDED_IDS = 10_000;
const MAX_AGE_MS = 7 * 86_400_000;
const MAX_NAME_LENGTH = 60;

type Initialize = (transport: SessionTransport) => Promise<void>;

export async function createSessions(servers: Servers, store: Store) {
  const ids = await createSessionIds(store);
  const sessions = new Map<string, Promise<Session>>();
  const held = new Map<string, Session>();
  // Ids of ended sessions, which must not open again.
  const ended = new Set<string>();

  const sweep = setInterval(() => {
    for (const { id, holds, usedAt } of [...held.values()])
      if (holds === 0 && Date.now() - usedAt > IDLE_MS) void drop(id);
  }, SWEEP_MS).unref();

  async function drop(id: string): Promise<void> {
    const session = held.get(id);
    held.delete(id);
    sessions.delete(id);
    await session?.server.close();
  }

  /** Drops the idle session that was used least recently: it begins again when it is used. */
  async function makeRoom(user: string): Promise<boolean> {
    const own = [...held.values()].filter(({ caller }) => caller.user === user);
    const crowd = own.length >= MAX_PER_USER ? own : held.size >= MAX_SESSIONS ? [...held.values()] : [];
    if (crowd.length === 0) return true;
    const [oldest] = crowd.filter(({ holds }) => holds === 0).sort((one, other) => one.usedAt - other.usedAt);
    if (oldest) await drop(oldest.id);
    return oldest !== undefined;
  }

  async function begin(caller: Caller, id: string, initialize: Initialize): Promise<Session> {
    const server = servers.create(caller, "legacy");
    const transport = new SessionTransport({ sessionIdGenerator: () => id });
    await server.connect(transport);
    // Several nodes may ask in one session at a time, and their questions must not have the same id.
    const { onmessage } = transport;
    const send = transport.send.bind(transport);
    transport.onmessage = (message, extra) => onmessage?.(unmarked(message, store.node.id), extra);
    transport.send = (message, options) => send(marked(message, store.node.id), options);
    await initialize(transport);
    const session: Session = {
      id,
      caller,
      transport,
      server,
      holds: 0,
      usedAt: Date.now(),
      hold() {
        session.holds += 1;
        let isHeld = true;
        return () => {
          if (isHeld) session.holds -= 1;
          isHeld = false;
          session.usedAt = Date.now();
        };
      },
    };
    held.set(id, session);
    return session;
  }

  const beginOnce = (caller: Caller, id: string, initialize: Initialize): Promise<Session> => {
    const begun = begin(caller, id, initialize);
    sessions.set(id, begun);
    begun.catch(() => sessions.delete(id));
    return begun;
  };

  return {
    /** Begins a session and returns the response; undefined if the caller has too many busy ones. */
    async open(caller: Caller, opening: Opening, request: Request): Promise<Response | undefined> {
      if (!(await makeRoom(caller.user))) return undefined;
      const id = ids.create(caller, opening);
      let answer: Response | undefined;
      await beginOnce(caller, id, async (transport) => {
        answer = await transport.handleRequest(request);
      });
      if (!answer?.ok) await drop(id);
      return answer;
    },
    /** True for a session of this caller that has not ended. */
    isOwn: (caller: Caller, id: string): boolean => !ended.has(id) && ids.read(caller, id) !== undefined,
    /** Finds the caller's session, and begins it again if another node or an earlier start began it. Undefined as above. */
    async find(caller: Caller, id: string): Promise<Session | undefined> {
      const opening = ids.read(caller, id);
      if (opening === undefined) throw new Error("the session is not the caller's");
      const known = await sessions.get(id);
      const scopeOf = (one: Caller) => JSON.stringify(one.scope);
      if (known !== undefined && scopeOf(known.caller) === scopeOf(caller)) return known;
      // The token's scope was changed: what the session may do changes with it.
      if (known !== undefined) await drop(id);
      if (!(await makeRoom(caller.user))) return undefined;
      // Another request of the session may have been here in the meantime.
      const begun = sessions.get(id);
      if (begun !== undefined) return begun;
      return beginOnce(caller, id, async (transport) => {
        await (await transport.handleRequest(initializeRequest(opening))).text();
      });
    },
    /** Hands a message that another node received to the session, if it is here. */
    deliver(id: string, message: JSONRPCMessage): void {
      held.get(id)?.transport.onmessage?.(message);
    },
    async end(id: string): Promise<void> {
      ended.add(id);
      const [oldest] = ended;
      if (ended.size > MAX_ENDED_IDS && oldest !== undefined) ended.delete(oldest);
      await drop(id);
    },
    async close(): Promise<void> {
      clearInterval(sweep);
      await Promise.all([...held.keys()].map(drop));
    },
  };
}

/** Repeats the client's request, for a transport that has not seen it. */
function initializeRequest(params: Opening): Request {
  return new Request("http://localhost/", {
    method: "POST",
    headers: { accept: "application/json, text/event-stream", "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: "initialize", method: "initialize", params }),
  });
}

async function createSessionIds(store: Store) {
  const key = await store.keysFor("mcp sessions");
  // A token with a scope has its own sessions: what a session may do must not depend on who began it.
  const nameOf = ({ user, scope }: Caller) => `mcp session of ${user}\0${scope?.token ?? ""}`;
  return {
    create: (caller: Caller, opening: Opening): string =>
      seal(key, nameOf(caller), JSON.stringify({ at: Date.now(), opening: shorten(opening) })),
    /** Returns how this caller's session began; undefined if it is not theirs, or too old. */
    read(caller: Caller, id: string): Opening | undefined {
      try {
        const { at, opening } = JSON.parse(unseal(key, nameOf(caller), id));
        return Date.now() - at < MAX_AGE_MS ? opening : undefined;
      } catch {
        return undefined;
      }
    },
  };
}

/** Keeps only what matters later, since the id travels with every request. */
function shorten({ protocolVersion, capabilities, clientInfo }: Opening): Opening {
  const { form, url } = capabilities.elicitation ?? {};
  const elicitation = { ...(form && { form: {} }), ...(url && { url: {} }) };
  return {
    protocolVersion: protocolVersion.slice(0, MAX_NAME_LENGTH),
    capabilities: capabilities.elicitation ? { elicitation } : {},
    clientInfo: {
      name: clientInfo.name.slice(0, MAX_NAME_LENGTH),
      version: clientInfo.version.slice(0, MAX_NAME_LENGTH),
    },
  };
}

/** Adds the node's name to the ids of requests to the client: the answer may be posted to any node, and belongs to this one. */
function marked(message: JSONRPCMessage, node: string): JSONRPCMessage {
  if (!("method" in message)) return message;
  if ("id" in message) return { ...message, id: `${node}/${message.id}` };
  // A cancellation names the request by the id that the client knows.
  const requestId = message.method === "notifications/cancelled" ? message.params?.["requestId"] : undefined;
  if (requestId === undefined) return message;
  return { ...message, params: { ...message.params, requestId: `${node}/${String(requestId)}` } };
}

/** Restores the id of an answer to this node. */
function unmarked(message: JSONRPCMessage, node: string): JSONRPCMessage {
  if (nodeIn(message) !== node || "method" in message) return message;
  return { ...message, id: Number(String(message.id).slice(node.length + 1)) };
}

/** Returns the node whose question this answers; undefined if it answers none. */
export function nodeIn(message: unknown): string | undefined {
  if (typeof message !== "object" || message === null || "method" in message || !("id" in message))
    return undefined;
  const { id } = message;
  return typeof id === "string" && id.includes("/") ? id.slice(0, id.lastIndexOf("/")) : undefined;
}
