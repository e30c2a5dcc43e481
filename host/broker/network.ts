/** The way out for everything that tools bring about: their requests, MCP servers, sign-ins and downloads of tools. */
import { createOutbound, type Outbound, type OutboundOptions } from "../../kernel/kit/outbound.ts";

// Requests have shorter limits of their own; this one ends those that nobody waits for any more.
const HEADERS_TIMEOUT_MS = 15 * 60 * 1000;

export function createNetwork({
  privateHosts,
  lookup,
}: Pick<OutboundOptions, "privateHosts" | "lookup">): Outbound {
  return createOutbound({
    privateHosts,
    lookup,
    headersTimeoutMs: HEADERS_TIMEOUT_MS,
    refusedHint: ", which tools may not reach. An operator can except hosts in TOOLS_PRIVATE_HOSTS.",
  });
}
