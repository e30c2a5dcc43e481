/** An MCP server as its credentials know it: which are its own, and under which names they are kept. */
import { createHash } from "node:crypto";
import type { ServerCredential, ServerTarget } from "../../../capabilities/servers/server-file.ts";
import { Fault } from "../../../kernel/kit.ts";
import type { Holder } from "../../secrets/holder.ts";
import type { StoredServer } from "../tools/rows.ts";

export interface McpTarget {
  readonly name: string;
  readonly url: string;
  /** Each user has a credential of their own. */
  readonly perUser: boolean;
  /** The largest answer that is read. */
  readonly answerBytes?: number;
  /** Absent where the file names none. */
  readonly credential?: Partial<Pick<ServerCredential, "secretName" | "location" | "oauth">>;
}

export function targetOf(
  { name, file }: StoredServer,
  { credential, url }: Extract<ServerTarget, { type: "http" }>,
): McpTarget {
  const { answerBytes } = file.limits;
  const { perUser, isNamed } = credential;
  return { name, url, perUser, answerBytes, credential: isNamed ? credential : undefined };
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

/** Tells the person what to do. */
export function asks(server: McpTarget, why: string, user?: string): Fault {
  const whose = server.perUser && user !== undefined ? ` --user ${user}` : "";
  return new Fault(
    "unauthenticated",
    "sign_in",
    `The MCP server ${server.name} ${why}. Sign in on the page, or run "postern mcp auth ${server.name}${whose}".`,
  );
}

export function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
