/** Which web pages may use this gateway: its own, and those the operator listed. */
import type { IncomingMessage } from "node:http";
import type { Proxies } from "../../../kernel/kit.ts";

export type OriginCheck = (request: IncomingMessage) => boolean;

export function createOriginCheck(allowed: readonly string[], proxies: Proxies): OriginCheck {
  const listed = new Set(allowed);
  return (request) => {
    const { origin } = request.headers;
    // Programs send none; a browser always does where it matters: on an upgrade and on unsafe methods.
    if (origin === undefined) return true;
    return listed.has(origin) || URL.parse(origin)?.host === proxies.host(request).toLowerCase();
  };
}
