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

/**
 * Headers that control the connection or the message framing, or that make some servers act on a different
 * method or path. A tool that could set them could smuggle a second request, address another host, get a
 * response whose size we do not limit, or bypass the rule that allowed the request.
 */
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

/**
 * True for headers, in lower case, that a tool may not send together with a credential: with them, a server that reflects its
 * request would return a part of the credential at a time or in an encoding that hides it, and a proxy would send it to
 * another place than was allowed.
 */
export function isRefusedBesideCredential(header: string): boolean {
  return BESIDE_CREDENTIALS.test(header);
}

/** True for headers, in lower case, that cannot hold a credential. */
export function cannotHoldCredential(header: string): boolean {
  return RESERVED_HEADERS.has(header) || isRefusedBesideCredential(header);
}
