/** As which client we ask an authorization server: the one in the server's file, our document's address, or one registered there. */

import { createHash } from "node:crypto";
import type {
  AuthorizationServerMetadata,
  FetchLike,
  OAuthClientInformationMixed,
} from "@modelcontextprotocol/client";
import type Keyv from "keyv";
import { clientMetadata, Fault, type SealingKey, seal, unseal } from "../../../kernel/kit.ts";

/** With the secret in it, where it has one: sealed at rest, and never given to anybody but its issuer. */
export interface OAuthClient {
  readonly id: string;
  readonly secret?: string;
  /** How it was registered to prove itself. */
  readonly auth?: string;
}

export interface Clients {
  /** For one server's sign-in at one issuer, with one address to come back to. */
  choose(options: ChooseOptions): Promise<OAuthClient>;
  /** An authorization server does not know the client any more. */
  forget(options: Pick<ChooseOptions, "server" | "issuer" | "redirectUri">): Promise<void>;
}

export interface ChooseOptions {
  readonly server: string;
  readonly issuer: string;
  readonly metadata: AuthorizationServerMetadata;
  readonly redirectUri: string;
  readonly scope: string | undefined;
  /** In the server's file. */
  readonly registered: OAuthClient | undefined;
  /** The address of our own document, where others can read it. */
  readonly documentUrl: string | undefined;
  readonly fetch: FetchLike;
}

const METHODS = ["none", "client_secret_basic", "client_secret_post"];

export function createClients(keyed: Keyv<string>, key: SealingKey): Clients {
  const find = async (place: string): Promise<OAuthClient | undefined> => {
    const sealed = await keyed.get(place);
    if (sealed === undefined) return undefined;
    try {
      return JSON.parse(unseal(key, place, sealed)) as OAuthClient;
    } catch (error) {
      // Sealed with another key: it is registered again.
      if (error instanceof Fault) return undefined;
      throw error;
    }
  };
  const keep = (place: string, client: OAuthClient, millis?: number) =>
    keyed.set(place, seal(key, place, JSON.stringify(client)), millis);

  return {
    async choose(options) {
      const { server, issuer, metadata, registered, documentUrl } = options;
      if (registered !== undefined) {
        await pin(server, registered, issuer);
        return registered;
      }
      if (documentUrl !== undefined && metadata.client_id_metadata_document_supported === true)
        return { id: documentUrl, auth: "none" };
      const place = placeOf(options);
      const known = await find(place);
      if (known !== undefined) return known;
      const { client, expiresAt } = await register(options);
      await keep(place, client, expiresAt === 0 ? undefined : expiresAt * 1000 - Date.now());
      return client;
    },
    forget: async (options) => void (await keyed.delete(placeOf(options))),
  };

  /** A client of the operator's is one authorization server's: its secret goes to no other that the server may name later. */
  async function pin(server: string, client: OAuthClient, issuer: string): Promise<void> {
    const place = `${server}/${digest(client.id)}`;
    const first = await find(place);
    if (first === undefined) await keep(place, { id: issuer });
    else if (first.id !== issuer) {
      throw new Fault(
        "forbidden",
        "issuer_changed",
        `${server} now names another authorization server (${issuer}) than the one its client in the file belongs to (${first.id}); nothing was sent there. If that is right, remove ${server} and add it again.`,
      );
    }
  }
}

async function register(
  options: ChooseOptions,
): Promise<{ readonly client: OAuthClient; readonly expiresAt: number }> {
  const { server, issuer, metadata, redirectUri, scope, fetch } = options;
  if (metadata.registration_endpoint === undefined) {
    throw new Fault(
      "invalid",
      "no_registration",
      `${issuer} has no automatic client registration. Register Postern there (redirect URI ${redirectUri}) and write its client id into the file: postern mcp edit ${server}.`,
    );
  }
  const { registerClient } = await import("@modelcontextprotocol/client");
  const accepted = metadata.token_endpoint_auth_methods_supported ?? METHODS;
  const method = METHODS.find((one) => accepted.includes(one));
  const information = await registerClient(issuer, {
    metadata,
    clientMetadata: {
      ...clientMetadata(redirectUri),
      ...(method !== undefined && { token_endpoint_auth_method: method }),
    },
    ...(scope !== undefined && { scope }),
    fetchFn: fetch,
  });
  const { client_id: id, client_secret: secret, token_endpoint_auth_method: auth } = information;
  return {
    client: { id, ...(secret !== undefined && { secret }), ...(auth !== undefined && { auth }) },
    expiresAt: information.client_secret_expires_at ?? 0,
  };
}

/** As the SDK's functions take it. */
export function informationOf({ id, secret, auth }: OAuthClient): OAuthClientInformationMixed {
  return {
    client_id: id,
    ...(secret !== undefined && { client_secret: secret }),
    ...(auth !== undefined && { token_endpoint_auth_method: auth }),
  } as OAuthClientInformationMixed;
}

function placeOf({ server, issuer, redirectUri }: Pick<ChooseOptions, "server" | "issuer" | "redirectUri">) {
  return `${server}/${digest(JSON.stringify([issuer, redirectUri]))}`;
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
