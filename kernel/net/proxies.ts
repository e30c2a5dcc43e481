/** Finds the caller behind reverse proxies. Only proxies that the operator named are believed. */
import type { IncomingMessage } from "node:http";
import { isIPv4 } from "node:net";
import ipaddr from "ipaddr.js";
import type { Env } from "../settings/env.ts";

export type Proxies = ReturnType<typeof createProxies>;

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

const NAME = "TRUSTED_PROXIES";

/** The one setting that every listener shares. */
export function readTrustedProxies(env: Env): readonly string[] {
  const given = env.list(NAME, "Addresses or ranges of reverse proxies whose X-Forwarded-* is believed");
  if (given.some((proxy) => parseRange(proxy) === undefined))
    env.refuse(NAME, "addresses or ranges such as 10.0.0.1 or 10.0.0.0/8, separated by commas");
  return given;
}

/** An address, or a range such as 10.0.0.0/8; undefined where it is neither. */
function parseRange(text: string): Range | undefined {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  if (!ipaddr.isValid(text)) return undefined;
  const address = ipaddr.process(text);
  return [address, address.kind() === "ipv4" ? 32 : 128];
}

export function createProxies(trusted: readonly string[]) {
  const ranges = trusted.map(parseRange).filter((range) => range !== undefined);
  const plain = (text: string): string =>
    isIPv4(text) || !ipaddr.isValid(text) ? text : ipaddr.process(text).toString();
  const isTrusted = (text: string): boolean => {
    if (ranges.length === 0 || !ipaddr.isValid(text)) return false;
    const address = ipaddr.process(text);
    return ranges.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits));
  };
  // A request that was destroyed has lost its socket.
  const peer = (
    request: Pick<IncomingMessage, "headers"> & { readonly socket: IncomingMessage["socket"] | null },
  ) => request.socket?.remoteAddress ?? "";
  const forwarded = (request: IncomingMessage, name: string): readonly string[] => {
    if (!isTrusted(peer(request))) return [];
    const value = request.headers[name];
    return String(value ?? "")
      .split(",")
      .map((part) => part.trim())
      .filter((part) => part !== "");
  };

  return {
    isTrusted,
    /** An address without an IPv4-in-IPv6 prefix. */
    plain,
    /** The client's address, from our end backwards: a hop is believed only if the one after it is a proxy we trust. */
    address(request: IncomingMessage): string {
      let client = plain(peer(request));
      for (const hop of forwarded(request, "x-forwarded-for").toReversed()) {
        if (!isTrusted(client) || !ipaddr.isValid(hop)) break;
        client = plain(hop);
      }
      return client;
    },
    isHttps: (request: IncomingMessage): boolean =>
      forwarded(request, "x-forwarded-proto").at(-1) === "https",
    /** The host and port that the client typed. */
    host: (request: IncomingMessage): string =>
      forwarded(request, "x-forwarded-host").at(-1) ?? request.headers.host ?? "",
  };
}
