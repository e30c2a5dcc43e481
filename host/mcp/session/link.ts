/**
 * The connection to one server, for one user where each has a credential: made when it is needed, kept while it is used, made
 * again after it was lost. What is asked of it meanwhile fails with a reason and never waits for long.
 */
import type { ElicitRequest, ElicitResult } from "@modelcontextprotocol/client";
import { reason } from "../../../kernel/plugin.ts";
import type { Definition, Listed } from "../tools/definition.ts";
import { ConnectionFailed } from "./failure.ts";
import type { Connection, ConnectionOptions } from "./session.ts";

export interface LinkState {
  readonly status: "connected" | "idle" | "connecting" | "unreachable" | "unauthenticated";
  /** Why it does not answer. */
  readonly detail?: string;
  readonly revision?: string;
}

/** A call under way, for what the server asks in the middle of it. */
export interface OpenCall {
  /** A person is being asked. */
  readonly isWaiting: boolean;
  ask(params: ElicitRequest["params"], signal: AbortSignal): Promise<ElicitResult>;
}

export interface Lease {
  readonly connection: Connection;
  /** As this connection lists it. */
  definitionOf(tool: string): Definition | undefined;
  /** Until what it answers is called, the connection stays, and questions of the server are the call's. */
  begin(call: OpenCall): () => void;
}

export interface LinkParts {
  connect(
    options: Pick<ConnectionOptions, "signal" | "onToolsChanged" | "onQuestion" | "onLost">,
  ): Promise<Connection>;
  /** Told each time the list was read. */
  onListed(listed: Listed, revision: string): Promise<void>;
  /** Told when the state changed for better or worse. */
  onState(state: LinkState): void;
  /** False for a process that ends soon: nothing is done there that nobody asked for. */
  readonly keepsUp: boolean;
}

export interface Link {
  readonly state: LinkState;
  readonly isBusy: boolean;
  readonly lastUsed: number;
  /** `anew`: also where it was lost a moment ago. Rejects with a `ConnectionFailed`. */
  use(signal: AbortSignal, options?: { readonly anew?: boolean }): Promise<Lease>;
  /** Nobody has used it for a while. */
  rest(): Promise<void>;
  close(): Promise<void>;
}

const FIRST_PAUSE_MILLIS = 1000;
const LONGEST_PAUSE_MILLIS = 60_000;
/** What nobody uses is not connected again by itself. */
export const IDLE_MILLIS = 10 * 60_000;
const LIST_PAUSE_MILLIS = 2000;

interface Open {
  readonly connection: Connection;
  definitions: ReadonlyMap<string, Definition>;
}

