/** Headers of one connection, not of the message: they are not forwarded (RFC 9110, 7.6.1). */
export const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  "connection",
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

/** Headers that control the connection, the framing or the meaning of a request: a tool could bypass its rules with them. */
export const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  ...CONNECTION_HEADERS,
  "accept-encoding",
  "content-length",
  "expect",
  "host",
  "x-http-method",
  "x-http-method-override",
  "x-method-override",
  "x-original-url",
  "x-rewrite-url",
]);

const BESIDE_CREDENTIALS =
  /^(?:range|if-range|accept-encoding|forwarded|x-(?:forwarded|original|rewrite|override|http-method)(?:-.*)?)$/;

/** True for headers, in lower case, with which a credential could be reflected in part, hidden, or sent elsewhere. */
export function isRefusedBesideCredential(header: string): boolean {
  return BESIDE_CREDENTIALS.test(header);
}

/** True for headers, in lower case, that cannot hold a credential. */
export function cannotHoldCredential(header: string): boolean {
  return RESERVED_HEADERS.has(header) || isRefusedBesideCredential(header);
}
