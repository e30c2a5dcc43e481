/** The settings of sign-in: the operator's tokens and the identity provider. */
import type { Env } from "../../kernel/plugin.ts";

export interface OidcConfig {
  readonly issuer: string;
  readonly audience: string;
  /** Lower case; empty allows every domain. */
  readonly domains: readonly string[];
  /** True if the provider hands out only verified addresses and leaves the claim out. */
  readonly trustsEmail: boolean;
}

export type AccountsConfig = ReturnType<typeof readSettings>;

export function readSettings(env: Env) {
  return {
    authToken: readToken(
      env,
      "GATEWAY_AUTH_TOKEN",
      "Token that opens the page; a fresh one at each start if unset",
    ),
    operatorToken: readToken(
      env,
      "SERVICE_REBORN_WEBUI_TOKEN",
      "Operator bearer token, in place of the one in the home's webui-token file",
    ),
    oidc: readOidc(env),
  };
}

function readToken(env: Env, name: string, about: string): string | undefined {
  const token = env.secret(name, about);
  if (token !== undefined && !isSendable(token)) env.refuse(name, SENDABLE);
  return token;
}

function readOidc(env: Env): OidcConfig | undefined {
  const issuer = env.url("OIDC_ISSUER", undefined, "Identity provider whose JSON Web Tokens are accepted");
  const audience = env.text("OIDC_AUDIENCE", undefined, "The audience its tokens must be meant for");
  const domains = env.list("OIDC_ALLOWED_DOMAINS", "E-mail domains that may enter; all if unset");
  const trustsEmail = env.flag(
    "OIDC_TRUST_EMAIL",
    false,
    "Take e-mail addresses as verified where the provider does not say",
  );
  if (issuer === undefined) return undefined;
  // Without it a token that the provider made for any other application would open this one.
  if (audience === undefined) {
    env.refuse("OIDC_AUDIENCE", "the audience of this service, since OIDC_ISSUER is set");
    return undefined;
  }
  return { issuer, audience, domains: domains.map((domain) => domain.toLowerCase()), trustsEmail };
}

/** Describes in words what `isSendable` accepts. */
export const SENDABLE =
  "one line without blanks at its ends or control characters, since it is sent in a header";

/** True when a header can carry the secret: blanks and letters of any script can be in it. */
export const isSendable = (secret: string): boolean =>
  secret !== "" && secret.trim() === secret && !/[\p{Cc}\u2028\u2029]/u.test(secret);
