/**
 * Headers that govern the connection or the framing of the message, or that make some servers act on another
 * method or path than the request's. In the hands of a tool they smuggle a second request, name another host,
 * ask for an answer we do not bound, or walk around the rule that let the request through.
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
  "x-http-method",
  "x-http-method-override",
  "x-method-override",
  "x-original-url",
  "x-rewrite-url",
]);
