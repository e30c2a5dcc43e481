/** Requests for tokens: sent as tools' requests are, and explained without what was sent. */
import {
  AuthorizationResponseError,
  type AuthorizationServer,
  allowInsecureRequests,
  type Client,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  customFetch,
  None,
  ResponseBodyError,
  type TokenEndpointResponse,
} from "oauth4webapi";
import { hostAndPort, MAX_REPLY_BYTES, type Outbound, type PrivateHosts } from "../../kernel/kit/outbound.ts";
import { createMatcher } from "../../kernel/kit/secrets.ts";
import { Fault, reason } from "../../kernel/plugin.ts";
import type { OAuthGrant, SecretRecord } from "../secrets/entry.ts";
import type { SecretValues } from "../secrets/secrets.ts";

export interface OAuthOptions {
  readonly values: SecretValues;
  readonly network: Outbound;
  readonly privateHosts: PrivateHosts;
  readonly signInWith?: string;
}

const TOKEN_TIMEOUT_MS = 30_000;

export async function createExchange(
  { values, network, privateHosts, signInWith }: OAuthOptions,
  { tokenUrl, clientId, clientSecretSecret, client: given, issuer }: OAuthGrant,
  sent: readonly string[] = [],
) {
  const clientSecret =
    given === undefined ? clientSecretSecret && (await values.read(clientSecretSecret))?.value : given.secret;
  if (clientSecretSecret !== undefined && clientSecret === undefined)
    throw clientMissing("secret", clientSecretSecret);
  const url = new URL(tokenUrl);
  const isPrivate = privateHosts.has(hostAndPort(url));
  if (url.protocol !== "https:" && !isPrivate) throw insecure(url);
  const secrets = createMatcher(clientSecret === undefined ? sent : [...sent, clientSecret]);
  return {
    server: { issuer: issuer ?? url.origin, token_endpoint: tokenUrl } satisfies AuthorizationServer,
    client: { client_id: clientId } satisfies Client,
    auth: authOf(clientSecret, given?.auth),
    options: { [customFetch]: tokenFetch(network), [allowInsecureRequests]: isPrivate },
    /** A fault for what went wrong; it shows none of the values that were sent. */
    explain(error: unknown, name: string): Fault {
      if (error instanceof Fault) return error;
      const isRefusal = error instanceof ResponseBodyError || error instanceof AuthorizationResponseError;
      const why = isRefusal
        ? [error.error, error.error_description].filter(Boolean).join(": ")
        : reason(error);
      return signedOut(name, secrets.hide(why).slice(0, 500), signInWith);
    },
  };
}

function authOf(secret: string | undefined, how: "basic" | "post" | "none" = "post"): ClientAuth {
  if (secret === undefined || how === "none") return None();
  return how === "basic" ? ClientSecretBasic(secret) : ClientSecretPost(secret);
}

/** The token request goes out the way tools' requests do: checked address, no redirect, bounded answer. */
function tokenFetch(network: Outbound) {
  return async (
    url: string,
    { method, headers, body }: { method: string; headers: Record<string, string>; body: URLSearchParams },
  ): Promise<Response> => {
    const reply = await network.send({
      method,
      url: new URL(url),
      headers,
      body: String(body),
      timeoutMs: TOKEN_TIMEOUT_MS,
      maxBytes: MAX_REPLY_BYTES,
    });
    return new Response(withoutIdentity(reply.body), {
      status: reply.status,
      headers: { "content-type": "application/json" },
    });
  };
}

/** We ask for access, not for who the user is: an id token would only be something more to verify. */
function withoutIdentity(body: Uint8Array): string {
  const text = Buffer.from(body).toString();
  try {
    const { id_token: _, ...rest } = JSON.parse(text) as Record<string, unknown>;
    return JSON.stringify(rest);
  } catch {
    return text;
  }
}

export function recordOf(
  token: TokenEndpointResponse,
  grant: OAuthGrant,
  oldRefreshToken?: string,
): SecretRecord {
  const refreshToken = token.refresh_token ?? oldRefreshToken;
  const { refreshToken: _, expiresAt: __, ...lasting } = grant;
  return {
    value: token.access_token,
    oauth: {
      ...lasting,
      refreshToken,
      expiresAt: token.expires_in === undefined ? undefined : Date.now() + token.expires_in * 1000,
    },
  };
}

export function signedOut(name: string, why: string, how = "postern tool auth"): Fault {
  const message = `Sign-in for \`${name}\` failed: ${why}. Run "${how}" for it.`;
  return new Fault("unauthenticated", "oauth_failed", message);
}

export function insecure(url: URL): Fault {
  const message = `${url.origin} is not https, so sign-in is refused. An operator can allow a host in TOOLS_PRIVATE_HOSTS.`;
  return new Fault("invalid", "oauth_insecure", message);
}

export function clientMissing(what: string, secretName: string | undefined): Fault {
  const message = `The client ${what} \`${secretName}\` is not set: run "postern tool setup" for this tool first.`;
  return new Fault("invalid", "oauth_client_missing", message);
}
