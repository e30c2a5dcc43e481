/** Tools of MCP servers that others run, put together: rows, connections, calls and the operator's view. */

import type { PrivateHosts, SealingKey } from "../../kernel/kit.ts";
import type { Log, Mask, McpServers, Store, ToolInfo } from "../../kernel/plugin.ts";
import type { Receipts } from "../calls/receipts.ts";
import type { CheckJson } from "../sandbox/json-check.ts";
import type { Vault } from "../secrets/secrets.ts";
import { createForeignCalls, type ForeignCalls } from "./call/calls.ts";
import { type Credentials, createCredentials } from "./credentials.ts";
import { createServers } from "./servers.ts";
import type { LinkState } from "./session/link.ts";
import { createConnections } from "./session/sessions.ts";
import type { McpAccess } from "./sign-in/access.ts";
import { createEnvironments } from "./sign-in/environment.ts";
import { afterAgreeing, afterListing, toInfo } from "./tools/agreement.ts";
import type { Listed } from "./tools/definition.ts";
import { isPerUser, openServerRows, type StoredServer } from "./tools/rows.ts";

export interface ForeignTools extends Pick<ForeignCalls, "call" | "resume" | "refusal"> {
  readonly servers: McpServers;
  readonly credentials: Pick<Credentials, "finishSignIn" | "setClientSecret">;
  /** Those that anybody may be offered; it needs no connection. */
  list(): Promise<readonly ToolInfo[]>;
  /** Also one that is held back, off or gone for now: its name is taken. */
  has(name: string): Promise<boolean>;
  /** Sentences: the servers that do not answer. */
  troubles(): Promise<readonly string[]>;
  /** Reaches all servers, without anybody waiting for it. */
  reachAll(): Promise<void>;
  close(): Promise<void>;
}

export interface ForeignToolsParts {
  readonly store: Store;
  readonly vault: Vault;
  readonly key: SealingKey;
  readonly mask: Mask;
  readonly log: Log;
  readonly access: McpAccess;
  readonly receipts: Receipts;
  readonly checkJson: CheckJson;
  readonly privateHosts: PrivateHosts;
  /** A tool of that name is installed, or no tool may have it. */
  readonly isTaken: (name: string) => Promise<boolean>;
  readonly path: string;
  readonly folder: string;
  readonly version: string;
  /** True for the service: it reaches servers by itself. */
  readonly serves: boolean;
}

export async function openForeignTools(parts: ForeignToolsParts): Promise<ForeignTools> {
  const { store, log, access, serves } = parts;
  const rows = await openServerRows(store, serves);
  const environments = createEnvironments({ ...parts, keyed: store.keyed("mcp-env") });
  const connections = createConnections({
    ...parts,
    keepsUp: serves,
    environment: environments.read,
    onListed: noteListed,
    onState: (server, state) =>
      void noteState(server, state).catch((error) => log.warn({ error }, "a server's state was not stored")),
  });
  const credentials = createCredentials(access, environments, rows);
  const calls = createForeignCalls({ ...parts, rows, connections });

  async function noteListed(server: StoredServer, listed: Listed, revision: string): Promise<void> {
    const taken = new Map<string, boolean>();
    for (const { tool } of listed.definitions) {
      const name = `${server.name}_${tool}`;
      taken.set(name, await parts.isTaken(name));
    }
    // Where each user has a credential, each may be shown other tools.
    const isWhole = !isPerUser(server);
    const isTaken = (name: string) => taken.get(name) ?? false;
    const current = await rows.find(server.name);
    const state = { revision, leftOut: listed.leftOut };
    if (current?.id !== server.id) return;
    const tools = afterListing(current, listed, { isWhole, isTaken });
    const isSame = JSON.stringify([tools, state]) === JSON.stringify([current.tools, readState(current)]);
    if (isSame) return;
    await rows.change(server, (stored) => {
      const after = afterListing(stored, listed, { isWhole, isTaken });
      const isAgreed = stored.isAgreedAhead === true && stored.tools.length === 0;
      return {
        ...state,
        tools: isAgreed ? afterAgreeing(after, () => true, true) : after,
        isAgreedAhead: false,
      };
    });
  }

  async function noteState(server: StoredServer, { status, detail }: LinkState): Promise<void> {
    const current = await rows.find(server.name);
    if (current?.id !== server.id) return;
    // Whether one user is signed in is nothing that the others should be told.
    if (status === "unauthenticated" && isPerUser(server)) return;
    if (status === "connected") {
      if (current.trouble !== undefined) await rows.change(server, () => ({ trouble: undefined }));
    } else if (
      (status === "unreachable" || status === "unauthenticated") &&
      current.trouble?.status !== status
    ) {
      const why = detail ?? "";
      await rows.change(server, () => ({ trouble: { status, why, at: new Date().toISOString() } }));
      log.warn({ server: server.name }, `the MCP server ${server.name} cannot be used: ${why}`);
    }
  }

  rows.onChange(() => {
    rows
      .all()
      .then(connections.keepOnly)
      .catch(() => {});
  });

  return {
    call: calls.call,
    resume: calls.resume,
    refusal: calls.refusal,
    servers: createServers({
      ...parts,
      rows,
      connections,
      credentials,
    }),
    credentials,
    list: async () => (await rows.all()).flatMap(infosOf),
    has: async (name) => (await rows.tool(name)) !== undefined,
    async troubles() {
      return (await rows.all()).flatMap(({ name, trouble }) =>
        trouble === undefined
          ? []
          : [`MCP server ${name} is ${trouble.status} since ${trouble.at}: ${trouble.why}`],
      );
    },
    reachAll: async () => connections.reachAll(await rows.all()),
    async close() {
      rows.close();
      await connections.close();
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

function readState({ revision, leftOut }: StoredServer): object {
  return { revision, leftOut };
}
