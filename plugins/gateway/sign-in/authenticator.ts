/** Reads the credentials of a request and turns a refusal into the plain-text reply of §7.2. */
import type { IncomingMessage } from "node:http";
import type { Context } from "koa";
import { type Proxies, readCookie } from "../../../kernel/kit/http.ts";
import type { Services } from "../../../kernel/plugin.ts";
import type { SignedIn, SignInRefusal } from "../../accounts/services.ts";

export type SignIn = Awaited<ReturnType<Services["accounts"]["openSignIn"]>>;

/** An error whose text is sent to the client as it is. */
export class Refusal extends Error {
  readonly status: 401 | 403 | 503;

  constructor(status: Refusal["status"], text: string) {
    super(text);
    this.status = status;
  }
}

/** The code of a sign-in that a person has to confirm first; its status is 409. */
export const CONFIRM_SIGN_IN = "confirm_sign_in";

export const UNKNOWN = new Refusal(401, "Invalid or missing auth token");
export const FOREIGN_ORIGIN = new Refusal(403, "This origin is not allowed");

const REFUSALS: Readonly<Record<SignInRefusal, Refusal>> = {
  unknown: UNKNOWN,
  unknown_invitation: new Refusal(
    401,
    "This invitation was already used, or it has expired. Ask whoever sent it for a new one.",
  ),
  foreign_domain: new Refusal(403, "This e-mail domain is not allowed"),
  unverified_email: new Refusal(403, "The identity provider has not verified this e-mail address"),
  store_unavailable: new Refusal(503, "Database unavailable"),
  provider_unavailable: new Refusal(503, "Identity provider unavailable"),
};

/** Who sent a request that has passed the sign-in. */
export function identityOf(context: Context): SignedIn {
  const identity = context.state["identity"] as SignedIn | undefined;
  if (identity === undefined) throw new Error(`${context.path} was reached without authentication`);
  return identity;
}

export type Authenticator = ReturnType<typeof createAuthenticator>;

export function createAuthenticator(signIn: SignIn, proxies: Proxies) {
  const refused = (verdict: SignedIn | SignInRefusal) =>
    typeof verdict === "string" ? REFUSALS[verdict] : verdict;
  const sessionIn = (request: IncomingMessage) =>
    readCookie(request.headers.cookie, sessionCookie(proxies.host(request)));
  /** Checks a token that came another way, or to a place with an audience of its own: the `resource`. */
  const admit = async (token: string, request: IncomingMessage, resource?: string) =>
    refused(await signIn.byToken(token, proxies.address(request), resource));
  return {
    admit,
    /** Checks what a browser is to be signed in with: a token, or the secret of an invitation. */
    admitBrowser: async (secret: string, request: IncomingMessage) =>
      refused(await signIn.toOpenSession(secret, proxies.address(request))),
    /** Checks the bearer header, else the session cookie; never the address. */
    async identify(request: IncomingMessage): Promise<SignedIn | Refusal> {
      const { authorization } = request.headers;
      if (authorization !== undefined) {
        const token = readBearer(authorization);
        return token === undefined ? UNKNOWN : admit(token, request);
      }
      const session = sessionIn(request);
      return session === undefined
        ? UNKNOWN
        : refused(await signIn.bySession(session, proxies.address(request)));
    },
    /** Returns whom the browser is signed in as; a wrong cookie is not counted as a guess. */
    async signedIn(request: IncomingMessage) {
      const session = sessionIn(request);
      return session === undefined ? undefined : signIn.peekSession(session);
    },
    isValid: signIn.isValid,
  };
}

/** Browsers keep one cookie jar for all ports of a host, so the port is in the name: gateways on one host do not clash. */
export function sessionCookie(host: string): string {
  const port = /:(\d+)$/.exec(host)?.[1];
  return port === undefined ? "postern_session" : `postern_session_${port}`;
}

export function readBearer(authorization: string): string | undefined {
  const token = /^Bearer /i.test(authorization) ? authorization.slice("Bearer ".length).trim() : "";
  return token ? readHeaderSecret(token) : undefined;
}

/** Tells whether a page may use this gateway: its own pages, and those of the origins that the operator listed. */
export type OriginCheck = (request: IncomingMessage) => boolean;

export function createOriginCheck(allowed: readonly string[], proxies: Proxies): OriginCheck {
  const listed = new Set(allowed);
  return (request) => {
    const { origin } = request.headers;
    // Programs send no origin; a browser always does where it matters: on an upgrade and on unsafe methods.
    if (origin === undefined) return true;
    return listed.has(origin) || URL.parse(origin)?.host === proxies.host(request).toLowerCase();
  };
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });

/** A secret as it was meant: Node reads a header as Latin-1, and clients send letters in that or in UTF-8. */
export function readHeaderSecret(value: string): string {
  if (!/[^\0-\x7f]/.test(value)) return value;
  try {
    return UTF8.decode(Buffer.from(value, "latin1"));
  } catch {
    return value;
  }
}
