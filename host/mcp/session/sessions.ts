/** The connections to all servers. */
import type { Log } from "../../../kernel/plugin.ts";
import { reason } from "../../../kernel/plugin.ts";
import { credentialTarget } from "../credentials.ts";
import type { McpAccess } from "../sign-in/access.ts";
import type { Listed } from "../tools/definition.ts";
import { isPerUser, type StoredServer } from "../tools/rows.ts";
import { ConnectionFailed } from "./failure.ts";
import { createLink, IDLE_MILLIS, type Lease, type Link, type LinkState } from "./link.ts";
import type { Target } from "./session.ts";

export interface ConnectionsParts {
  readonly access: McpAccess;
  /** The values of the environment variables that its file names; rejects with `ConnectionFailed` where one is missing. */
  environment(server: StoredServer): Promise<Readonly<Record<string, string>>>;
  /** Where commands are looked for, and where they run. */
  readonly path: string;
  readonly folder: string;
  readonly version: string;
  readonly log: Log;
  readonly keepsUp: boolean;
  onListed(server: StoredServer, listed: Listed, revision: string): Promise<void>;
  onState(server: StoredServer, state: LinkState): void;
}

export interface Connections {
  /** Rejects with a `ConnectionFailed`. */
  use(
    server: StoredServer,
    user: string,
    signal: AbortSignal,
    options?: { readonly anew?: boolean },
  ): Promise<Lease>;
  state(server: StoredServer, user: string): LinkState;
  /** Reaches those that all users share, without anybody waiting for it. */
  reachAll(servers: readonly StoredServer[]): void;
  /** Ends those to servers that are gone, or reached in another way by now. */
  keepOnly(servers: readonly StoredServer[]): void;
  close(): Promise<void>;
}

const SWEEP_MILLIS = 30_000;
/** Servers that are reached at the same time where nobody waits for it. */
const AT_ONCE = 2;
/** Of one server; a user more than that costs the one who has waited longest a new connection. */
const MOST_LINKS = 64;

interface Kept {
  readonly server: StoredServer;
  readonly key: string;
  readonly link: Link;
}

export function createConnections(parts: ConnectionsParts): Connections {
  const { access, environment, log } = parts;
  const links = new Map<string, Kept>();
  const ending = new Set<Promise<void>>();
  let isClosed = false;

  function linkOf(server: StoredServer, user: string): Link {
    const key = keyOf(server, user);
    const known = links.get(key);
    if (known !== undefined) return known.link;
    makeRoom(server);
    const link = createLink({
      keepsUp: parts.keepsUp,
      async connect(options) {
        // The SDK comes in with the first connection: a start does not wait for it.
        const { openConnection } = await import("./session.ts");
        const target = await targetOf(server, user);
        return openConnection({ target, version: parts.version, ...options });
      },
      onListed: (listed, revision) => parts.onListed(server, listed, revision),
      onState: (state) => parts.onState(server, state),
    });
    links.set(key, { server, key, link });
    return link;
  }

  async function targetOf(server: StoredServer, user: string): Promise<Target> {
    const { target, limits } = server.file;
    if (target.type === "http") {
      const fetch = access.fetchFor(credentialTarget(server, target), user);
      return { type: "http", url: new URL(target.url), fetch };
    }
    const env = await environment(server);
    const { CommandTransport } = await import("../transport/command.ts");
    const { command } = target;
    const open = () =>
      new CommandTransport({
        server: server.name,
        command,
        env,
        path: parts.path,
        folder: parts.folder,
        maxMessageBytes: limits.answerBytes,
        log,
      });
    return { type: "command", open };
  }

  function end(kept: Kept): void {
    links.delete(kept.key);
    const ended = kept.link.close().catch((error) => log.warn(`a connection did not end: ${reason(error)}`));
    ending.add(ended);
    void ended.finally(() => ending.delete(ended));
  }

  function makeRoom({ id }: StoredServer): void {
    const own = [...links.values()].filter(({ server }) => server.id === id);
    if (own.length < MOST_LINKS) return;
    const [oldest] = own
      .filter(({ link }) => !link.isBusy)
      .toSorted((one, other) => one.link.lastUsed - other.link.lastUsed);
    if (oldest !== undefined) end(oldest);
  }

  const sweep = setInterval(() => {
    for (const { link } of links.values())
      if (!link.isBusy && performance.now() - link.lastUsed > IDLE_MILLIS) void link.rest().catch(() => {});
  }, SWEEP_MILLIS).unref();

  return {
    async use(server, user, signal, options) {
      if (isClosed) throw new ConnectionFailed("unreachable", "Postern is stopping.");
      return linkOf(server, user).use(signal, options);
    },
    state: (server, user) => links.get(keyOf(server, user))?.link.state ?? { status: "idle" },
    reachAll(servers) {
      const waiting = servers.filter((server) => !isPerUser(server));
      const next = async (): Promise<void> => {
        for (let server = waiting.shift(); server !== undefined && !isClosed; server = waiting.shift())
          await linkOf(server, "")
            .use(new AbortController().signal)
            .catch(() => {});
      };
      for (let at = 0; at < AT_ONCE; at++) void next();
    },
    keepOnly(servers) {
      const wanted = new Map(servers.map((server) => [server.id, server]));
      for (const kept of [...links.values()]) {
        const now = wanted.get(kept.server.id);
        if (now === undefined || now.fileText !== kept.server.fileText) end(kept);
      }
    },
    async close() {
      isClosed = true;
      clearInterval(sweep);
      for (const kept of [...links.values()]) end(kept);
      await Promise.all(ending);
    },
  };
}

function keyOf(server: StoredServer, user: string): string {
  return JSON.stringify([server.id, server.fileText, isPerUser(server) ? user : ""]);
}
