/** Checks tokens and browser sessions, and says whose they are. A refusal never says what was wrong with a token. */
import { timingSafeEqual } from "node:crypto";
import { showWeaknesses } from "../../../kernel/kit/operations.ts";
import { type Log, type Mask, reason } from "../../../kernel/plugin.ts";
import type { Store } from "../../store/services.ts";
import type { Accounts } from "../records/accounts.ts";
import { isInvitation } from "../records/invitations.ts";
import { digestOf, newSecret } from "../records/secret.ts";
import { MIGRATIONS } from "../records/tables.ts";
import { OPERATOR, USED_MS } from "../records/tokens.ts";
import type { SignedIn, SignInRefusal } from "../services.ts";
import type { AccountsConfig } from "../settings.ts";
import { watchExpiry } from "./expiry.ts";
import {
  chosenTokens,
  type OperatorToken,
  provisionOperatorToken,
  shareOperatorTokens,
} from "./operator-token.ts";
import { createThrottle } from "./throttle.ts";

export type SignIn = Awaited<ReturnType<typeof openSignIn>>;

export interface SignInParts {
  readonly config: AccountsConfig;
  readonly home: string;
  readonly store: Store;
  readonly accounts: Accounts;
  readonly mask: Mask;
  readonly log: Log;
}

const TRUST_HINT = "Set OIDC_TRUST_EMAIL=true if the identity provider verifies addresses without saying so.";

