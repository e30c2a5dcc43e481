/** JSON Web Tokens of the operator's identity provider, checked against its published keys. */
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from "jose";
import { reason } from "../../../kernel/plugin.ts";

export interface OidcConfig {
  readonly issuer: string;
  readonly audience: string;
  /** Lower case; empty allows every domain. */
  readonly domains: readonly string[];
}

export type OidcVerdict =
  | { readonly type: "user"; readonly id: string; readonly expiresAt: Date }
  | { readonly type: "unknown" }
  | { readonly type: "foreign_domain" }
  | { readonly type: "unavailable"; readonly why: string };

export type OidcCheck = (token: string) => Promise<OidcVerdict>;

const PATIENCE_MILLIS = 5000;
const CLOCK_SKEW_SECS = 30;
// A JWT without an end is still only believed for so long.
const LONGEST_MILLIS = 86_400_000;

export function createOidcCheck({ issuer, audience, domains }: OidcConfig): OidcCheck {
  let keys: Promise<JWTVerifyGetKey> | undefined;
  const findKeys = (): Promise<JWTVerifyGetKey> => {
    keys ??= discover(issuer).catch((error) => {
      keys = undefined;
      throw error;
    });
    return keys;
  };

  return async (token) => {
    let payload: JWTPayload;
    try {
      ({ payload } = await jwtVerify(token, await findKeys(), {
        issuer,
        audience,
        clockTolerance: CLOCK_SKEW_SECS,
      }));
    } catch (error) {
      const isVerdict = error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout);
      return isVerdict ? { type: "unknown" } : { type: "unavailable", why: reason(error) };
    }
    const email = emailOf(payload);
    const domain = email?.split("@").at(-1) ?? "";
    const proven = payload["email_verified"] !== false;
    if (domains.length > 0 && !(proven && domains.includes(domain))) return { type: "foreign_domain" };
    // The @ in the one and the prefix in the other keep a provider from naming somebody "operator".
    const id = email !== undefined && proven ? email : payload.sub && `oidc:${payload.sub}`;
    if (!id) return { type: "unknown" };
    const end = payload.exp === undefined ? Number.POSITIVE_INFINITY : payload.exp * 1000;
    return { type: "user", id, expiresAt: new Date(Math.min(end, Date.now() + LONGEST_MILLIS)) };
  };
}

function emailOf({ email }: JWTPayload & { readonly email?: unknown }): string | undefined {
  return typeof email === "string" && /^[^\s@]+@[^\s@]+$/.test(email) ? email.toLowerCase() : undefined;
}

async function discover(issuer: string): Promise<JWTVerifyGetKey> {
  const address = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const answer = await fetch(address, { signal: AbortSignal.timeout(PATIENCE_MILLIS), redirect: "error" });
  if (!answer.ok) throw new Error(`${address} answered ${answer.status}`);
  const { jwks_uri: uri } = (await answer.json()) as { jwks_uri?: string };
  const url = uri === undefined ? null : URL.parse(uri);
  if (url === null) throw new Error(`${address} names no jwks_uri`);
  return createRemoteJWKSet(url, { timeoutDuration: PATIENCE_MILLIS });
}
