/** Ties a sign-in at a provider to the browser that began it. `Lax`: the provider sends the browser back from another site. */
import { createHash } from "node:crypto";
import type { Context } from "koa";
import { readCookie } from "./authenticator.ts";

const LONGEST_SECS = 600;

/** `url`: where the browser goes, with the `state` it comes back with. */
export function markBrowser({ res }: Context, url: string, comesBackTo: string): void {
  const name = nameOf(new URL(url));
  const { pathname, protocol } = new URL(comesBackTo);
  const secure = protocol === "https:" ? "; Secure" : "";
  if (name !== undefined)
    res.appendHeader(
      "Set-Cookie",
      `${name}=1; Path=${pathname}; HttpOnly; SameSite=Lax; Max-Age=${LONGEST_SECS}${secure}`,
    );
}

export function isMarked({ req }: Context, redirected: URL): boolean {
  const name = nameOf(redirected);
  return name !== undefined && readCookie(req.headers.cookie, name) === "1";
}

/** Nobody who does not know the state can set it beforehand. */
function nameOf({ searchParams }: URL): string | undefined {
  const state = searchParams.get("state");
  return state === null
    ? undefined
    : `sign-in-${createHash("sha256").update(state).digest("hex").slice(0, 32)}`;
}
