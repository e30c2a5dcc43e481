/** Connections for undici on which the address that was checked is the address that is dialled. */
import { buildConnector } from "undici";
import { type Lookup, type PrivateHosts, resolveFor } from "./address.ts";

export interface ConnectorOptions {
  readonly privateHosts: PrivateHosts;
  /** A test's own name service. */
  readonly lookup?: Lookup | undefined;
  readonly allowH2?: boolean;
  /** For the connection alone. */
  readonly timeout?: number;
}

type LookupCallback = (error: Error | null, address: unknown, family?: number) => void;

/** Fails with an `AddressRefused` where a host leads to an address that is not public. */
export function createConnector({
  privateHosts,
  lookup,
  ...rest
}: ConnectorOptions): buildConnector.connector {
  return (options, callback) => {
    const { hostname, protocol, port } = options;
    // The dispatcher takes the brackets off an IPv6 literal; here it is written as in a URL again.
    const host = hostname.includes(":") ? `[${hostname}]` : hostname;
    resolveFor(new URL(`${protocol}//${host}:${port || ""}`), privateHosts, lookup).then(
      (addresses) => {
        // The connector gets what was found, so that it has no reason to ask the name service again.
        const connectTo = buildConnector({
          ...rest,
          lookup: (_host: string, { all }: { all?: boolean }, answer: LookupCallback) => {
            const [first] = addresses;
            if (all) answer(null, addresses);
            else answer(null, first?.address ?? "", first?.family);
          },
        } as buildConnector.BuildOptions);
        connectTo(options, callback);
      },
      (error: Error) => callback(error, null),
    );
  };
}
