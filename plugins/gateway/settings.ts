/** What the gateway reads of the environment. */

import { readTrustedProxies } from "../../kernel/kit.ts";
import { type Env, Off } from "../../kernel/plugin.ts";
import type { OidcConfig } from "./auth/oidc.ts";

export const NEEDS = [
  "kernel",
  "store",
  "agent",
  "threads",
  "attachments",
  "jobs",
  "routines",
  "memory",
  "approvals",
  "identities",
  "settings",
] as const;
export const WANTS = [
  "tools",
  "toolAdmin",
  "mcpServers",
  "integrations",
  "toolCalls",
  "destinations",
  "modelCheck",
  "telemetry",
  "storeHealth",
] as const;
export type Needed = (typeof NEEDS)[number];
export type Wanted = (typeof WANTS)[number];

export interface GatewayConfig {
  readonly host: string;
  readonly port: number;
  readonly authToken: string | undefined;
  readonly operatorToken: string | undefined;
  readonly allowedOrigins: readonly string[];
  readonly trustedProxies: readonly string[];
  readonly oidc: OidcConfig | undefined;
}

export function readSettings(env: Env): GatewayConfig | Off {
  const isOn = env.flag("GATEWAY_ENABLED", true, "The web gateway: browser page, JSON API, WebSocket");
  const config: GatewayConfig = {
    host: env.text("GATEWAY_HOST", "127.0.0.1", "Interface of the gateway; 0.0.0.0 opens it to the network"),
    port: env.port("GATEWAY_PORT", 3000, "Port of the gateway"),
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
    allowedOrigins: readOrigins(env),
    trustedProxies: readTrustedProxies(env),
    oidc: readOidc(env),
  };
  return isOn ? config : new Off("GATEWAY_ENABLED is false");
}

function readToken(env: Env, name: string, about: string): string | undefined {
  const token = env.secret(name, about);
  if (token !== undefined && /[^!-~]/.test(token))
    env.refuse(name, "printable ASCII characters, none of them a blank: a header carries no others");
  return token;
}

function readOrigins(env: Env): readonly string[] {
  const name = "GATEWAY_ALLOWED_ORIGINS";
  const origins = env.list(name, "Origins beside the gateway's own whose pages may use it");
  if (origins.some((origin) => URL.parse(origin)?.origin !== origin))
    env.refuse(name, "origins such as https://chat.example.org, without a path, separated by commas");
  return origins;
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
