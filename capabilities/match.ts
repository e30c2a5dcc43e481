/** Pattern matching for capabilities files, shared by the broker and the descriptions. */

import { ANY_HOST } from "./capabilities.ts";

/** `pattern` is exact, `*.suffix` for names at least one label longer, or `*` for all. Both arguments in lower case. */
export function hostMatches(pattern: string, host: string): boolean {
  if (pattern === ANY_HOST) return true;
  return pattern.startsWith("*.")
    ? host.endsWith(pattern.slice(1)) && host.length > pattern.length - 1
    : host === pattern;
}

/** Like `hostMatches`, but for two patterns: true if every host that matches `inner` also matches `outer`. */
export function hostCovers(outer: string, inner: string): boolean {
  if (outer === inner || outer === ANY_HOST) return true;
  if (inner === ANY_HOST) return false;
  return inner.startsWith("*.")
    ? outer.startsWith("*.") && hostMatches(outer, inner.slice(2))
    : hostMatches(outer, inner);
}

/** Matches whole segments of decoded, normalised paths: `/v1` covers `/v1/x`, never `/v10`; `/v1/` only what is below it. */
export function pathMatches(prefix: string, path: string): boolean {
  return prefix.endsWith("/") ? path.startsWith(prefix) : path === prefix || path.startsWith(`${prefix}/`);
}
