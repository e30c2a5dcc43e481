/** Tools of MCP servers that others run, put together: rows, sign-in, sessions, calls and the operator's view. */
import type { Outbound, PrivateHosts } from "../../kernel/kit/outbound.ts";
import type { ToolInfo } from "../../kernel/plugin.ts";
import type { Vault } from "../secrets/secrets.ts";
import type { Downloads } from "../sources/download.ts";
import { createMcpCalls, type McpCallsParts } from "./call/call.ts";
import { createServerIndex } from "./index/server-index.ts";
import { createServers } from "./servers.ts";
import { createSessions, type SessionState, type SessionsParts } from "./session/sessions.ts";
import { createMcpAccess } from "./sign-in/access.ts";
import { createEnvironments } from "./sign-in/environment.ts";
import { afterAgreeing, afterListing, toInfo } from "./tools/agreement.ts";
import type { Listed } from "./tools/definition.ts";
import { isPerUser, openServerRows, type StoredServer } from "./tools/rows.ts";

export type ForeignTools = Awaited<ReturnType<typeof openForeignTools>>;

export interface ForeignToolsParts
  extends Omit<McpCallsParts, "rows" | "sessions">,
    Pick<SessionsParts, "path" | "folder" | "version" | "serves"> {
  readonly vault: Vault;
  readonly network: Outbound;
  readonly downloads: Downloads;
  readonly serverIndexes?: readonly string[] | undefined;
  readonly privateHosts: PrivateHosts;
  /** True where a tool of that name is installed, or no tool may have it. */
  readonly isTaken: (name: string) => Promise<boolean>;
}

export async function openForeignTools(parts: ForeignToolsParts) {
  const { store, log, serves } = parts;
  const access = createMcpAccess(parts);
  const rows = await openServerRows(store, serves);
  const environments = createEnvironments(parts.vault, store.keyed("mcp-env"), parts.key);
  const sessions = createSessions({
    ...parts,
    access,
    environment: environments.read,
    onListed: noteListed,
    onState: (server, state) =>
      void noteState(server, state).catch((error) => log.warn({ error }, "a server's state was not stored")),
  });
  const calls = createMcpCalls({ ...parts, rows, sessions });

  async function noteListed(server: StoredServer, listed: Listed, revision: string): Promise<void> {
    const taken = new Map<string, boolean>();
    for (const { tool } of listed.definitions) {
      const name = `${server.name}_${tool}`;
      taken.set(name, await parts.isTaken(name));
    }
    // If each user has a credential, each may be shown other tools.
    const options = { isWhole: !isPerUser(server), isTaken: (name: string) => taken.get(name) ?? false };
    const current = await rows.find(server.name);
    if (current?.id !== server.id) return;
    const { leftOut } = listed;
    const before = JSON.stringify([current.tools, current.revision, current.leftOut]);
    if (JSON.stringify([afterListing(current, listed, options), revision, leftOut]) === before) return;
    await rows.change(server, (stored) => {
      const tools = afterListing(stored, listed, options);
      const isAgreed = stored.isAgreedAhead === true && stored.tools.length === 0;
      return {
        revision,
        leftOut,
        tools: isAgreed ? afterAgreeing(tools, () => true, true) : tools,
        isAgreedAhead: false,
      };
    });
  }

  async function noteState(server: StoredServer, { status, detail: why = "" }: SessionState): Promise<void> {
    const current = await rows.find(server.name);
    if (current?.id !== server.id) return;
    if (status === "connected") {
      if (current.trouble !== undefined) await rows.change(server, () => ({ trouble: undefined }));
      return;
    }
    if (status !== "unreachable" && status !== "unauthenticated") return;
    // The others should not be told that one user is not signed in.
    if (status === "unauthenticated" && isPerUser(server)) return;
    if (current.trouble?.status === status) return;
    await rows.change(server, () => ({ trouble: { status, why, at: new Date().toISOString() } }));
    log.warn({ server: server.name }, `the MCP server ${server.name} cannot be used: ${why}`);
  }

  rows.onChange(() => {
    rows
      .all()
      .then(sessions.keepOnly)
      .catch(() => {});
  });

  return {
    call: calls.call,
    resume: calls.resume,
    refusal: calls.refusal,
    servers: createServers({
      ...parts,
      access,
      environments,
      rows,
      sessions,
      index: createServerIndex(parts),
    }),
    /** The tools that anybody may be offered; it needs no connection. */
    list: async () => (await rows.all()).flatMap(infosOf),
    /** True also for a tool that is held back, off or gone for now, because its name is taken. */
    has: async (name: string) => (await rows.tool(name)) !== undefined,
    async troubles(): Promise<readonly string[]> {
      return (await rows.all()).flatMap(({ name, trouble }) =>
        trouble === undefined
          ? []
          : [`MCP server ${name} is ${trouble.status} since ${trouble.at}: ${trouble.why}`],
      );
    },
    reachAll: async () => sessions.reachAll(await rows.all()),
    async close(): Promise<void> {
      rows.close();
      await sessions.close();
      await calls.close();
    },
  };
}

/** A server that has not changed is the same object, and so are its tools. */
const infos = new WeakMap<StoredServer, readonly ToolInfo[]>();

function infosOf(server: StoredServer): readonly ToolInfo[] {
  const known = infos.get(server) ?? server.tools.flatMap((tool) => toInfo(server, tool) ?? []);
  infos.set(server, known);
  return known;
}
