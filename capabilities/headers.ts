/** Headers of one connection, not of the message: nobody passes them on (RFC 9110, 7.6.1). */
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
 * Headers that a tool may not send together with a credential: a server that reflects its request would answer with a part
 * of it at a time or in an encoding that hides it, and a proxy would send the credential to another place than was allowed.
 * In lower case.
 */
export function isRefusedBesideCredential(header: string): boolean {
  return BESIDE_CREDENTIALS.test(header);
}
