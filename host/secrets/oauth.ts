/** OAuth 2: authorization code with PKCE (S256) and state, and the refresh of tokens before they expire. */
import { createHash } from "node:crypto";
import {
  AuthorizationResponseError,
  type AuthorizationServer,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  type Client,
  type ClientAuth,
  ClientSecretPost,
  calculatePKCECodeChallenge,
  customFetch,
  generateRandomCodeVerifier,
  generateRandomState,
  None,
  processAuthorizationCodeResponse,
  processRefreshTokenResponse,
  ResponseBodyError,
  refreshTokenGrantRequest,
  type TokenEndpointResponse,
  validateAuthResponse,
} from "oauth4webapi";
import type { Capabilities, OAuthSetup } from "../../capabilities/capabilities.ts";
import { Fault, reason } from "../../kernel/fault.ts";
import { createMatcher } from "../../kernel/mask/matcher.ts";
import { hostAndPort, type PrivateHosts } from "../../kernel/net/address.ts";
import type { Store } from "../../kernel/vocabulary/store.ts";
import type { Network } from "../broker/network.ts";
import type { OAuthGrant, SecretRecord } from "./entry.ts";
import type { SecretValues } from "./secrets.ts";

export interface OAuthOptions {
  readonly values: SecretValues;
  readonly network: Network;
  readonly privateHosts: PrivateHosts;
}

/** A sign-in under way: plain data, so that it can be kept until the browser comes back. */
export interface SignIn {
  /** Where the user's browser goes. */
  readonly url: string;
  /** The address that answers this sign-in carries it, and nobody can make it up. */
  readonly state: string;
  readonly verifier: string;
  readonly secretName: string;
  readonly grant: OAuthGrant;
  readonly redirectUri: string;
}

const TOKEN_TIMEOUT_MILLIS = 30_000;
// A token that ends within this time may end on its way.
const REFRESH_EARLY_MILLIS = 60_000;

/** The scopes to ask for: those of every tool that may use the secret, and those it has already. */
export function mergeScopes(
  secretName: string,
  users: readonly Capabilities[],
  held: readonly string[] = [],
): readonly string[] {
  const asked = users.flatMap(({ auth }) =>
    auth?.secretName === secretName ? (auth.oauth?.scopes ?? []) : [],
  );
  return [...new Set([...held, ...asked])];
}

