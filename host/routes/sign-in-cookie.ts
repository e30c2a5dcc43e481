/** Ties a sign-in at a provider to the browser that began it. `Lax`: the provider sends the browser back from another site. */
import { createHash } from "node:crypto";
import type { Context } from "koa";
import { readCookie } from "../../kernel/kit/http.ts";

const MAX_AGE_SECS = 600;

/** `url` is where the browser is sent, with the `state` that it brings back to `comesBackTo`. */
export function markBrowser({ res }: Context, url: string, comesBackTo: string): void {
  const name = nameOf(new URL(url));
  const { pathname, protocol } = new URL(comesBackTo);
  const secure = protocol === "https:" ? "; Secure" : "";
  if (name !== undefined)
    res.appendHeader(
      "Set-Cookie",
      `${name}=1; Path=${pathname}; HttpOnly; SameSite=Lax; Max-Age=${MAX_AGE_SECS}${secure}`,
    );
}

export function isMarked({ req }: Context, redirected: URL): boolean {
  const name = nameOf(redirected);
  return name !== undefined && readCookie(req.headers.cookie, name) === "1";
}

/** The name contains a digest of the state, so only somebody who knows the state can set the cookie beforehand. */
function nameOf({ searchParams }: URL): string | undefined {
  const state = searchParams.get("state");
  return state === null
    ? undefined
    : `sign-in-${createHash("sha256").update(state).digest("hex").slice(0, 32)}`;
}