export async function openSignIn({ config, home, store, accounts, mask, log }: SignInParts) {
  const linkToken = config.authToken === undefined ? newSecret("") : undefined;
  const tokens: readonly OperatorToken[] = [
    named(config.operatorToken ?? (await provisionOperatorToken(home, store))),
    // Sessions opened by the link of an earlier start stay, though that link has expired.
    linkToken === undefined
      ? named(config.authToken as string)
      : { source: "operator:link", token: linkToken },
  ];
  for (const { token } of tokens) mask.add(token);
  await shareOperatorTokens(store, tokens);
  const operatorTokens = tokens.map(({ source, token }) => ({
    source,
    digest: Buffer.from(digestOf(token)),
  }));
  const throttle = createThrottle(await store.tables("gateway", MIGRATIONS));
  // Few services have an identity provider; the others need not load the code for one.
  const oidc = config.oidc && (await import("./oidc.ts")).createOidcCheck(config.oidc, store.keyed("oidc"));

  /** This node's own tokens; those of the others are in the store. */
  const isOwn = (source: string): boolean => operatorTokens.some((known) => known.source === source);

  /** Nobody waits for it, and a full disk must not lock people out of reading. */
  const inBackground = (marked: Promise<void>): void => {
    marked.catch((error) => log.warn(`the last use of a token could not be stored: ${reason(error)}`));
  };

  const findByToken = async (
    token: string,
    digest: string,
    resource: string | undefined,
  ): Promise<SignedIn | SignInRefusal> => {
    const presented = Buffer.from(digest);
    // Every known token is compared, whichever matches, so that the time tells nothing.
    const [match] = operatorTokens.filter((known) => timingSafeEqual(known.digest, presented));
    if (match) return { user: OPERATOR, source: match.source };
    if (oidc && looksLikeJwt(token)) {
      const verdict = await oidc(token, resource);
      if (verdict.type === "unverified_email")
        log.warn(`a sign-in was refused: the e-mail address is not verified. ${TRUST_HINT}`);
      if (verdict.type === "provider_unavailable")
        log.warn(`the identity provider is not responding: ${verdict.why}`);
      if (verdict.type !== "person") return verdict.type;
      const { user, isNew } = await accounts.admit(verdict.person);
      if (isNew && verdict.person.email === undefined)
        log.warn({ user: user.id }, `added an account without a verified e-mail address. ${TRUST_HINT}`);
      return { user, source: "oidc", expiresAt: verdict.expiresAt };
    }
    const found = await accounts.findToken(digest);
    if (!found) return "unknown";
    const { info, user, source, expiresAt } = found;
    if (info) inBackground(accounts.markUsed(info));
    return { user, source, expiresAt: expiresAt === undefined ? undefined : new Date(expiresAt) };
  };

  const findBySession = async (digest: string): Promise<SignedIn | "unknown"> => {
    const found = await accounts.findSession(digest);
    if (!found || !(found.isSourceLive || isOwn(found.source))) return "unknown";
    const { user, source, expiresAt, lastUsedAt } = found;
    if (lastUsedAt === undefined || Date.now() - Date.parse(lastUsedAt) >= USED_MS)
      inBackground(accounts.markSessionUsed(digest));
    return { user, source, session: digest, expiresAt: new Date(expiresAt) };
  };

  const findByInvitation = async (digest: string): Promise<SignedIn | SignInRefusal> => {
    const user = await accounts.findInvitation(digest);
    const account = user === undefined ? undefined : await accounts.find(user);
    if (account === undefined) return "unknown_invitation";
    const { id, role, name } = account;
    return { user: { id, role, name }, source: "invitation", invitation: digest };
  };

  const judge = async (
    secret: string,
    address: string,
    find: (digest: string) => Promise<SignedIn | SignInRefusal>,
  ): Promise<SignedIn | SignInRefusal> => {
    let verdict: SignedIn | SignInRefusal;
    try {
      verdict = await find(digestOf(secret));
    } catch (error) {
      log.error({ error }, "the token store is not responding");
      return "store_unavailable";
    }
    if (verdict === "unknown" || verdict === "unknown_invitation") await throttle.failed(address);
    return verdict;
  };

  const isValid = async ({ user, source, session, expiresAt }: SignedIn): Promise<boolean> => {
    if (expiresAt !== undefined && expiresAt.getTime() <= Date.now()) return false;
    if (session !== undefined) {
      const found = await accounts.findSession(session);
      return found !== undefined && (found.isSourceLive || isOwn(source));
    }
    if (source === "oidc") return (await accounts.find(user.id)) !== undefined;
    return isOwn(source) || accounts.isSourceLive(source);
  };

  return {
    /** The token of the link that is printed at this start; undefined if the operator set GATEWAY_AUTH_TOKEN. */
    linkToken,
    /** A remark for the start-up table about operator's tokens that are easy to guess; else empty. */
    weaknesses: showWeaknesses(chosenTokens(config, home)),
    issuer: config.oidc?.issuer,
    /** `resource` is a further audience that tokens of the identity provider may be meant for. */
    byToken: (token: string, address: string, resource?: string): Promise<SignedIn | SignInRefusal> =>
      judge(token, address, (digest) => findByToken(token, digest, resource)),
    /** A token, or the secret of an invitation, which is good for a browser session alone. */
    toOpenSession: (secret: string, address: string): Promise<SignedIn | SignInRefusal> =>
      judge(secret, address, (digest) =>
        isInvitation(secret) ? findByInvitation(digest) : findByToken(secret, digest, undefined),
      ),
    bySession: (secret: string, address: string): Promise<SignedIn | SignInRefusal> =>
      judge(secret, address, findBySession),
    /** The same for a browser that presents another credential too: a wrong cookie is neither counted nor slowed down. */
    async peekSession(secret: string): Promise<SignedIn | undefined> {
      const found = await findBySession(digestOf(secret));
      return found === "unknown" ? undefined : found;
    },
    /** True while the credential is neither expired nor revoked. A store that does not respond signs nobody out. */
    async isValid(signedIn: SignedIn): Promise<boolean> {
      try {
        return await isValid(signedIn);
      } catch (error) {
        log.warn(`who is signed in could not be checked: ${reason(error)}`);
        return true;
      }
    },
    close: watchExpiry(store, accounts, log),
  };
}

function looksLikeJwt(token: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token);
}

/** A changed token has another name, so that sessions made from the old one end. */
function named(token: string): OperatorToken {
  return { source: `operator:${digestOf(digestOf(token)).slice(0, 16)}`, token };
}
