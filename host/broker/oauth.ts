/** OAuth 2: authorization code with PKCE (S256) and state, and the refresh of tokens before they expire. */
import { hash } from "node:crypto";
import {
  authorizationCodeGrantRequest,
  calculatePKCECodeChallenge,
  generateRandomCodeVerifier,
  generateRandomState,
  processAuthorizationCodeResponse,
  processRefreshTokenResponse,
  refreshTokenGrantRequest,
  validateAuthResponse,
} from "oauth4webapi";
import type { Capabilities, OAuthSetup } from "../../capabilities/capabilities.ts";
import { hostAndPort } from "../../kernel/kit/outbound.ts";
import type { Store } from "../../plugins/store/services.ts";
import type { OAuthGrant, SecretRecord } from "../secrets/entry.ts";
import type { SecretValues } from "../secrets/secrets.ts";
import {
  clientMissing,
  createExchange,
  insecure,
  type OAuthOptions,
  recordOf,
  signedOut,
} from "./token-request.ts";

/** A sign-in under way: plain data, so that it can be kept until the browser comes back. */
export interface SignIn {
  readonly url: string;
  /** The address that answers this sign-in carries it, and nobody can make it up. */
  readonly state: string;
  readonly verifier: string;
  readonly secretName: string;
  readonly grant: OAuthGrant;
  readonly redirectUri: string;
}

// A token that ends within this time may end on its way.
const REFRESH_EARLY_MS = 60_000;

export async function beginSignIn(
  options: Omit<OAuthOptions, "network"> & {
    readonly secretName: string;
    readonly setup: OAuthSetup;
    /** The tools that use this secret: one sign-in covers the scopes of all. */
    readonly tools: readonly Capabilities[];
    readonly redirectUri: string;
  },
): Promise<SignIn> {
  const { values, privateHosts, secretName, setup, tools, redirectUri } = options;
  const clientId = await readClientId(values, setup);
  const held = (await values.read(secretName))?.oauth?.scopes ?? [];
  const asked = tools.flatMap(({ auth }) =>
    auth?.secretName === secretName ? (auth.oauth?.scopes ?? []) : [],
  );
  const scopes = [...new Set([...held, ...asked])];
  const grant: OAuthGrant = {
    tokenUrl: setup.tokenUrl,
    clientId,
    clientSecretSecret: setup.clientSecretSecret,
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

/** `spent`: a value that a server no longer takes, whenever it was said to end. */
export type Refresh = (
  values: SecretValues,
  name: string,
  record: SecretRecord,
  spent?: string,
) => Promise<SecretRecord>;

/** Returns a record as it is, or renewed: once for many askers, as servers revoke a refresh token that comes twice. */
export function createRefresh(
  options: Omit<OAuthOptions, "values"> & { readonly exclusive: Store["exclusive"] },
): Refresh {
  const underway = new Map<string, Promise<SecretRecord>>();
  return async (values, name, record, spent) => {
    if (!isEnding(record, REFRESH_EARLY_MS) && record.value !== spent) return record;
    const token = record.oauth?.refreshToken ?? "";
    let renewal = underway.get(token);
    if (renewal === undefined) {
      const id = hash("sha256", token, "base64url");
      renewal = options
        .exclusive(`refresh ${id}`, () => renew({ ...options, values }, name, record, spent))
        .finally(() => underway.delete(token));
      underway.set(token, renewal);
    }
    // While the old token still holds, a server that is down for a moment stops nobody.
    return renewal.catch((error: unknown) => {
      if (!isEnding(record, 0) && record.value !== spent) return record;
      throw error;
    });
  };
}

function isEnding({ oauth }: SecretRecord, earlyMillis: number): boolean {
  return (oauth?.expiresAt ?? Number.POSITIVE_INFINITY) - earlyMillis <= Date.now();
}

async function renew(
  options: OAuthOptions,
  name: string,
  seen: SecretRecord,
  spent: string | undefined,
): Promise<SecretRecord> {
  // Somebody else may have renewed it since it was read, and refresh tokens are good for one use.
  const record = (await options.values.read(name)) ?? seen;
  const { oauth } = record;
  if (oauth === undefined || (!isEnding(record, REFRESH_EARLY_MS) && record.value !== spent)) return record;
  const { refreshToken } = oauth;
  if (refreshToken === undefined)
    throw signedOut(name, "its token has expired and cannot be renewed", options.signInWith);
  const exchange = await createExchange(options, oauth, [refreshToken]);
  try {
    const { server, client, auth, options: requestOptions } = exchange;
    const response = await refreshTokenGrantRequest(server, client, auth, refreshToken, {
      ...requestOptions,
      ...(oauth.resource !== undefined && { additionalParameters: { resource: oauth.resource } }),
    });
    const token = await processRefreshTokenResponse(server, client, response);
    const renewed = recordOf(token, oauth, refreshToken);
    await options.values.renew(name, record, renewed);
    return renewed;
  } catch (error) {
    throw exchange.explain(error, name);
  }
}
