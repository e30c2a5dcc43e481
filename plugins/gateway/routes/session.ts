/** Sign-in and sign-out of a browser: a token is exchanged once for a cookie that scripts cannot read. */
import type { Context } from "koa";
import type { Proxies } from "../../../kernel/net/proxies.ts";
import { Type } from "../../../kernel/vocabulary/wire/type.ts";
import { Session } from "../api/schemas.ts";
import type { Accounts } from "../auth/accounts.ts";
import {
  type Authenticator,
  FOREIGN_ORIGIN,
  type Identity,
  Refusal,
  sessionCookie,
} from "../auth/identity.ts";
import type { OriginCheck } from "../auth/origin.ts";
import { type Route, route } from "../route.ts";

const SESSION_MILLIS = 30 * 86_400_000;

export interface SessionParts {
  readonly accounts: Accounts;
  readonly authenticator: Authenticator;
  readonly proxies: Proxies;
  readonly isOwnOrigin: OriginCheck;
  /** Told when a credential ended, so that what hangs on it ends too. */
  onRevoked(): void;
}

export function sessionRoutes({
  accounts,
  authenticator,
  proxies,
  isOwnOrigin,
  onRevoked,
}: SessionParts): readonly Route[] {
  const setCookie = ({ req, res }: Context, value: string, expires: Date): void => {
    const secure = proxies.isHttps(req) ? "; Secure" : "";
    res.appendHeader(
      "Set-Cookie",
      `${sessionCookie(proxies.host(req))}=${value}; Path=/; HttpOnly; SameSite=Strict; Expires=${expires.toUTCString()}${secure}`,
    );
  };
  const open = (context: Context, { user, source, expiresAt }: Identity) => {
    const longest = Date.now() + SESSION_MILLIS;
    const expires = new Date(Math.min(longest, expiresAt?.getTime() ?? longest));
    setCookie(context, accounts.openSession(user.id, source, expires), expires);
    return { user };
  };

  return [
    route({
      method: "post",
      path: "/api/session",
      tag: "session",
      summary: "Exchange a token for a session cookie",
      audience: "anyone",
      body: Type.Object({ token: Type.String({ minLength: 1, maxLength: 16_384 }) }),
      answer: Session,
      refusals: { 401: "The token is wrong", 403: "A foreign page asked", 429: "Too many wrong tokens" },
      async handle({ body: { token }, context }) {
        if (!isOwnOrigin(context.req)) throw FOREIGN_ORIGIN;
        const verdict = await authenticator.admit(token, proxies.address(context.req));
        if (verdict instanceof Refusal) throw verdict;
        return open(context, verdict);
      },
    }),
    route({
      method: "get",
      path: "/api/session",
      tag: "session",
      summary: "Get the signed-in user",
      answer: Session,
      handle: ({ user }) => ({ user }),
    }),
    route({
      method: "delete",
      path: "/api/session",
      tag: "session",
      summary: "Sign out and end the session",
      status: 204,
      handle({ identity, context }) {
        if (identity.session !== undefined) accounts.closeSession(identity.session);
        setCookie(context, "", new Date(0));
        onRevoked();
      },
    }),
  ];
}
