/** JSON Web Tokens of the operator's identity provider, checked against its published keys. */
import { errors, type JWTPayload, jwtVerify } from "jose";
import type Keyv from "keyv";
import { reason } from "../../../kernel/plugin.ts";
import type { Person } from "./people.ts";
import { createProviderKeys } from "./provider-keys.ts";

export interface OidcConfig {
  readonly issuer: string;
  readonly audience: string;
  /** Lower case; empty allows every domain. */
  readonly domains: readonly string[];
  /** The provider hands out only verified addresses and leaves the claim out. */
  readonly trustsEmail: boolean;
}

export type OidcVerdict =
  | { readonly type: "person"; readonly person: Person; readonly expiresAt: Date }
  | { readonly type: "unknown" }
  | { readonly type: "foreign_domain" }
  | { readonly type: "unverified_email" }
  | { readonly type: "unavailable"; readonly why: string };

/** `resource`: another audience that counts where the token was presented. */
export type OidcCheck = (token: string, resource?: string) => Promise<OidcVerdict>;

const CLOCK_SKEW_SECS = 30;
// A JWT without an end is still only believed for so long.
const LONGEST_MILLIS = 86_400_000;

export function createOidcCheck(config: OidcConfig, keyed: Keyv): OidcCheck {
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
      return isVerdict ? { type: "unknown" } : { type: "unavailable", why: reason(error) };
    }
    const { sub: subject, email_verified: verified } = payload;
    if (!subject) return { type: "unknown" };
    // Providers send all sorts of things for "no"; only this is a yes.
    const isVerified = verified === true || (trustsEmail && verified === undefined);
    const email = emailOf(payload);
    if (domains.length > 0) {
      if (email === undefined || !domains.includes(email.split("@").at(-1) ?? ""))
        return { type: "foreign_domain" };
      if (!isVerified) return { type: "unverified_email" };
    }
    const person = { issuer, subject, ...(isVerified && email !== undefined && { email }) };
    const end = payload.exp === undefined ? Number.POSITIVE_INFINITY : payload.exp * 1000;
    return { type: "person", person, expiresAt: new Date(Math.min(end, Date.now() + LONGEST_MILLIS)) };
  };
}

function emailOf({ email }: JWTPayload & { readonly email?: unknown }): string | undefined {
  return typeof email === "string" && /^[^\s@]+@[^\s@]+$/.test(email) ? email.toLowerCase() : undefined;
}
