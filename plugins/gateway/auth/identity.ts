/** From what a request presents to who sent it. The answer to a wrong token never says what was wrong with it. */
import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Proxies } from "../../../kernel/kit.ts";
import { type Log, reason, type User } from "../../../kernel/plugin.ts";
import type { Accounts } from "./accounts.ts";
import type { OidcCheck } from "./oidc.ts";
import type { Throttle } from "./throttle.ts";
import { digestOf } from "./tokens/secret.ts";
import { OPERATOR, USED_MILLIS } from "./tokens/tokens.ts";

/** Browsers keep one jar for all ports of a host, so the port is in the name: gateways side by side do not clash. */
export function sessionCookie(host: string): string {
  const port = /:(\d+)$/.exec(host)?.[1];
  return port === undefined ? "postern_session" : `postern_session_${port}`;
}

/** What somebody proved, in a form that can be looked at again without keeping the secret. */
export interface Identity {
  readonly user: User;
  /** Names the credential: a session made from it ends with it. */
  readonly source: string;
  /** The digest of the session cookie, where that was presented. */
  readonly session?: string;
  readonly expiresAt?: Date;
}

/** The plain-text answers of §7.2; thrown, they reach the caller as they are. */
export class Refusal extends Error {
  readonly status: 401 | 403 | 503;

  constructor(status: Refusal["status"], text: string) {
    super(text);
    this.status = status;
  }
}

/** The code of a sign-in that a person has to confirm first; answered with 409. */
export const CONFIRM_SIGN_IN = "confirm_sign_in";

export const UNKNOWN = new Refusal(401, "Invalid or missing auth token");
const FOREIGN_DOMAIN = new Refusal(403, "This e-mail domain is not allowed");
const UNVERIFIED_EMAIL = new Refusal(403, "The identity provider has not verified this e-mail address");
const NO_DATABASE = new Refusal(503, "Database unavailable");
export const FOREIGN_ORIGIN = new Refusal(403, "This origin is not allowed");
const NO_PROVIDER = new Refusal(503, "Identity provider unavailable");

const TRUST_HINT = "Set OIDC_TRUST_EMAIL=true if the identity provider verifies addresses without saying so.";

export interface Authenticator {
  /** By the bearer header, else by the session cookie; never by the address. */
  identify(request: IncomingMessage, address: string): Promise<Identity | Refusal>;
  /** The same for a token that came another way, or to a place with an audience of its own: the `resource`. */
  admit(token: string, address: string, resource?: string): Promise<Identity | Refusal>;
  /** Who the browser of a request is signed in as; nothing is counted or waited for. */
  signedIn(request: IncomingMessage): Promise<Identity | undefined>;
  /** Is what was proved still true? */
  stands(identity: Identity): Promise<boolean>;
}

export interface OperatorToken {
  /** Stays the same over a restart only where the token does, and so do the sessions made from it. */
  readonly source: string;
  readonly token: string;
}

export interface AuthenticatorOptions {
  readonly operatorTokens: readonly OperatorToken[];
  readonly accounts: Accounts;
  readonly oidc?: OidcCheck;
  readonly throttle: Throttle;
  readonly proxies: Proxies;
  readonly log: Log;
}

