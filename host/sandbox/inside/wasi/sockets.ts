/** `wasi:sockets`, which toolchains link whether or not a program uses it: there is a network, and everything on it is denied. */
import { type Holdings, Refusal, Resource } from "./io.ts";

class Network extends Resource {}
// Nothing ever hands out one of these; the glue only wants the classes to be there.
class ResolveAddressStream {}
class TcpSocket {}
class UdpSocket {}
class IncomingDatagramStream {}
class OutgoingDatagramStream {}

function deny(): never {
  throw new Refusal("access-denied");
}

export function createSockets(holdings: Holdings): Readonly<Record<string, object>> {
  return {
    "wasi:sockets/instance-network": { instanceNetwork: () => new Network(holdings) },
    "wasi:sockets/ip-name-lookup": { resolveAddresses: deny, ResolveAddressStream },
    "wasi:sockets/network": { Network, networkErrorCode: () => undefined },
    "wasi:sockets/tcp": { TcpSocket },
    "wasi:sockets/tcp-create-socket": { createTcpSocket: deny },
    "wasi:sockets/udp": { UdpSocket, IncomingDatagramStream, OutgoingDatagramStream },
    "wasi:sockets/udp-create-socket": { createUdpSocket: deny },
  };
}
