/** Connections on which the address that was checked is the address that is dialled. Loaded with the first request that leaves. */
import { Agent, buildConnector } from "undici";
import type { Dispatcher } from "undici-types";
import { type Lookup, type PrivateHosts, resolveFor } from "./address.ts";

export interface DialOptions {
  /** Hosts that may have a private address; "any" where the operator chose the server and no stranger did. */
  readonly privateHosts: PrivateHosts | "any";
  /** Replaces the system's name service. */
  readonly lookup?: Lookup | undefined;
  readonly connectTimeoutMs?: number | undefined;
  /** Ends a request whose reply has not begun by then, should its sender have forgotten it. */
  readonly headersTimeoutMs?: number | undefined;
  readonly maxHeaderBytes?: number | undefined;
}

type LookupCallback = (error: Error | null, address: unknown, family?: number) => void;

/** Bodies have no limit of their own, and headers only where one is given: the deadline of a request is its sender's. */
export function createDialer(given: DialOptions): Dispatcher {
  const { connectTimeoutMs, headersTimeoutMs = 0, maxHeaderBytes, ...rule } = given;
  const limits = { headersTimeout: headersTimeoutMs, bodyTimeout: 0, maxHeaderSize: maxHeaderBytes };
  const options = { allowH2: false, timeout: connectTimeoutMs };
  if (rule.privateHosts === "any") return new Agent({ ...limits, connect: { timeout: connectTimeoutMs } });
  return new Agent({ ...limits, connect: createConnector(rule.privateHosts, rule.lookup, options) });
}

/** Fails with an `AddressRefused` where a host leads to an address that is not public. */
function createConnector(
  privateHosts: PrivateHosts,
  lookup: Lookup | undefined,
  settings: { readonly allowH2: boolean; readonly timeout: number | undefined },
): buildConnector.connector {
  return (options, callback) => {
    const { hostname, protocol, port } = options;
    // The dispatcher takes the brackets off an IPv6 literal; here it is written as in a URL again.
    const host = hostname.includes(":") ? `[${hostname}]` : hostname;
    resolveFor(new URL(`${protocol}//${host}:${port || ""}`), privateHosts, lookup).then(
      (addresses) => {
        // The connector gets what was found, so that it has no reason to ask the name service again.
        const connectTo = buildConnector({
          ...settings,
          lookup: (_host: string, { all }: { all?: boolean }, found: LookupCallback) => {
            const [first] = addresses;
            if (all) found(null, addresses);
            else found(null, first?.address ?? "", first?.family);
          },
        } as buildConnector.BuildOptions);
        connectTo(options, callback);
      },
      (error: Error) => callback(error, null),
    );
  };
}