export function createAuthenticator(options: AuthenticatorOptions): Authenticator {
  const { accounts, oidc, throttle, proxies, log } = options;
  const operatorTokens = options.operatorTokens.map(({ source, token }) => ({
    source,
    digest: Buffer.from(digestOf(token)),
  }));

  /** This node's own tokens; those of the others are in the store. */
  const isOwn = (source: string): boolean => operatorTokens.some((known) => known.source === source);

  const byToken = async (
    token: string,
    digest: string,
    resource: string | undefined,
  ): Promise<Identity | Refusal> => {
    const presented = Buffer.from(digest);
    // Every known token is compared, whichever matches: the time says nothing.
    const [match] = operatorTokens.filter((known) => timingSafeEqual(known.digest, presented));
    if (match) return { user: OPERATOR, source: match.source };
    if (oidc && looksLikeJwt(token)) {
      const verdict = await oidc(token, resource);
      if (verdict.type === "unknown") return UNKNOWN;
      if (verdict.type === "foreign_domain") return FOREIGN_DOMAIN;
      if (verdict.type === "unverified_email") {
        log.warn(`a sign-in was refused: the e-mail address is not verified. ${TRUST_HINT}`);
        return UNVERIFIED_EMAIL;
      }
      if (verdict.type === "unavailable") {
        log.warn(`the identity provider is not responding: ${verdict.why}`);
        return NO_PROVIDER;
      }
      const { user, isNew } = await accounts.admit(verdict.person);
      if (isNew && verdict.person.email === undefined)
        log.warn({ user: user.id }, `added an account without a verified e-mail address. ${TRUST_HINT}`);
      return { user, source: "oidc", expiresAt: verdict.expiresAt };
    }
    const found = await accounts.findToken(digest);
    if (!found) return UNKNOWN;
    const { info, user, source, expiresAt } = found;
    if (info) markUsed(accounts.markUsed(info));
    return { user, source, ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt) }) };
  };

  /** Nobody waits for it, and a full disk must not lock people out of reading. */
  const markUsed = (marked: Promise<void>): void => {
    marked.catch((error) => log.warn(`the last use of a token could not be stored: ${reason(error)}`));
  };

  const bySession = async (digest: string): Promise<Identity | Refusal> => {
    const found = await accounts.findSession(digest);
    if (!found || !(found.isSourceLive || isOwn(found.source))) return UNKNOWN;
    const { user, source, expiresAt, lastUsedAt } = found;
    if (lastUsedAt === undefined || Date.now() - Date.parse(lastUsedAt) >= USED_MILLIS)
      markUsed(accounts.markSessionUsed(digest));
    return { user, source, session: digest, expiresAt: new Date(expiresAt) };
  };

  const judge = async (
    secret: string,
    address: string,
    look: (digest: string) => Promise<Identity | Refusal>,
  ): Promise<Identity | Refusal> => {
    const digest = digestOf(secret);
    let verdict: Identity | Refusal;
    try {
      verdict = await look(digest);
    } catch (error) {
      log.error({ error }, "the token store is not responding");
      return NO_DATABASE;
    }
    if (verdict === UNKNOWN) await throttle.failed(address);
    return verdict;
  };

  const admit: Authenticator["admit"] = (token, address, resource) =>
    judge(token, address, (digest) => byToken(token, digest, resource));

  return {
    admit,
    async identify(request, address) {
      const { authorization, cookie } = request.headers;
      if (authorization !== undefined) {
        const token = readBearer(authorization);
        return token === undefined ? UNKNOWN : admit(token, address);
      }
      const session = readCookie(cookie, sessionCookie(proxies.host(request)));
      return session === undefined ? UNKNOWN : judge(session, address, bySession);
    },
    async signedIn(request) {
      const session = readCookie(request.headers.cookie, sessionCookie(proxies.host(request)));
      const found = session === undefined ? UNKNOWN : await bySession(digestOf(session));
      return found instanceof Refusal ? undefined : found;
    },
    async stands({ user, source, session, expiresAt }) {
      if (expiresAt !== undefined && expiresAt.getTime() <= Date.now()) return false;
      if (session !== undefined) {
        const found = await accounts.findSession(session);
        return found !== undefined && (found.isSourceLive || isOwn(source));
      }
      if (source === "oidc") return (await accounts.findUser(user.id)) !== undefined;
      return isOwn(source) || accounts.isSourceLive(source);
    },
  };
}

export function readBearer(authorization: string): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
}

function looksLikeJwt(token: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token);
}

export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(";") ?? []) {
    const at = pair.indexOf("=");
    if (pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim() || undefined;
  }
  return undefined;
}
