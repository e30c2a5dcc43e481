/** What a pattern of a capabilities file covers: one meaning for the broker and for the sentences. */

/** `pattern` is exact, or `*.suffix` for names at least one label below; both in lower case. */
export function hostMatches(pattern: string, host: string): boolean {
  return pattern.startsWith("*.")
    ? host.endsWith(pattern.slice(1)) && host.length > pattern.length - 1
    : host === pattern;
}

/** Like `hostMatches`, for a second pattern: true where every host of `inner` is also one of `outer`. */
export function hostCovers(outer: string, inner: string): boolean {
  if (outer === inner) return true;
  return inner.startsWith("*.")
    ? outer.startsWith("*.") && hostMatches(outer, inner.slice(2))
    : hostMatches(outer, inner);
}

/**
 * `prefix` on whole segments: `/v1` covers `/v1` and `/v1/x`, never `/v10`; `/v1/` covers only what is below it.
 * Both paths are decoded and normalised.
 */
export function pathMatches(prefix: string, path: string): boolean {
  return prefix.endsWith("/") ? path.startsWith(prefix) : path === prefix || path.startsWith(`${prefix}/`);
}
