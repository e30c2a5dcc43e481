/** An MCP server as its credentials know it: which are its own, and under which names they are kept. */
import { hash } from "node:crypto";
import type { ServerCredential, ServerTarget } from "../../../capabilities/servers/server-file.ts";
import { hostAndPort, type PrivateHosts } from "../../../kernel/kit/outbound.ts";
import { Fault } from "../../../kernel/plugin.ts";
import type { Holder } from "../../secrets/holder.ts";
import type { StoredServer } from "../tools/rows.ts";

export interface McpTarget {
  readonly name: string;
  readonly url: string;
  readonly perUser: boolean;
  /** The operator agreed that its address is private. */
  readonly isPrivate?: boolean;
  readonly answerBytes?: number;
  readonly credential?: Partial<Pick<ServerCredential, "secretName" | "location" | "oauth">>;
}

export function targetOf(
  { name, file }: StoredServer,
  { credential, url, isPrivate }: Extract<ServerTarget, { type: "http" }>,
): McpTarget {
  const { answerBytes } = file.limits;
  const { perUser, isNamed } = credential;
  return { name, url, perUser, isPrivate, answerBytes, credential: isNamed ? credential : undefined };
}

/** The operator's exceptions for all, and for this server. */
export function exceptionsOf(
  { url, isPrivate = false }: Pick<McpTarget, "url" | "isPrivate">,
  privateHosts: PrivateHosts,
): PrivateHosts {
  const place = isPrivate ? URL.parse(url) : null;
  return place === null ? privateHosts : new Set([...privateHosts, hostAndPort(place)]);
}

/** No tool and no tool's secret has a colon in its name, so that neither can ask for a server's. */
export const toolOf = (server: string) => `mcp:${server}`;

export function nameOf({ credential, perUser }: McpTarget, user: string): string {
  const name = `mcp:${credential?.secretName ?? "token"}`;
  return perUser ? `${name}:${digest(user)}` : name;
}

export function placeOf(server: McpTarget, user: string): string {
  return `${server.name}/${nameOf(server, user)}`;
}

/** Bound to the address: a server of the same name elsewhere is another server. */
export function holderOf({ name, url }: McpTarget): Holder {
  return { tool: toolOf(name), digest: digest(addressOf(url)), hostsOf: () => [new URL(url).host] };
}

export function addressOf(url: string | URL): string {
  const { origin, pathname, search } = new URL(url);
  return `${origin}${pathname}${search}`;
}

export function asks(server: McpTarget, why: string, user?: string): Fault {
  const whose = server.perUser && user !== undefined ? ` --user ${user}` : "";
  const message = `The MCP server ${server.name} ${why}. Sign in on the page, or run "postern mcp auth ${server.name}${whose}".`;
  return new Fault("unauthenticated", "sign_in", message);
}

export function digest(text: string): string {
  return hash("sha256", text, "base64url");
}
