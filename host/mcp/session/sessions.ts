/** The sessions with all servers, opened when needed, and again after they were lost. Calls meanwhile fail with a reason. */
import type { ElicitRequest, ElicitResult } from "@modelcontextprotocol/client";
import { Fault, type Log, reason } from "../../../kernel/plugin.ts";
import type { McpAccess } from "../sign-in/access.ts";
import { targetOf } from "../sign-in/target.ts";
import type { Definition, Listed } from "../tools/definition.ts";
import { isPerUser, type StoredServer } from "../tools/rows.ts";
import { SessionFailed, unlessAborted } from "./failure.ts";
import type { Session, Target } from "./session.ts";

export interface SessionState {
  readonly status: "connected" | "idle" | "connecting" | "unreachable" | "unauthenticated";
  readonly detail?: string;
  readonly revision?: string;
}

/** A call under way, for what the server asks in the middle of it. */
export interface OpenCall {
  readonly isWaiting: boolean;
  ask(params: ElicitRequest["params"], signal: AbortSignal): Promise<ElicitResult>;
}

export interface Lease {
  readonly session: Session;
  definitionOf(tool: string): Definition | undefined;
  /** Returns a function that ends the call; until then the session stays open, and the server's questions go to the call. */
  begin(call: OpenCall): () => void;
}

export interface SessionsParts {
  readonly access: McpAccess;
  /** The environment variables that the server's file names; rejects with a fault where one has no value. */
  environment(server: StoredServer): Promise<Readonly<Record<string, string>>>;
  readonly path: string;
  readonly folder: string;
  readonly version: string;
  readonly log: Log;
  /** False for a process that ends soon, which does nothing that nobody asked for. */
  readonly serves: boolean;
  onListed(server: StoredServer, listed: Listed, revision: string): Promise<void>;
  onState(server: StoredServer, state: SessionState): void;
}

export type Sessions = ReturnType<typeof createSessions>;

const MIN_RETRY_MS = 1000;
const MAX_RETRY_MS = 60_000;
/** A session that nobody uses for this long is closed, and not opened again by itself. */
const IDLE_MS = 10 * 60_000;
const SWEEP_INTERVAL_MS = 30_000;
const MIN_LIST_INTERVAL_MS = 2000;
const MAX_CONCURRENT = 2;
/** For each server; one more user closes the session that has been idle longest. */
const MAX_SESSIONS = 64;

export function createSessions(parts: SessionsParts) {
  const { log } = parts;
  const kept = new Map<string, KeptSession>();
  const ending = new Set<Promise<void>>();
  let isClosed = false;

  function find(server: StoredServer, user: string): KeptSession {
    const key = keyOf(server, user);
    const known = kept.get(key);
    if (known !== undefined) return known;
    makeRoom(server);
    const added = keepSession(parts, server, user);
    kept.set(key, added);
    return added;
  }

  function end(key: string, session: KeptSession): void {
    kept.delete(key);
    const ended = session.close().catch((error) => log.warn(`a session did not end: ${reason(error)}`));
    ending.add(ended);
    void ended.finally(() => ending.delete(ended));
  }

  function makeRoom({ id }: StoredServer): void {
    const own = [...kept].filter(([, { server }]) => server.id === id);
    if (own.length < MAX_SESSIONS) return;
    const [oldest] = own
      .filter(([, { isBusy }]) => !isBusy)
      .toSorted(([, one], [, other]) => one.lastUsed - other.lastUsed);
    if (oldest !== undefined) end(...oldest);
  }

  const sweep = setInterval(() => {
    for (const session of kept.values())
      if (!session.isBusy && performance.now() - session.lastUsed > IDLE_MS)
        void session.drop().catch(() => {});
  }, SWEEP_INTERVAL_MS).unref();

  return {
    /** `anew`: opens another session even if one is open or was lost a moment ago. Rejects with a `SessionFailed`. */
    async use(
      server: StoredServer,
      user: string,
      signal: AbortSignal,
      { anew = false } = {},
    ): Promise<Lease> {
      if (isClosed) throw stopping();
      return find(server, user).use(signal, anew);
    },
    state: (server: StoredServer, user: string): SessionState =>
      kept.get(keyOf(server, user))?.state ?? { status: "idle" },
    /** Reaches the servers whose session all users share, without anybody waiting for it. */
    reachAll(servers: readonly StoredServer[]): void {
      const waiting = servers.filter((server) => !isPerUser(server));
      const next = async (): Promise<void> => {
        for (let server = waiting.shift(); server !== undefined && !isClosed; server = waiting.shift())
          await find(server, "")
            .use(new AbortController().signal, false)
            .catch(() => {});
      };
      for (let at = 0; at < MAX_CONCURRENT; at++) void next();
    },
    /** Ends the sessions with servers that are gone, or whose file changed. */
    keepOnly(servers: readonly StoredServer[]): void {
      const files = new Map(servers.map(({ id, fileText }) => [id, fileText]));
      for (const [key, session] of [...kept])
        if (files.get(session.server.id) !== session.server.fileText) end(key, session);
    },
    async close(): Promise<void> {
      isClosed = true;
      clearInterval(sweep);
      for (const entry of [...kept]) end(...entry);
      await Promise.all(ending);
    },
  };
}

