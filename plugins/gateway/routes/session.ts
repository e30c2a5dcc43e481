/** Sign-in and sign-out of a browser: a token is exchanged once for a cookie that scripts cannot read. */

import type { Context } from "koa";
import { invalidFault, type Route, routesOf } from "../../../kernel/kit/http.ts";
import { expiresSoon, User } from "../../../kernel/kit/people.ts";
import { type Declared, Time, Type } from "../../../kernel/kit/schema.ts";
import type { SignedIn } from "../../accounts/services.ts";
import type { RouteParts } from "../route.ts";
import {
  CONFIRM_SIGN_IN,
  FOREIGN_ORIGIN,
  identityOf,
  Refusal,
  sessionCookie,
  UNKNOWN,
} from "../sign-in/authenticator.ts";

const route = routesOf("session");

const Session = Type.Object({
  user: User,
  expiresAt: Type.Optional({ ...Time, description: "When this sign-in ends; only within 7 days of it" }),
});

const SESSION_MS = 30 * 86_400_000;

export function sessionRoutes({
  accounts,
  authenticator,
  proxies,
  isOwnOrigin,
  onRevoked,
}: Pick<
  RouteParts,
  "accounts" | "authenticator" | "proxies" | "isOwnOrigin" | "onRevoked"
>): readonly Route[] {
  const setCookie = ({ req, res }: Context, value: string, expires: Date): void => {
    const secure = proxies.isHttps(req) ? "; Secure" : "";
    res.appendHeader(
      "Set-Cookie",
      `${sessionCookie(proxies.host(req))}=${value}; Path=/; HttpOnly; SameSite=Strict; Expires=${expires.toUTCString()}${secure}`,
    );
  };
  const open = async (
    context: Context,
    { user, source, expiresAt, invitation }: SignedIn,
    before: SignedIn | undefined,
  ): Promise<Declared<typeof Session>> => {
    const longest = Date.now() + SESSION_MS;
    const expires = new Date(Math.min(longest, expiresAt?.getTime() ?? longest));
    const secret = await accounts.openSession({
      user: user.id,
      source,
      expiresAt: expires,
      browser: context.get("user-agent") || undefined,
      // The browser drops its old cookie, so nobody could end that session any more.
      replaces: before?.session,
      invitation,
    });
    if (secret === undefined) throw UNKNOWN;
    if (before?.session !== undefined) await onRevoked();
    setCookie(context, secret, expires);
    return signedIn(user, source, expires);
  };

  return [
    route("POST /api/session", {
      summary: "Exchange a token, or the secret of an invitation, for a session cookie",
      audience: "anyone",
      body: Type.Object({
        token: Type.String({ minLength: 1, maxLength: 16_384 }),
        fromLink: Type.Optional(
          Type.Boolean({
            description: "It came in a link, so ask before signing in as anybody but the operator",
          }),
        ),
        confirmed: Type.Optional(Type.Boolean({ description: "The person knows whose token it is" })),
      }),
      answer: Session,
      refusals: {
        401: "The token is wrong, or the invitation was used or has expired",
        403: "A foreign page asked",
        409: "The browser is signed in as somebody else, or a link is for somebody: send `confirmed`",
      },
      async handle({ body: { token, fromLink = false, confirmed = false }, context }) {
        if (!isOwnOrigin(context.req)) throw FOREIGN_ORIGIN;
        const verdict = await authenticator.admitBrowser(token, context.req);
        if (verdict instanceof Refusal) throw verdict;
        const before = await authenticator.signedIn(context.req);
        const question = confirmed ? undefined : questionOf(verdict, before, fromLink);
        if (question !== undefined) throw invalidFault(CONFIRM_SIGN_IN, question, "confirmed");
        return open(context, verdict, before);
      },
    }),
    route("GET /api/session", {
      summary: "Get the signed-in user",
      answer: Session,
      scoped: true,
      handle({ user, context }) {
        const { source, expiresAt } = identityOf(context);
        return signedIn(user, source, expiresAt);
      },
    }),
    route("DELETE /api/session", {
      summary: "Sign out and end the session",
      scoped: true,
      status: 204,
      async handle({ context }) {
        const { session } = identityOf(context);
        if (session !== undefined) await accounts.closeSession(session);
        setCookie(context, "", new Date(0));
        await onRevoked();
      },
    }),
  ];
}

/** Returns the question to confirm first: with a link to their account, somebody could read all that is typed. */
function questionOf(next: SignedIn, before: SignedIn | undefined, fromLink: boolean): string | undefined {
  if (before !== undefined && before.user.id !== next.user.id)
    return `You are signed in as ${shown(before.user)}. This ${fromLink ? "link" : "token"} is for ${shown(next.user)}.`;
  const isOwn = before !== undefined || next.source.startsWith("operator:");
  return fromLink && !isOwn ? `This link signs you in as ${shown(next.user)}.` : undefined;
}

/** Sign-ins by an identity provider are short and renewed, so their end is not shown. */
function signedIn(user: User, source: string, expires: Date | undefined): Declared<typeof Session> {
  const expiresAt = source === "oidc" ? undefined : expires?.toISOString();
  return { user, expiresAt: expiresSoon({ expiresAt }) ? expiresAt : undefined };
}

function shown({ id, name }: User): string {
  return name === undefined || name === id ? id : `${name} (${id})`;
}
