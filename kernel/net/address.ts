/** The one rule for addresses: which ones strangers may make us dial, and how hosts and ports are written. */
import { lookup as systemLookup } from "node:dns/promises";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

export interface Address {
  readonly address: string;
  readonly family: number;
}

/** All addresses of a name; `node:dns` unless a test brings its own. */
export type Lookup = (host: string) => Promise<readonly Address[]>;

/** The operator's exceptions, as `host:port`: may be private, may be plain http, may use that port. */
export type PrivateHosts = ReadonlySet<string>;

/** The message says which address it was and of what kind; the caller adds which setting allows it. */
export class AddressRefused extends Error {}

// This one is public by its number, but the cloud platform serves the machine's credentials there.
const METADATA = new Set(["168.63.129.16"]);
const RANGE_WORDS: Readonly<Record<string, string>> = {
  deprecatedSiteLocal: "site-local",
  carrierGradeNat: "shared (CGNAT)",
  ipv4Mapped: "IPv4-mapped",
  linkLocal: "link-local",
  rfc6052: "NAT64",
  rfc6145: "translated",
  uniqueLocal: "private",
};
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/** Returns the kind of an address that is not an ordinary public one, and undefined for those. */
export function refuseAddress(text: string): string | undefined {
  if (isIP(text) === 0) return "malformed";
  const address = ipaddr.parse(text);
  const range = address.range();
  if (range !== "unicast") return RANGE_WORDS[range] ?? range;
  if (METADATA.has(address.toString())) return "metadata";
  // Unicast addresses outside the allocated space may be translated on the way.
  if (address instanceof ipaddr.IPv6 && !address.match(GLOBAL_UNICAST)) return "reserved";
  return undefined;
}

/**
 * The addresses to dial for a URL. The operator's exceptions may be anywhere, everything else must be public; one bad address
 * condemns the name, since its owner chooses which one we see. Dial exactly what is returned: asking again could bring another answer.
 */
export async function resolveFor(
  url: URL,
  privateHosts: PrivateHosts,
  lookup: Lookup = lookupAll,
): Promise<readonly Address[]> {
  const { hostname: host } = url;
  const literal = host.replace(/^\[|\]$/g, "");
  const family = isIP(literal);
  const addresses = family === 0 ? await lookup(literal) : [{ address: literal, family }];
  if (addresses.length === 0) throw new Error(`${host} has no address`);
  if (privateHosts.has(hostAndPort(url))) return addresses;
  for (const { address } of addresses) {
    const kind = refuseAddress(address);
    if (kind === undefined) continue;
    const what = address === literal ? `${host} is` : `${host} resolves to ${address},`;
    throw new AddressRefused(`${what} ${/^[IU]/i.test(kind) ? "an" : "a"} ${kind} address`);
  }
  return addresses;
}

/** Where a URL leads if that is this machine or the local network: "loopback" or "private". Undefined for everywhere else. */
export async function localKind(url: URL, lookup: Lookup = lookupAll): Promise<string | undefined> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const addresses = isIP(host) === 0 ? await lookup(host).catch(() => []) : [{ address: host }];
  const kinds = new Set(addresses.map(({ address }) => refuseAddress(address)));
  const [kind, ...others] = kinds;
  return others.length === 0 && (kind === "loopback" || kind === "private") ? kind : undefined;
}

/** `host:port` of a URL, with the scheme's own port where it names none. */
export function hostAndPort(url: URL): string {
  return `${url.hostname}:${url.port || (url.protocol === "https:" ? 443 : 80)}`;
}

/** Reads a list of `host:port`; undefined where an entry is something else. */
export function parsePrivateHosts(entries: readonly string[]): PrivateHosts | undefined {
  const hosts = entries.map((entry) => {
    const url = /^[^\s/?#@\\]+:\d+$/.test(entry) ? URL.parse(`http://${entry}`) : null;
    return url && hostAndPort(url);
  });
  return hosts.every((host) => host !== null) ? new Set(hosts) : undefined;
}

/** A listener's host as it stands in a URL; a wildcard reads as localhost. */
export function hostInUrl(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}

/** True where a listener on this host is reached from this machine only. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || refuseAddress(host) === "loopback";
}

async function lookupAll(host: string): Promise<readonly Address[]> {
  return systemLookup(host, { all: true, verbatim: true });
}
