/** Sign-ins at the servers of MCP servers, by the SDK's steps, but not its `auth`, which guesses addresses. */
import { randomBytes } from "node:crypto";
import type { AuthorizationServerMetadata, FetchLike, OAuthTokens } from "@modelcontextprotocol/client";
import { OutboundError } from "../../../kernel/kit/outbound.ts";
import { createMatcher, type Mask, type SealingKey } from "../../../kernel/kit/secrets.ts";
import { visibleLine } from "../../../kernel/kit/text.ts";
import { Fault, reason } from "../../../kernel/plugin.ts";
import type { Store } from "../../../plugins/store/services.ts";
import { Refused } from "../../broker/policy.ts";
import { looksRandom, type OAuthGrant, type SecretRecord } from "../../secrets/entry.ts";
import type { Vault } from "../../secrets/secrets.ts";
import { createSignIns, otherBrowser } from "../../secrets/sign-ins.ts";
import type { SignInBrowser } from "../../services.ts";
import { type Challenge, type Challenges, readChallenge, splitScopes } from "./challenges.ts";
import { clientDocumentUrl } from "./client-document.ts";
import { createClients, type OAuthClient } from "./clients.ts";
import { holderOf, type McpTarget, nameOf, placeOf } from "./target.ts";

export interface McpSignInParts {
  readonly vault: Vault;
  readonly store: Pick<Store, "keyed">;
  readonly key: SealingKey;
  readonly mask: Mask;
  readonly challenges: Challenges;
  /** For everything that is neither the server nor asked with its credential. */
  readonly fetch: FetchLike;
  /** The address of a document about this client, for a sign-in that comes back to this address. */
  readonly documentUrl?: (redirectUri: string) => string | undefined;
}

interface Begun {
  readonly server: string;
  readonly url: string;
  readonly user: string;
  readonly verifier: string;
  readonly redirectUri: string;
  /** The answer is held to it, so that another server's answer is not taken for it. */
  readonly metadata: AuthorizationServerMetadata;
  readonly client: OAuthClient;
  readonly resource?: string;
  readonly scopes: readonly string[];
}

const MAX_REASON_LENGTH = 500;

/** Reads the whole body before it returns: a reply that breaks off fails like one that never came. */
export function readWhole(send: FetchLike): FetchLike {
  return async (...args) => {
    const response = await send(...args);
    const { status, headers } = response;
    return new Response(response.body === null ? null : await response.arrayBuffer(), { status, headers });
  };
}

const loadSdk = () => import("@modelcontextprotocol/client");