export function createLink({ connect, onListed, onState, keepsUp }: LinkParts): Link {
  const over = new AbortController();
  const calls = new Set<OpenCall>();
  let open: Open | undefined;
  let opening: Promise<Open> | undefined;
  let failure: ConnectionFailed | undefined;
  let failures = 0;
  let retryAt = 0;
  let lastUsed = performance.now();
  let lastListed = 0;
  let retryTimer: NodeJS.Timeout | undefined;
  let listTimer: NodeJS.Timeout | undefined;

  const stateOf = (): LinkState => {
    if (open !== undefined) return { status: "connected", revision: open.connection.revision };
    if (opening !== undefined) return { status: "connecting" };
    if (failure === undefined) return { status: "idle" };
    const status = failure.kind === "unauthenticated" ? "unauthenticated" : "unreachable";
    return { status, detail: failure.message };
  };

  function failed(error: unknown): ConnectionFailed {
    failure = error instanceof ConnectionFailed ? error : new ConnectionFailed("unreachable", reason(error));
    failures++;
    const pause = Math.min(FIRST_PAUSE_MILLIS * 2 ** (failures - 1), LONGEST_PAUSE_MILLIS);
    retryAt = performance.now() + pause;
    onState(stateOf());
    clearTimeout(retryTimer);
    // A credential comes from a person: trying again without one would only annoy the server.
    if (keepsUp && failure.kind !== "unauthenticated" && !over.signal.aborted)
      retryTimer = setTimeout(() => {
        if (performance.now() - lastUsed < IDLE_MILLIS) reach().catch(() => {});
      }, pause).unref();
    return failure;
  }

  async function list(current: Open): Promise<void> {
    lastListed = performance.now();
    const listed = await current.connection.listTools(over.signal);
    current.definitions = new Map(listed.definitions.map((definition) => [definition.tool, definition]));
    await onListed(listed, current.connection.revision);
  }

  /** However often a server says that its list changed, it is read now and then. */
  function listSoon(): void {
    const current = open;
    if (listTimer !== undefined || current === undefined) return;
    const pause = Math.max(0, lastListed + LIST_PAUSE_MILLIS - performance.now());
    listTimer = setTimeout(() => {
      listTimer = undefined;
      if (open !== current) return;
      list(current).catch((error: unknown) => {
        // What it offers is not known any more: nothing of it is used until it has been read.
        if (open === current) void lose(current, error);
      });
    }, pause).unref();
  }

  async function lose(lost: Open, why: unknown): Promise<void> {
    if (open !== lost) return;
    open = undefined;
    failed(why);
    await lost.connection.close();
  }

  /** A question goes to the one call that can have led to it; where there are several, nobody can know. */
  async function answer(params: ElicitRequest["params"], signal: AbortSignal): Promise<ElicitResult> {
    const running = [...calls].filter(({ isWaiting }) => !isWaiting);
    const [call, ...others] = running.length > 0 ? running : [...calls];
    if (call === undefined || others.length > 0) return { action: "cancel" };
    return call.ask(params, signal);
  }

  async function openUp(): Promise<Open> {
    let current: Open | undefined;
    const connection = await connect({
      signal: over.signal,
      onToolsChanged: listSoon,
      onQuestion: answer,
      onLost: (why) => {
        if (current !== undefined) void lose(current, new ConnectionFailed("unreachable", why));
      },
    });
    current = { connection, definitions: new Map() };
    try {
      await list(current);
    } catch (error) {
      await connection.close();
      throw error;
    }
    if (over.signal.aborted) {
      await connection.close();
      throw new ConnectionFailed("unreachable", "Postern is stopping.");
    }
    return current;
  }

  function reach(): Promise<Open> {
    if (open !== undefined) return Promise.resolve(open);
    if (opening !== undefined) return opening;
    clearTimeout(retryTimer);
    const mine = openUp().then(
      (opened) => {
        opening = undefined;
        open = opened;
        failure = undefined;
        failures = 0;
        onState(stateOf());
        return opened;
      },
      (error: unknown) => {
        opening = undefined;
        throw failed(error);
      },
    );
    opening = mine;
    mine.catch(() => {});
    return mine;
  }

  async function drop(): Promise<void> {
    clearTimeout(retryTimer);
    clearTimeout(listTimer);
    listTimer = undefined;
    const closing = open;
    open = undefined;
    await closing?.connection.close();
  }

  return {
    get state() {
      return stateOf();
    },
    get isBusy() {
      return calls.size > 0 || opening !== undefined;
    },
    get lastUsed() {
      return lastUsed;
    },
    async use(signal, { anew = false } = {}) {
      lastUsed = performance.now();
      if (anew) {
        await opening?.catch(() => {});
        await drop();
      }
      const left = retryAt - performance.now();
      const isEarly = !anew && left > 0 && open === undefined && opening === undefined;
      if (isEarly && failure !== undefined && failure.kind !== "unauthenticated")
        throw new ConnectionFailed(
          failure.kind,
          `${failure.message} The next attempt is in ${Math.ceil(left / 1000)} s.`,
        );
      const current = await unlessAborted(reach(), signal);
      return {
        connection: current.connection,
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
    rest: drop,
    async close() {
      over.abort();
      await drop();
      await opening?.catch(() => {});
    },
  };
}

function unlessAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () =>
    reject(new ConnectionFailed("timeout", "The call ended before the server was reached."));
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener("abort", abort));
}