function keyOf(server: StoredServer, user: string): string {
  return JSON.stringify([server.id, server.fileText, isPerUser(server) ? user : ""]);
}

type KeptSession = ReturnType<typeof keepSession>;

interface Open {
  readonly session: Session;
  definitions: ReadonlyMap<string, Definition>;
}

function keepSession(parts: SessionsParts, server: StoredServer, user: string) {
  const over = new AbortController();
  const calls = new Set<OpenCall>();
  let open: Open | undefined;
  let opening: Promise<Open> | undefined;
  let failure: SessionFailed | undefined;
  let failures = 0;
  let retryAt = 0;
  let lastUsed = performance.now();
  let lastListed = 0;
  let retryTimer: NodeJS.Timeout | undefined;
  let listTimer: NodeJS.Timeout | undefined;

  const stateOf = (): SessionState => {
    if (open !== undefined) return { status: "connected", revision: open.session.revision };
    if (opening !== undefined) return { status: "connecting" };
    if (failure === undefined) return { status: "idle" };
    const status = failure.kind === "unauthenticated" ? "unauthenticated" : "unreachable";
    return { status, detail: failure.message };
  };

  function fail(error: unknown): SessionFailed {
    failure = toFailure(error);
    failures++;
    const pause = Math.min(MIN_RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS);
    retryAt = performance.now() + pause;
    parts.onState(server, stateOf());
    clearTimeout(retryTimer);
    // A credential comes from a person: trying again without one would only annoy the server.
    if (parts.serves && failure.kind !== "unauthenticated" && !over.signal.aborted)
      retryTimer = setTimeout(() => {
        if (performance.now() - lastUsed < IDLE_MS) reach().catch(() => {});
      }, pause).unref();
    return failure;
  }

  async function list(current: Open): Promise<void> {
    lastListed = performance.now();
    const listed = await current.session.listTools(over.signal);
    current.definitions = new Map(listed.definitions.map((definition) => [definition.tool, definition]));
    await parts.onListed(server, listed, current.session.revision);
  }

  /** However often a server says that its list changed, there is a pause between two readings. */
  function listSoon(): void {
    const current = open;
    if (listTimer !== undefined || current === undefined) return;
    const pause = Math.max(0, lastListed + MIN_LIST_INTERVAL_MS - performance.now());
    listTimer = setTimeout(() => {
      listTimer = undefined;
      // Nothing of a server is used while it is unknown what it offers.
      if (open === current) list(current).catch((error: unknown) => lose(current, error));
    }, pause).unref();
  }

  async function lose(lost: Open, why: unknown): Promise<void> {
    if (open !== lost) return;
    open = undefined;
    fail(why);
    await lost.session.close();
  }

  /** A question goes to the one call that can have led to it; where there are several, nobody can know. */
  async function answer(params: ElicitRequest["params"], signal: AbortSignal): Promise<ElicitResult> {
    const running = [...calls].filter(({ isWaiting }) => !isWaiting);
    const [call, ...others] = running.length > 0 ? running : [...calls];
    if (call === undefined || others.length > 0) return { action: "cancel" };
    return call.ask(params, signal);
  }

  async function connect(): Promise<Open> {
    // The SDK is loaded with the first session, because a start must not wait for it.
    const { openSession } = await import("./session.ts");
    let current: Open | undefined;
    const session = await openSession({
      target: await readTarget(parts, server, user),
      version: parts.version,
      signal: over.signal,
      onToolsChanged: listSoon,
      onQuestion: answer,
      onLost: (why) => {
        if (current !== undefined) void lose(current, new SessionFailed("unreachable", why));
      },
    });
    current = { session, definitions: new Map() };
    try {
      await list(current);
      if (over.signal.aborted) throw stopping();
      return current;
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  function reach(): Promise<Open> {
    if (open !== undefined) return Promise.resolve(open);
    if (opening !== undefined) return opening;
    clearTimeout(retryTimer);
    opening = connect().then(
      (opened) => {
        opening = undefined;
        open = opened;
        failure = undefined;
        failures = 0;
        parts.onState(server, stateOf());
        return opened;
      },
      (error: unknown) => {
        opening = undefined;
        throw fail(error);
      },
    );
    opening.catch(() => {});
    return opening;
  }

  async function drop(): Promise<void> {
    clearTimeout(retryTimer);
    clearTimeout(listTimer);
    listTimer = undefined;
    const closing = open;
    open = undefined;
    await closing?.session.close();
  }

  return {
    server,
    get state() {
      return stateOf();
    },
    get isBusy() {
      return calls.size > 0 || opening !== undefined;
    },
    get lastUsed() {
      return lastUsed;
    },
    async use(signal: AbortSignal, anew: boolean): Promise<Lease> {
      lastUsed = performance.now();
      if (anew) {
        await opening?.catch(() => {});
        await drop();
      }
      const left = retryAt - performance.now();
      const isEarly = !anew && left > 0 && open === undefined && opening === undefined;
      if (isEarly && failure !== undefined && failure.kind !== "unauthenticated")
        throw new SessionFailed(
          failure.kind,
          `${failure.message} The next attempt is in ${Math.ceil(left / 1000)} s.`,
        );
      const current = await unlessAborted(reach(), signal).catch((error: unknown) => {
        if (error instanceof SessionFailed) throw error;
        throw new SessionFailed("timeout", "The call ended before the server was reached.");
      });
      return {
        session: current.session,
        definitionOf: (tool) => current.definitions.get(tool),
        begin(call) {
          calls.add(call);
          return () => {
            lastUsed = performance.now();
            calls.delete(call);
          };
        },
      };
    },
    drop,
    async close(): Promise<void> {
      over.abort();
      await drop();
      await opening?.catch(() => {});
    },
  };
}

async function readTarget(
  { access, environment, path, folder, log }: SessionsParts,
  server: StoredServer,
  user: string,
): Promise<Target> {
  const { name, file } = server;
  if (file.target.type === "http") {
    const fetch = access.fetchFor(targetOf(server, file.target), user);
    return { type: "http", url: new URL(file.target.url), fetch };
  }
  return {
    type: "command",
    server: name,
    command: file.target.command,
    env: await environment(server),
    path,
    folder,
    maxMessageBytes: file.limits.answerBytes,
    log,
  };
}

function toFailure(error: unknown): SessionFailed {
  if (error instanceof SessionFailed) return error;
  const isCredential = error instanceof Fault && error.kind === "unauthenticated";
  return new SessionFailed(isCredential ? "unauthenticated" : "unreachable", reason(error), error);
}

function stopping(): SessionFailed {
  return new SessionFailed("unreachable", "Postern is stopping.");
}
