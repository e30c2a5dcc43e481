/** JSON Web Tokens of the operator's identity provider, checked against its published keys. */
import {
  createRemoteJWKSet,
  customFetch,
  errors,
  type JWKSCacheInput,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwksCache,
  jwtVerify,
  type RemoteJWKSet,
} from "jose";
import { createOutbound } from "../../../kernel/kit/outbound.ts";
import { type Keyed, reason } from "../../../kernel/plugin.ts";
import type { Person } from "../records/people.ts";
import type { OidcConfig } from "../settings.ts";

export type OidcVerdict =
  | { readonly type: "person"; readonly person: Person; readonly expiresAt: Date }
  | { readonly type: "unknown" | "foreign_domain" | "unverified_email" }
  | { readonly type: "provider_unavailable"; readonly why: string };

/** `resource` is a further audience that the token may be meant for. */
export type OidcCheck = (token: string, resource?: string) => Promise<OidcVerdict>;

const CLOCK_SKEW_SECS = 30;
const MAX_EMAIL_LENGTH = 254;
// A JWT that never expires is accepted only for so long at a time.
const MAX_LIFETIME_MS = 86_400_000;

export function createOidcCheck(config: OidcConfig, keyed: Keyed<unknown>): OidcCheck {
  const { issuer, audience, domains, trustsEmail } = config;
  const keys = createProviderKeys(issuer, keyed);
  return async (token, resource) => {
    let payload: JWTPayload;
    try {
      ({ payload } = await jwtVerify(token, keys, {
        issuer,
        audience: resource === undefined ? audience : [audience, resource],
        clockTolerance: CLOCK_SKEW_SECS,
      }));
    } catch (error) {
      const isVerdict = error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout);
      return isVerdict ? { type: "unknown" } : { type: "provider_unavailable", why: reason(error) };
    }
    const { sub: subject, email_verified: verified } = payload;
    // A token that tells of an event, such as a sign-out, is no one's sign-in.
    if (typeof subject !== "string" || subject === "" || "events" in payload) return { type: "unknown" };
    // Providers send all sorts of values for "no"; only `true` is a yes.
    const isVerified = verified === true || (trustsEmail && verified === undefined);
    const email = emailOf(payload);
    if (domains.length > 0) {
      if (email === undefined || !domains.includes(email.split("@").at(-1) ?? ""))
        return { type: "foreign_domain" };
      if (!isVerified) return { type: "unverified_email" };
    }
    const person = { issuer, subject, email: isVerified ? email : undefined };
    const end = payload.exp === undefined ? Number.POSITIVE_INFINITY : payload.exp * 1000;
    return { type: "person", person, expiresAt: new Date(Math.min(end, Date.now() + MAX_LIFETIME_MS)) };
  };
}

function emailOf({ email }: JWTPayload & { readonly email?: unknown }): string | undefined {
  const isPlain =
    typeof email === "string" &&
    email.length <= MAX_EMAIL_LENGTH &&
    /^[^\s@\p{C}]+@[^\s@\p{C}]+$/u.test(email);
  // Only these letters: others become one of them, and so an address could turn into somebody else's.
  return isPlain ? email.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : undefined;
}

const TIMEOUT_MS = 5000;
const MAX_DOCUMENT_BYTES = 1024 * 1024;
// The operator chose the provider, which may well be in the same private network.
const outbound = createOutbound({ privateHosts: "any" });
// Providers change the address of their keys seldom, and the keys now and then.
const ADDRESS_TTL_MS = 86_400_000;
const KEYS_TTL_MS = 600_000;

interface KeySet {
  readonly address: string;
  readonly find: RemoteJWKSet;
  /** Written by jose: the keys it fetched, and when. */
  readonly cache: JWKSCacheInput;
}

/** The keys are kept in the store, so that a restart neither waits for the provider nor fails with it. */
function createProviderKeys(issuer: string, keyed: Keyed<unknown>): JWTVerifyGetKey {
  let pending: Promise<string> | undefined;
  // Kept in memory so that a request need not read the store.
  let found: { readonly address: string; readonly until: number } | undefined;
  let known: KeySet | undefined;

  /** Nobody waits until it is on disk: a value that could not be kept is fetched again. */
  const keep = (name: string, value: unknown, millis: number): void => {
    keyed.set(name, value, millis).catch(() => {});
  };

  const findAddress = async (): Promise<string> => {
    if (found !== undefined && Date.now() < found.until) return found.address;
    const address = await askForAddress();
    found = { address, until: Date.now() + KEYS_TTL_MS };
    return address;
  };

  const askForAddress = async (): Promise<string> => {
    const name = `checked address ${issuer}`;
    const kept = await keyed.get(name);
    if (typeof kept === "string") return kept;
    pending ??= discover(issuer).finally(() => {
      pending = undefined;
    });
    const address = await pending;
    keep(name, address, ADDRESS_TTL_MS);
    return address;
  };

  const open = async (address: string): Promise<KeySet> => {
    const cache = ((await keyed.get(`keys ${address}`)) ?? {}) as JWKSCacheInput;
    const options = {
      timeoutDuration: TIMEOUT_MS,
      cacheMaxAge: KEYS_TTL_MS,
      [jwksCache]: cache,
      [customFetch]: (url: string, init: RequestInit) =>
        outbound.fetch(new URL(url), init, { maxBytes: MAX_DOCUMENT_BYTES, returnsRedirects: true }),
    };
    return { address, cache, find: createRemoteJWKSet(new URL(address), options) };
  };

  return async (header, token) => {
    const address = await findAddress();
    if (known?.address !== address) {
      const opened = await open(address);
      // Another request may have opened the set in the meantime: all of them share one fetch.
      if (known?.address !== address) known = opened;
    }
    const { find, cache } = known;
    const fetchedAt = cache.uat;
    const key = await find(header, token);
    if (cache.uat !== fetchedAt) keep(`keys ${address}`, cache, KEYS_TTL_MS);
    return key;
  };
}

async function discover(issuer: string): Promise<string> {
  const address = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const { status, body } = await outbound.send({
    url: new URL(address),
    timeoutMs: TIMEOUT_MS,
    maxBytes: MAX_DOCUMENT_BYTES,
  });
  if (status < 200 || status > 299) throw new Error(`${address} returned ${status}`);
  const { issuer: named, jwks_uri: uri } = JSON.parse(Buffer.from(body).toString()) as {
    issuer?: unknown;
    jwks_uri?: unknown;
  };
  // A document of another issuer would bring keys of its own choosing.
  if (named !== issuer)
    throw new Error(
      `${address} names the issuer ${JSON.stringify(named)}, not ${issuer}: they must be equal`,
    );
  const url = typeof uri === "string" ? URL.parse(uri) : null;
  if (url === null) throw new Error(`${address} names no jwks_uri`);
  if (issuer.startsWith("https:") && url.protocol !== "https:")
    throw new Error(`${address} names a jwks_uri without https`);
  return url.href;
}