/** Starts a sign-in; no secret is stored until `finishSignIn`. */
export async function beginSignIn(
  options: Omit<OAuthOptions, "network"> & {
    readonly secretName: string;
    readonly setup: OAuthSetup;
    readonly scopes: readonly string[];
    readonly redirectUri: string;
  },
): Promise<SignIn> {
  const { values, privateHosts, secretName, setup, scopes, redirectUri } = options;
  const clientId = await readClientId(values, setup);
  const grant: OAuthGrant = {
    tokenUrl: setup.tokenUrl,
    clientId,
    ...(setup.clientSecretSecret !== undefined && { clientSecretSecret: setup.clientSecretSecret }),
    scopes,
  };
  const verifier = generateRandomCodeVerifier();
  const state = generateRandomState();
  const url = new URL(setup.authorizationUrl);
  if (url.protocol !== "https:" && !privateHosts.has(hostAndPort(url))) throw insecure(url);
  const parameters = {
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirectUri,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state,
    ...(scopes.length > 0 && { scope: scopes.join(" ") }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);

  return { url: url.href, state, verifier, secretName, grant, redirectUri };
}

/** True for an address that answers this sign-in. */
export function isAnswer({ state }: SignIn, redirected: URL): boolean {
  return redirected.searchParams.get("state") === state;
}

/** With the address the browser was sent back to: checks it, fetches the token, stores it. */
export async function finishSignIn(options: OAuthOptions, signIn: SignIn, redirected: URL): Promise<void> {
  const { state, verifier, secretName, grant, redirectUri } = signIn;
  const exchange = await createExchange(options, grant);
  try {
    // Servers that name themselves in the answer do so below the origin the user was sent to.
    const { origin } = new URL(signIn.url);
    const issuer = redirected.searchParams.get("iss");
    const server = {
      ...exchange.server,
      issuer: issuer !== null && URL.parse(issuer)?.origin === origin ? issuer : origin,
    };
    const { client, auth, options: requestOptions } = exchange;
    const answer = validateAuthResponse(server, client, redirected, state);
    const response = await authorizationCodeGrantRequest(
      server,
      client,
      auth,
      answer,
      redirectUri,
      verifier,
      requestOptions,
    );
    const token = await processAuthorizationCodeResponse(server, client, response);
    await options.values.write(secretName, recordOf(token, grant));
  } catch (error) {
    throw exchange.explain(error, secretName);
  }
}

async function readClientId(values: SecretValues, { clientId, clientIdSecret }: OAuthSetup): Promise<string> {
  const id = clientId ?? (clientIdSecret && (await values.read(clientIdSecret))?.value);
  if (id !== undefined && id !== "") return id;
  throw clientMissing("id", clientIdSecret);
}

function clientMissing(what: string, secretName: string | undefined): Fault {
  const message = `The client ${what} \`${secretName}\` is not set: run "postern tool setup" for this tool first.`;
  return new Fault("invalid", "oauth_client_missing", message);
}

export type Refresh = (values: SecretValues, name: string, record: SecretRecord) => Promise<SecretRecord>;

/**
 * Answers a record as it is, or renewed where its token is about to end. Many askers make one renewal, in whichever tool and on
 * whichever node they are: servers revoke a sign-in whose refresh token comes twice.
 */
export function createRefresh(
  options: Omit<OAuthOptions, "values"> & { readonly exclusive: Store["exclusive"] },
): Refresh {
  const underway = new Map<string, Promise<SecretRecord>>();
  return async (values, name, record) => {
    if (!isEnding(record, REFRESH_EARLY_MILLIS)) return record;
    const token = record.oauth?.refreshToken ?? "";
    let renewal = underway.get(token);
    if (renewal === undefined) {
      const id = createHash("sha256").update(token).digest("base64url");
      renewal = options
        .exclusive(`refresh ${id}`, () => renew({ ...options, values }, name, record))
        .finally(() => underway.delete(token));
      underway.set(token, renewal);
    }
    // While the old token still holds, a server that is down for a moment stops nobody.
    return renewal.catch((error: unknown) => {
      if (!isEnding(record, 0)) return record;
      throw error;
    });
  };
}

function isEnding({ oauth }: SecretRecord, earlyMillis: number): boolean {
  return (oauth?.expiresAt ?? Number.POSITIVE_INFINITY) - earlyMillis <= Date.now();
}

async function renew(options: OAuthOptions, name: string, seen: SecretRecord): Promise<SecretRecord> {
  // Somebody else may have renewed it since it was read, and refresh tokens are good for one use.
  const record = (await options.values.read(name)) ?? seen;
  const { oauth } = record;
  if (oauth === undefined || !isEnding(record, REFRESH_EARLY_MILLIS)) return record;
  const { refreshToken } = oauth;
  if (refreshToken === undefined) throw signedOut(name, "its token has expired and cannot be renewed");
  const exchange = await createExchange(options, oauth, [refreshToken]);
  try {
    const { server, client, auth, options: requestOptions } = exchange;
    const response = await refreshTokenGrantRequest(server, client, auth, refreshToken, requestOptions);
    const token = await processRefreshTokenResponse(server, client, response);
    const renewed = recordOf(token, oauth, refreshToken);
    await options.values.renew(name, renewed);
    return renewed;
  } catch (error) {
    throw exchange.explain(error, name);
  }
}

interface Exchange {
  readonly server: AuthorizationServer;
  readonly client: Client;
  readonly auth: ClientAuth;
  readonly options: object;
  /** A fault for what went wrong; it shows none of the values that were sent. */
  explain(error: unknown, name: string): Fault;
}

async function createExchange(
  { values, network, privateHosts }: OAuthOptions,
  { tokenUrl, clientId, clientSecretSecret }: OAuthGrant,
  sent: readonly string[] = [],
): Promise<Exchange> {
  const clientSecret = clientSecretSecret && (await values.read(clientSecretSecret))?.value;
  if (clientSecretSecret !== undefined && clientSecret === undefined) {
    throw clientMissing("secret", clientSecretSecret);
  }
  const url = new URL(tokenUrl);
  const isPrivate = privateHosts.has(hostAndPort(url));
  if (url.protocol !== "https:" && !isPrivate) throw insecure(url);
  const secrets = createMatcher(clientSecret === undefined ? sent : [...sent, clientSecret]);
  return {
    server: { issuer: url.origin, token_endpoint: tokenUrl },
    client: { client_id: clientId },
    auth: clientSecret === undefined ? None() : ClientSecretPost(clientSecret),
    options: { [customFetch]: tokenFetch(network), [allowInsecureRequests]: isPrivate },
    explain(error, name) {
      if (error instanceof Fault) return error;
      const isRefusal = error instanceof ResponseBodyError || error instanceof AuthorizationResponseError;
      const why = isRefusal
        ? [error.error, error.error_description].filter(Boolean).join(": ")
        : reason(error);
      return signedOut(name, secrets.hide(why).slice(0, 500));
    },
  };
}

/** The token request goes out the way tools' requests do: checked address, no redirect, bounded answer. */
function tokenFetch(network: Network) {
  return async (
    url: string,
    { method, headers, body }: { method: string; headers: Record<string, string>; body: URLSearchParams },
  ): Promise<Response> => {
    const reply = await network.send(
      { method, url: new URL(url), headers, body: Buffer.from(String(body)) },
      { timeoutMs: TOKEN_TIMEOUT_MILLIS, signal: new AbortController().signal },
    );
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

function recordOf(token: TokenEndpointResponse, grant: OAuthGrant, oldRefreshToken?: string): SecretRecord {
  const refreshToken = token.refresh_token ?? oldRefreshToken;
  const { refreshToken: _, expiresAt: __, ...lasting } = grant;
  return {
    value: token.access_token,
    oauth: {
      ...lasting,
      ...(refreshToken !== undefined && { refreshToken }),
      ...(token.expires_in !== undefined && { expiresAt: Date.now() + token.expires_in * 1000 }),
    },
  };
}

function signedOut(name: string, why: string): Fault {
  return new Fault(
    "unauthenticated",
    "oauth_failed",
    `Sign-in for \`${name}\` failed: ${why}. Run "postern tool auth" for this tool.`,
  );
}

function insecure(url: URL): Fault {
  return new Fault(
    "invalid",
    "oauth_insecure",
    `${url.origin} is not https, so sign-in is refused. An operator can allow a host in TOOLS_PRIVATE_HOSTS.`,
  );
}
