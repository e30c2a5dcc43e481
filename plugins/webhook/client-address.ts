/** Who is calling: the peer of the socket, or what a proxy we trust says about it. */
import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

export type Range = readonly [Address, number];

/** Undefined where one of them is neither an address nor a range. */
export function parseProxies(texts: readonly string[]): readonly Range[] | undefined {
  const ranges: Range[] = [];
  for (const text of texts) {
    if (ipaddr.isValidCIDR(text)) ranges.push(ipaddr.parseCIDR(text));
    else if (ipaddr.isValid(text)) {
      const address = ipaddr.process(text);
      ranges.push([address, address.kind() === "ipv4" ? 32 : 128]);
    } else return undefined;
  }
  return ranges;
}

/**
 * Walks `X-Forwarded-For` from our end: each entry is believed only because the one after it is a trusted
 * proxy. What lies beyond the first stranger is that stranger's claim.
 */
export function clientAddress(peer: string, forwardedFor: string, proxies: readonly Range[]): string {
  let client = normalise(peer) ?? peer;
  const hops = forwardedFor.split(",").reverse();
  for (const hop of hops) {
    if (!isWithin(client, proxies)) return client;
    const next = normalise(hop.trim());
    if (next === undefined) return client;
    client = next;
  }
  return client;
}

/** One spelling for one address: an IPv4 address that arrived by an IPv6 socket is that IPv4 address. */
function normalise(text: string): string | undefined {
  return ipaddr.isValid(text) ? ipaddr.process(text).toString() : undefined;
}

function isWithin(text: string, ranges: readonly Range[]): boolean {
  if (ranges.length === 0 || !ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  return ranges.some(
    ([base, bits]) => base.kind() === address.kind() && address.match([base, bits] as never),
  );
}
