/** Sessions of 2025-11-25: a server can ask its client something only while it has one. */
import {
  type JSONRPCMessage,
  type Server,
  WebStandardStreamableHTTPServerTransport as SessionTransport,
} from "@modelcontextprotocol/server";
import type { Caller, Store } from "../../../kernel/plugin.ts";
import type { Servers } from "../server.ts";
import { marked, unmarked } from "./request-ids.ts";
import type { Opening, SessionIds } from "./session-ids.ts";

export interface Session {
  readonly id: string;
  readonly transport: SessionTransport;
  readonly server: Server;
  /** While something of it is open it does not end. Answers how to let go. */
  hold(): () => void;
}

export interface Sessions {
  /** Begins one and answers the request for it; undefined where the caller has too many that are busy. */
  open(caller: Caller, opening: Opening, request: Request): Promise<Response | undefined>;
  /** Whether it is a session of this caller's that has not ended. */
  isOwn(caller: Caller, id: string): boolean;
  /** The caller's session: begun again here where another node began it, or an earlier start of this one. Undefined as above. */
  find(caller: Caller, id: string): Promise<Session | undefined>;
  /** For what another node was sent: hands it to the session if it is here. */
  deliver(id: string, message: JSONRPCMessage): void;
  end(id: string): Promise<void>;
  close(): Promise<void>;
}

export interface SessionLimits {
  readonly perUser: number;
  readonly inAll: number;
  readonly idleMillis: number;
}

const LIMITS: SessionLimits = { perUser: 16, inAll: 500, idleMillis: 30 * 60_000 };
const SWEEP_MILLIS = 60_000;
const MOST_ENDED = 10_000;

type Greet = (transport: SessionTransport) => Promise<void>;

interface Held extends Session {
  readonly caller: Caller;
  holds: number;
  usedAt: number;
}

export function createSessions(
  { servers, ids, store }: { readonly servers: Servers; readonly ids: SessionIds; readonly store: Store },
  limits = LIMITS,
): Sessions {
  const sessions = new Map<string, Promise<Held>>();
  const held = new Map<string, Held>();
  // An id that was ended does not open again, as long as it is remembered.
  const ended = new Set<string>();

  const sweep = setInterval(() => {
    const idle = [...held.values()].filter(
      ({ holds, usedAt }) => holds === 0 && Date.now() - usedAt > limits.idleMillis,
    );
    for (const { id } of idle) void drop(id);
  }, SWEEP_MILLIS);
  sweep.unref();

  async function drop(id: string): Promise<void> {
    const session = held.get(id);
    held.delete(id);
    sessions.delete(id);
    await session?.server.close();
  }

  /** Those that nothing is open of give way: they begin again when they are used. */
  async function makeRoom(user: string): Promise<boolean> {
    const own = [...held.values()].filter(({ caller }) => caller.user === user);
    const crowd = own.length >= limits.perUser ? own : held.size >= limits.inAll ? [...held.values()] : [];
    if (crowd.length === 0) return true;
    const [oldest] = crowd.filter(({ holds }) => holds === 0).sort((one, other) => one.usedAt - other.usedAt);
    if (oldest) await drop(oldest.id);
    return oldest !== undefined;
  }

  async function begin(caller: Caller, id: string, greet: Greet): Promise<Held> {
    const server = servers.create(caller, "legacy");
    const transport = new SessionTransport({ sessionIdGenerator: () => id });
    await server.connect(transport);
    // Several nodes may ask in one session at a time: their questions must not have the same id.
    const { onmessage } = transport;
    const send = transport.send.bind(transport);
    transport.onmessage = (message, extra) => onmessage?.(unmarked(message, store.node.id), extra);
    transport.send = (message, options) => send(marked(message, store.node.id), options);
    await greet(transport);
    const session: Held = {
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

  const beginOnce = (caller: Caller, id: string, greet: Greet): Promise<Held> => {
    const begun = begin(caller, id, greet);
    sessions.set(id, begun);
    begun.catch(() => sessions.delete(id));
    return begun;
  };

  return {
    async open(caller, opening, request) {
      if (!(await makeRoom(caller.user))) return undefined;
      const id = ids.create(caller, opening);
      let answer: Response | undefined;
      await beginOnce(caller, id, async (transport) => {
        answer = await transport.handleRequest(request);
      });
      if (!answer?.ok) await drop(id);
      return answer;
    },
    isOwn: (caller, id) => !ended.has(id) && ids.read(caller, id) !== undefined,
    async find(caller, id) {
      const opening = ids.read(caller, id);
      if (opening === undefined) throw new Error("a session is looked for that is not the caller's");
      const known = await sessions.get(id);
      if (known !== undefined && isSame(known.caller, caller)) return known;
      // The token's scope was changed: what the session may do changes with it.
      if (known !== undefined) await drop(id);
      if (!(await makeRoom(caller.user))) return undefined;
      // Another request of the session may have been here in the meantime.
      const begun = sessions.get(id);
      if (begun !== undefined) return begun;
      return beginOnce(caller, id, async (transport) => {
        await (await transport.handleRequest(initialize(opening))).text();
      });
    },
    deliver(id, message) {
      held.get(id)?.transport.onmessage?.(message);
    },
    async end(id) {
      ended.add(id);
      const [oldest] = ended;
      if (ended.size > MOST_ENDED && oldest !== undefined) ended.delete(oldest);
      await drop(id);
    },
    async close() {
      clearInterval(sweep);
      await Promise.all([...held.keys()].map(drop));
    },
  };
}

function isSame(one: Caller, other: Caller): boolean {
  return JSON.stringify(one.scope) === JSON.stringify(other.scope);
}

/** As the client sent it, for a transport that has not seen it. */
function initialize(params: Opening): Request {
  return new Request("http://localhost/", {
    method: "POST",
    headers: { accept: "application/json, text/event-stream", "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: "initialize", method: "initialize", params }),
  });
}
