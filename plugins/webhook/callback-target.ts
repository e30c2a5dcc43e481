/** Where callbacks go, and the rule that they never reach a private address the operator did not list. */
import { lookup } from "node:dns";
import type { LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { Fault } from "../../kernel/plugin.ts";

export interface CallbackTarget {
  readonly url: URL;
  /** The operator listed this host and port. */
  readonly mayBePrivate: boolean;
}

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

export function parseHostPort(text: string): HostPort | undefined {
  const url = URL.parse(`http://${text}`);
  const [, port] = /:(\d{1,5})$/.exec(text) ?? [];
  if (url === null || port === undefined || url.pathname !== "/" || url.username !== "") return undefined;
  return { host: url.hostname, port: Number(port) };
}

export function isListed(url: URL, listed: readonly (HostPort | undefined)[]): boolean {
  const port = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  return listed.some((entry) => entry?.host === url.hostname && entry.port === port);
}

/** Anything but a plain, globally routed address: loopback, private, link-local, CGNAT, multicast, metadata. */
function isPrivate(address: string): boolean {
  return !ipaddr.isValid(address) || ipaddr.process(address).range() !== "unicast";
}

/** Throws for an address written in the URL itself, which no lookup will ever see. */
export function assertPublic({ url, mayBePrivate }: CallbackTarget): void {
  const literal = url.hostname.replace(/^\[|\]$/g, "");
  if (!mayBePrivate && ipaddr.isValid(literal) && isPrivate(literal)) throw privateFault(literal);
}

/** The address that was checked is the address that is dialled: the check is the lookup itself. */
export function lookupFor({ mayBePrivate }: CallbackTarget): LookupFunction {
  return (host, options, done) => {
    lookup(host, { ...options, all: true }, (error, addresses) => {
      if (error) return done(error, []);
      const hidden = mayBePrivate ? undefined : addresses.find(({ address }) => isPrivate(address));
      if (hidden) return done(privateFault(hidden.address), []);
      if (options.all) return done(null, addresses);
      const [first] = addresses;
      done(null, first?.address ?? "", first?.family);
    });
  };
}

function privateFault(address: string): Fault {
  return new Fault(
    "forbidden",
    "private_callback",
    `HTTP_CALLBACK_URL leads to the private address ${address}: list its host:port in HTTP_CALLBACK_PRIVATE_HOSTS to allow it`,
    { param: "HTTP_CALLBACK_URL" },
  );
}