export function createMcpSignIn(parts: McpSignInParts) {
  const { vault, store, key, mask, challenges, fetch, documentUrl = clientDocumentUrl } = parts;
  const signIns = createSignIns<Begun>(store.keyed("mcp-sign-ins"), key);
  const whole = readWhole(fetch);
  const clients = createClients(store.keyed("mcp-clients"), key, whole);
  const valuesOf = (server: McpTarget) => vault.of(holderOf(server)).values;

  /** Asks the server without a credential. */
  async function probe(server: McpTarget): Promise<Challenge> {
    const response = await fetch(server.url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
    });
    await response.body?.cancel();
    return response.status === 401 ? readChallenge(response) : {};
  }

  async function registeredClient(server: McpTarget): Promise<OAuthClient | undefined> {
    const { clientId, clientSecretSecret } = server.credential?.oauth ?? {};
    if (clientId === undefined) return undefined;
    if (clientSecretSecret === undefined) return { client_id: clientId };
    const secret = (await valuesOf(server).read(`mcp:${clientSecretSecret}`))?.value;
    if (secret !== undefined) return { client_id: clientId, client_secret: secret };
    const message = `The client secret \`${clientSecretSecret}\` is not set: run "postern mcp auth ${server.name}".`;
    throw new Fault("invalid", "oauth_client_missing", message);
  }

  async function discover({ name, url }: McpTarget, { resourceMetadataUrl }: Challenge) {
    const { checkResourceAllowed, discoverOAuthServerInfo, resourceUrlFromServerUrl } = await loadSdk();
    // The SDK takes a document that cannot be read for a missing one, and looks elsewhere.
    let failure: unknown;
    const watched: FetchLike = (...args) =>
      whole(...args).catch((error: unknown) => {
        failure ??= error;
        throw error;
      });
    const { authorizationServerMetadata: metadata, resourceMetadata } = await discoverOAuthServerInfo(url, {
      resourceMetadataUrl: resourceMetadataUrl === undefined ? undefined : new URL(resourceMetadataUrl),
      fetchFn: watched,
    });
    if (failure !== undefined) throw failure;
    if (metadata === undefined) {
      const message = `${name} describes no sign-in. If it takes a token, give it one: postern mcp auth ${name}.`;
      throw new Fault("invalid", "no_sign_in", message);
    }
    const { resource, scopes_supported: supported } = resourceMetadata ?? {};
    const requestedResource = resourceUrlFromServerUrl(url);
    if (
      resource !== undefined &&
      !checkResourceAllowed({ requestedResource, configuredResource: resource })
    ) {
      const message = `Sign-in for ${name} was refused: its metadata is for another resource, ${resource}.`;
      throw new Fault("forbidden", "sign_in_refused", message);
    }
    return { metadata, resource, supported };
  }

  async function begin(server: McpTarget, user: string, redirectUri: string): Promise<URL> {
    const held = (await valuesOf(server).read(nameOf(server, user)))?.oauth;
    const challenge = (await challenges.find(placeOf(server, user))) ?? (await probe(server));
    const registered = await registeredClient(server);
    const { metadata, resource, supported } = await discover(server, challenge);
    const wanted = [...(server.credential?.oauth?.scopes ?? []), ...(challenge.scopes ?? [])];
    const scopes = chooseScopes(metadata, held, wanted.length > 0 ? wanted : (supported ?? []));
    const scope = scopes.length === 0 ? undefined : scopes.join(" ");
    const client = await clients.choose({
      server: server.name,
      metadata,
      redirectUri,
      scope,
      registered,
      documentUrl: documentUrl(redirectUri),
    });
    const state = randomBytes(32).toString("base64url");
    const { startAuthorization } = await loadSdk();
    const { authorizationUrl, codeVerifier: verifier } = await startAuthorization(metadata.issuer, {
      metadata,
      clientInformation: client,
      redirectUrl: redirectUri,
      state,
      scope,
      resource,
    });
    const secret = client.client_secret;
    if (secret !== undefined && looksRandom(secret)) mask.add(secret);
    const { name, url } = server;
    const begun = { user, verifier, redirectUri, metadata: shorten(metadata), client, resource, scopes };
    await signIns.keep(state, { server: name, url, ...begun });
    return authorizationUrl;
  }

  async function finish(begun: Begun, redirected: URL): Promise<SecretRecord> {
    const { metadata, client, verifier, redirectUri, resource } = begun;
    const { exchangeAuthorization, selectClientAuthMethod, validateAuthorizationResponseIssuer } =
      await loadSdk();
    const answer = redirected.searchParams;
    const iss = answer.get("iss") ?? undefined;
    // Nothing else in the answer is believed before this, not even its error.
    validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: metadata.issuer,
      issParameterSupported: metadata.authorization_response_iss_parameter_supported === true,
    });
    const error = answer.get("error");
    const code = answer.get("code");
    if (error !== null) throw new Error([error, answer.get("error_description")].filter(Boolean).join(": "));
    if (code === null) throw new Error("the answer holds no code");
    const tokens = await exchangeAuthorization(metadata.issuer, {
      metadata,
      clientInformation: client,
      authorizationCode: code,
      iss,
      codeVerifier: verifier,
      redirectUri,
      resource,
      fetchFn: whole,
    });
    const method = selectClientAuthMethod(client, metadata.token_endpoint_auth_methods_supported ?? []);
    return recordOf(
      begun,
      tokens,
      method === "client_secret_basic" ? "basic" : method === "none" ? "none" : "post",
    );
  }

  /** Returns a fault with a sentence that holds nothing of what was sent. */
  function explain(server: string, error: unknown, sent: readonly string[] = []): Fault {
    if (error instanceof Fault) return error;
    const why = createMatcher(sent).hide(mask.hide(reason(error)));
    const kind =
      error instanceof Refused || error instanceof OutboundError ? "unavailable" : "unauthenticated";
    const message = `Sign-in for ${server} failed: ${visibleLine(why).slice(0, MAX_REASON_LENGTH)}. Run "postern mcp auth ${server}".`;
    return new Fault(kind, "oauth_failed", message, { cause: error });
  }

  return {
    async beginSignIn(
      server: McpTarget,
      user: string,
      redirectUri: string,
    ): Promise<{ readonly url: string }> {
      try {
        return { url: (await begin(server, user, redirectUri)).href };
      } catch (error) {
        throw explain(server.name, error);
      }
    },
    /** Undefined where the address answers no sign-in of a server's. `find`: the server as it is now. */
    async finishSignIn(
      redirected: URL,
      find: (name: string) => Promise<McpTarget | undefined>,
      browser?: SignInBrowser,
    ): Promise<{ readonly server: string; readonly user: string } | undefined> {
      const begun = await signIns.take(redirected);
      if (begun === undefined) return undefined;
      const { server: name, user, client } = begun;
      const server = await find(name);
      if (server === undefined || server.url !== begun.url) {
        const message = `${name} was removed or changed since this sign-in began. Start it again.`;
        throw new Fault("invalid", "no_such_sign_in", message);
      }
      if (server.perUser && browser?.began === false) throw otherBrowser(name);
      try {
        await valuesOf(server).write(nameOf(server, user), await finish(begun, redirected));
        await challenges.forget(placeOf(server, user));
        return { server: name, user };
      } catch (error) {
        if ((error as { code?: unknown }).code === "invalid_client")
          await clients.forget(name, begun.metadata.issuer, begun.redirectUri);
        const sent = [begun.verifier, redirected.searchParams.get("code"), client.client_secret];
        throw explain(
          name,
          error,
          sent.filter((value) => typeof value === "string" && value !== "") as string[],
        );
      }
    },
  };
}

