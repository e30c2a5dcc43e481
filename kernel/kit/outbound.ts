/** Requests that leave Postern, and the one rule for addresses that strangers may make us dial. */

export {
  AddressRefused,
  hostAndPort,
  isLoopback,
  type Lookup,
  localKind,
  type PrivateHosts,
  parsePrivateHosts,
  resolveFor,
} from "../net/address.ts";
export {
  createOutbound,
  createThrottle,
  type FetchBounds,
  MAX_REPLY_BYTES,
  type Outbound,
  OutboundError,
  type OutboundOptions,
  type OutboundReply,
  type OutboundRequest,
} from "../net/outbound.ts";
