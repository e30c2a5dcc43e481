/**
 * Headers that govern the connection or the framing of the message. They are the sender's own: in the hands
 * of a tool they smuggle a second request, name another host, or ask for an answer we do not bound.
 */
export const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  "accept-encoding",
  "connection",
  "content-length",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
