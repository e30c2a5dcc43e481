/**
 * Headers that control the connection or the message framing, or that make some servers act on a different
 * method or path. A tool that could set them could smuggle a second request, address another host, get a
 * response whose size we do not limit, or bypass the rule that allowed the request.
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
