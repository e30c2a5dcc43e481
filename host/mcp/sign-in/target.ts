/** An MCP server as its credentials know it: which are its own, and under which names they are kept. */
import { createHash } from "node:crypto";
import { Fault } from "../../../kernel/kit.ts";
import type { Holder } from "../../secrets/holder.ts";

/** A server as its file has it. */
export interface McpTarget {
  readonly name: string;
  readonly url: string;
  /** Each user has a credential of their own. */
  readonly perUser: boolean;
  /** The largest answer that is read. */
  readonly answerBytes?: number;
  readonly credential?: {
    readonly secretName?: string;
    readonly location?:
      | { readonly type: "bearer" }
      | { readonly type: "header"; readonly name: string; readonly prefix: string };
    readonly oauth?: {
      readonly clientId: string | undefined;
      readonly clientSecretSecret: string | undefined;
      readonly scopes: readonly string[];
    };
  };
}

/** No tool and no tool's secret has a colon in its name: neither can ask for a server's. */
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

/** What the person is told to do. */
export function asks(server: McpTarget, why: string, user?: string): Fault {
  const whose = server.perUser && user !== undefined ? ` --user ${user}` : "";
  return new Fault(
    "unauthenticated",
    "sign_in",
    `The MCP server ${server.name} ${why}. Sign in on the page, or run "postern mcp auth ${server.name}${whose}".`,
  );
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
