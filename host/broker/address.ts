/** Which addresses a tool may reach, and the lookup that makes sure of it. */
import { lookup as systemLookup } from "node:dns/promises";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

export interface Address {
  readonly address: string;
  readonly family: number;
}

/** All addresses of a name; `node:dns` unless a test brings its own. */
export type Lookup = (host: string) => Promise<readonly Address[]>;

/** A sentence for the tool: the name leads somewhere tools may not go. */
export class AddressRefused extends Error {}

// Public by its number, but the platform's own: it answers with the machine's credentials.
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

/** The kind of address for which tools have no business there; undefined for an ordinary public one. */
export function refuseAddress(text: string): string | undefined {
  if (isIP(text) === 0) return "malformed";
  const address = ipaddr.parse(text);
  const range = address.range();
  if (range !== "unicast") return RANGE_WORDS[range] ?? range;
  if (METADATA.has(address.toString())) return "metadata";
  // What is unicast but outside the space in use may be translated by someone on the way.
  if (address instanceof ipaddr.IPv6 && !address.match(GLOBAL_UNICAST)) return "reserved";
  return undefined;
}

/**
 * The addresses to dial for a host, a name or a literal. One bad address condemns the name, since whoever
 * answers for it chooses which one we would see. What is returned must be dialled as it is: asking again
 * could bring another answer.
 */
export async function resolvePublic(host: string, lookup: Lookup = lookupAll): Promise<readonly Address[]> {
  const addresses = await resolve(host, lookup);
  for (const { address } of addresses) {
    const kind = refuseAddress(address);
    if (kind === undefined) continue;
    const what = address === bare(host) ? `${host} is` : `${host} resolves to ${address},`;
    throw new AddressRefused(
      `${what} a ${kind} address, which tools may not reach. An operator can except hosts in TOOLS_PRIVATE_HOSTS.`,
    );
  }
  return addresses;
}

/** For hosts the operator excepted: any address will do. */
export async function resolve(host: string, lookup: Lookup = lookupAll): Promise<readonly Address[]> {
  const literal = bare(host);
  const family = isIP(literal);
  const addresses = family === 0 ? await lookup(literal) : [{ address: literal, family }];
  if (addresses.length === 0) throw new AddressRefused(`${host} has no address.`);
  return addresses;
}

function bare(host: string): string {
  return host.replace(/^\[|\]$/g, "");
}

async function lookupAll(host: string): Promise<readonly Address[]> {
  return systemLookup(host, { all: true, verbatim: true });
}
