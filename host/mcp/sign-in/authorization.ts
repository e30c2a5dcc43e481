/**
 * The sign-in at an MCP server's authorization server: found by its metadata, begun, and finished with the address the browser
 * came back to. The protocol is the SDK's; what it fetches goes through the fetch it is given.
 */
import { randomBytes } from "node:crypto";
import type { AuthorizationServerMetadata, FetchLike, OAuthTokens } from "@modelcontextprotocol/client";
import { Fault } from "../../../kernel/kit.ts";
import type { OAuthGrant, SecretRecord } from "../../secrets/entry.ts";
import { type Challenge, splitScopes } from "./challenges.ts";
import { type Clients, informationOf, type OAuthClient } from "./clients.ts";

/** A sign-in under way: plain data, kept sealed until the browser comes back. */
export interface Begun {
  readonly state: string;
  readonly verifier: string;
  readonly redirectUri: string;
  /** What the answer is held to: another server's answer is not taken for it. */
  readonly metadata: AuthorizationServerMetadata;
  readonly client: OAuthClient;
  readonly resource?: string;
  readonly scopes: readonly string[];
}

export interface BeginOptions {
  readonly server: { readonly name: string; readonly url: string };
  readonly challenge: Challenge;
  /** Scopes that the file names, and the grant that is there: what it has is asked for again. */
  readonly scopes: readonly string[];
  readonly held: OAuthGrant | undefined;
  readonly redirectUri: string;
  readonly clients: Clients;
  readonly registered: OAuthClient | undefined;
  readonly documentUrl: string | undefined;
  readonly fetch: FetchLike;
}

export async function beginAuthorization(
  options: BeginOptions,
): Promise<{ readonly url: URL; readonly begun: Begun }> {
  const { server, redirectUri, fetch } = options;
  const { checkResourceAllowed, resourceUrlFromServerUrl, startAuthorization } = await import(
    "@modelcontextprotocol/client"
  );
  const { metadata, resourceMetadata } = await discover(options);
  const resource = resourceMetadata?.resource;
  const requestedResource = resourceUrlFromServerUrl(server.url);
  if (resource !== undefined && !checkResourceAllowed({ requestedResource, configuredResource: resource })) {
    throw refused(server.name, `its metadata is for another resource, ${resource}`);
  }
  const scopes = chooseScopes(options, metadata, resourceMetadata?.scopes_supported);
  const scope = scopes.length === 0 ? undefined : scopes.join(" ");
  const { issuer } = metadata;
  const client = await options.clients.choose({
    ...options,
    server: server.name,
    issuer,
    metadata,
    scope,
    fetch,
  });
  const state = randomBytes(32).toString("base64url");
  const { authorizationUrl, codeVerifier } = await startAuthorization(issuer, {
    metadata,
    clientInformation: informationOf(client),
    redirectUrl: redirectUri,
    state,
    ...(scope !== undefined && { scope }),
    ...(resource !== undefined && { resource }),
  });
  return {
    url: authorizationUrl,
    begun: {
      state,
      verifier: codeVerifier,
      redirectUri,
      metadata: keepOf(metadata),
      client,
      ...(resource !== undefined && { resource }),
      scopes,
    },
  };
}

/** Throws what the SDK says of a refusal; answers what to store. */
export async function finishAuthorization(
  begun: Begun,
  redirected: URL,
  fetch: FetchLike,
): Promise<SecretRecord> {
  const { metadata, client, verifier, redirectUri, resource } = begun;
  const { exchangeAuthorization, selectClientAuthMethod, validateAuthorizationResponseIssuer } = await import(
    "@modelcontextprotocol/client"
  );
  const answer = redirected.searchParams;
  const iss = answer.get("iss") ?? undefined;
  // Before anything else in the answer is believed, also its error.
  validateAuthorizationResponseIssuer({
    iss,
    expectedIssuer: metadata.issuer,
    issParameterSupported: metadata.authorization_response_iss_parameter_supported === true,
  });
  const error = answer.get("error");
  const code = answer.get("code");
  if (error !== null) throw new Error([error, answer.get("error_description")].filter(Boolean).join(": "));
  if (code === null) throw new Error("the answer holds no code");
  const clientInformation = informationOf(client);
  const tokens = await exchangeAuthorization(metadata.issuer, {
    metadata,
    clientInformation,
    authorizationCode: code,
    ...(iss !== undefined && { iss }),
    codeVerifier: verifier,
    redirectUri,
    ...(resource !== undefined && { resource }),
    fetchFn: fetch,
  });
  const method = selectClientAuthMethod(
    clientInformation,
    metadata.token_endpoint_auth_methods_supported ?? [],
  );
  return recordOf(
    begun,
    tokens,
    method === "client_secret_basic" ? "basic" : method === "none" ? "none" : "post",
  );
}