/** True where the server's metadata still names the authorization server that a token is from, or names none. */
export async function stillNames(
  issuer: string,
  server: { readonly url: string },
  { resourceMetadataUrl }: Challenge,
  fetch: FetchLike,
): Promise<{ readonly ok: boolean; readonly named: readonly string[] }> {
  const { discoverOAuthProtectedResourceMetadata } = await loadSdk();
  const metadata = await discoverOAuthProtectedResourceMetadata(
    server.url,
    { resourceMetadataUrl },
    fetch,
  ).catch(() => undefined);
  const named = metadata?.authorization_servers ?? [];
  // Some write a slash at the end and some do not.
  const bare = (url: string) => url.replace(/\/$/, "");
  return { ok: named.length === 0 || named.some((one) => bare(one) === bare(issuer)), named };
}

/** Scopes that the grant has already are asked for again. */
function chooseScopes(
  { issuer, scopes_supported: supported }: AuthorizationServerMetadata,
  held: OAuthGrant | undefined,
  wanted: readonly string[],
): readonly string[] {
  const chosen = new Set([...(held?.issuer === issuer ? held.scopes : []), ...wanted]);
  // Without it some authorization servers give out no refresh token.
  if (chosen.size > 0 && supported?.includes("offline_access")) chosen.add("offline_access");
  return [...chosen];
}

/** A stranger's document may be long; the rest of the sign-in needs little of it. */
function shorten(metadata: AuthorizationServerMetadata): AuthorizationServerMetadata {
  return {
    issuer: metadata.issuer,
    authorization_endpoint: metadata.authorization_endpoint,
    token_endpoint: metadata.token_endpoint,
    response_types_supported: ["code"],
    token_endpoint_auth_methods_supported: metadata.token_endpoint_auth_methods_supported,
    authorization_response_iss_parameter_supported: metadata.authorization_response_iss_parameter_supported,
  } as AuthorizationServerMetadata;
}

function recordOf(begun: Begun, tokens: OAuthTokens, auth: "basic" | "post" | "none"): SecretRecord {
  const { metadata, client, resource, scopes } = begun;
  return {
    value: tokens.access_token,
    oauth: {
      tokenUrl: metadata.token_endpoint,
      clientId: client.client_id,
      client: { secret: client.client_secret, auth },
      issuer: metadata.issuer,
      resource,
      // Also those that were asked for and not given: asking again would not help.
      scopes: [...new Set([...scopes, ...splitScopes(tokens.scope)])],
      refreshToken: tokens.refresh_token,
      expiresAt: tokens.expires_in === undefined ? undefined : Date.now() + tokens.expires_in * 1000,
    },
  };
}
