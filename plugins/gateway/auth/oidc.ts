/** JSON Web Tokens of the operator's identity provider, checked against its published keys. */
import { errors, type JWTPayload, jwtVerify } from "jose";
import type Keyv from "keyv";
import { reason } from "../../../kernel/plugin.ts";
import { createProviderKeys } from "./provider-keys.ts";

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

const CLOCK_SKEW_SECS = 30;
// A JWT without an end is still only believed for so long.
const LONGEST_MILLIS = 86_400_000;

export function createOidcCheck({ issuer, audience, domains }: OidcConfig, keyed: Keyv): OidcCheck {
  const keys = createProviderKeys(issuer, keyed);
  return async (token) => {
    let payload: JWTPayload;
    try {
      ({ payload } = await jwtVerify(token, keys, {
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