/** True where the server's metadata still names the authorization server that a token is from, or names none. */
export async function stillNames(
  issuer: string,
  server: { readonly url: string },
  challenge: Challenge,
  fetch: FetchLike,
): Promise<{ readonly ok: boolean; readonly named: readonly string[] }> {
  const { discoverOAuthProtectedResourceMetadata } = await import("@modelcontextprotocol/client");
  const { resourceMetadataUrl } = challenge;
  const metadata = await discoverOAuthProtectedResourceMetadata(
    server.url,
    resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl },
    fetch,
  ).catch(() => undefined);
  const named = metadata?.authorization_servers ?? [];
  return { ok: named.length === 0 || named.some((one) => isSame(one, issuer)), named };
}

async function discover({ server, challenge, fetch }: BeginOptions) {
  const { discoverOAuthServerInfo } = await import("@modelcontextprotocol/client");
  // The SDK takes a document that cannot be had for one that is not there, and looks elsewhere.
  let failure: unknown;
  const watched: FetchLike = async (...args) => {
    try {
      return await fetch(...args);
    } catch (error) {
      failure ??= error;
      throw error;
    }
  };
  const { resourceMetadataUrl } = challenge;
  const info = await discoverOAuthServerInfo(server.url, {
    ...(resourceMetadataUrl !== undefined && { resourceMetadataUrl: new URL(resourceMetadataUrl) }),
    fetchFn: watched,
  });
  if (failure !== undefined) throw failure;
  const { authorizationServerMetadata: metadata, resourceMetadata } = info;
  if (metadata === undefined) {
    throw new Fault(
      "invalid",
      "no_sign_in",
      `${server.name} describes no sign-in. If it takes a token, give it one: postern mcp auth ${server.name}.`,
    );
  }
  return { metadata, resourceMetadata };
}

function chooseScopes(
  { challenge, scopes, held }: BeginOptions,
  metadata: AuthorizationServerMetadata,
  supported: readonly string[] | undefined,
): readonly string[] {
  const had = held?.issuer === metadata.issuer ? held.scopes : [];
  const asked = [...scopes, ...(challenge.scopes ?? [])];
  const chosen = new Set([...had, ...(asked.length > 0 ? asked : (supported ?? []))]);
  // Without it some authorization servers give out no refresh token.
  if (chosen.size > 0 && metadata.scopes_supported?.includes("offline_access")) chosen.add("offline_access");
  return [...chosen];
}

/** A stranger's document may be long; what the rest of the sign-in needs of it is not. */
function keepOf(metadata: AuthorizationServerMetadata): AuthorizationServerMetadata {
  return {
    issuer: metadata.issuer,
    authorization_endpoint: metadata.authorization_endpoint,
    token_endpoint: metadata.token_endpoint,
    response_types_supported: ["code"],
    ...(metadata.token_endpoint_auth_methods_supported && {
      token_endpoint_auth_methods_supported: metadata.token_endpoint_auth_methods_supported,
    }),
    ...(metadata.authorization_response_iss_parameter_supported === true && {
      authorization_response_iss_parameter_supported: true,
    }),
  } as AuthorizationServerMetadata;
}

function recordOf(begun: Begun, tokens: OAuthTokens, auth: "basic" | "post" | "none"): SecretRecord {
  const { metadata, client, resource, scopes } = begun;
  return {
    value: tokens.access_token,
    oauth: {
      tokenUrl: metadata.token_endpoint,
      clientId: client.id,
      client: { ...(client.secret !== undefined && { secret: client.secret }), auth },
      issuer: metadata.issuer,
      ...(resource !== undefined && { resource }),
      // Also those that were asked for and not given: asking again would not help.
      scopes: [...new Set([...scopes, ...splitScopes(tokens.scope)])],
      ...(tokens.refresh_token !== undefined && { refreshToken: tokens.refresh_token }),
      ...(tokens.expires_in !== undefined && { expiresAt: Date.now() + tokens.expires_in * 1000 }),
    },
  };
}

/** Without a slash at the end, which some write and some do not. */
function isSame(one: string, other: string): boolean {
  return one.replace(/\/$/, "") === other.replace(/\/$/, "");
}

function refused(server: string, why: string): Fault {
  return new Fault("forbidden", "sign_in_refused", `Sign-in for ${server} was refused: ${why}.`);
}
