/** As which client we sign in at an authorization server: the one in the server's file, our document's address, or one registered there. */
import type {
  AuthorizationServerMetadata,
  FetchLike,
  OAuthClientInformationFull,
} from "@modelcontextprotocol/client";
import { type SealingKey, seal, unseal } from "../../../kernel/kit/secrets.ts";
import { Fault, type Keyed } from "../../../kernel/plugin.ts";
import { clientMetadata } from "./client-document.ts";
import { digest } from "./target.ts";

/** Sealed at rest; a secret in it goes to its issuer alone. */
export type OAuthClient = Pick<
  OAuthClientInformationFull,
  "client_id" | "client_secret" | "token_endpoint_auth_method"
>;

export interface ChooseOptions {
  readonly server: string;
  readonly metadata: AuthorizationServerMetadata;
  readonly redirectUri: string;
  readonly scope: string | undefined;
  readonly registered: OAuthClient | undefined;
  /** The address of our own document, where others can read it. */
  readonly documentUrl: string | undefined;
}

const METHODS = ["none", "client_secret_basic", "client_secret_post"];

/** `fetch` reads a whole answer. */
export function createClients(keyed: Keyed<string>, key: SealingKey, fetch: FetchLike) {
  const find = async (place: string): Promise<string | undefined> => {
    const sealed = await keyed.get(place);
    try {
      return sealed && unseal(key, place, sealed);
    } catch (error) {
      // It was sealed with another key, so it is registered again.
      if (error instanceof Fault) return undefined;
      throw error;
    }
  };
  const keep = (place: string, text: string, millis?: number) =>
    keyed.set(place, seal(key, place, text), millis);

  /** A client in a file belongs to one authorization server: its secret goes to no other that the server may name later. */
  async function pin(server: string, client: OAuthClient, issuer: string): Promise<void> {
    const place = `${server}/${digest(client.client_id)}`;
    const first = await find(place);
    if (first === undefined) await keep(place, issuer);
    else if (first !== issuer) {
      const message = `${server} now names another authorization server (${issuer}) than the one its client in the file belongs to (${first}); nothing was sent there. If that is right, remove ${server} and add it again.`;
      throw new Fault("forbidden", "issuer_changed", message);
    }
  }

  async function register(options: ChooseOptions): Promise<OAuthClientInformationFull> {
    const { server, metadata, redirectUri, scope } = options;
    if (metadata.registration_endpoint === undefined) {
      const message = `${metadata.issuer} has no automatic client registration. Register Postern there (redirect URI ${redirectUri}) and write its client id into the file: postern mcp edit ${server}.`;
      throw new Fault("invalid", "no_registration", message);
    }
    const { registerClient } = await import("@modelcontextprotocol/client");
    const accepted = metadata.token_endpoint_auth_methods_supported ?? METHODS;
    const method = METHODS.find((one) => accepted.includes(one));
    return registerClient(metadata.issuer, {
      metadata,
      clientMetadata: {
        ...clientMetadata(redirectUri),
        ...(method !== undefined && { token_endpoint_auth_method: method }),
      },
      scope,
      fetchFn: fetch,
    });
  }

  return {
    async choose(options: ChooseOptions): Promise<OAuthClient> {
      const { server, metadata, redirectUri, registered, documentUrl } = options;
      if (registered !== undefined) {
        await pin(server, registered, metadata.issuer);
        return registered;
      }
      if (documentUrl !== undefined && metadata.client_id_metadata_document_supported === true)
        return { client_id: documentUrl, token_endpoint_auth_method: "none" };
      const place = placeOf(server, metadata.issuer, redirectUri);
      const known = await find(place);
      if (known !== undefined) return JSON.parse(known) as OAuthClient;
      const { client_id, client_secret, token_endpoint_auth_method, client_secret_expires_at } =
        await register(options);
      const client = { client_id, client_secret, token_endpoint_auth_method };
      const expires = client_secret_expires_at ? client_secret_expires_at * 1000 - Date.now() : undefined;
      await keep(place, JSON.stringify(client), expires);
      return client;
    },
    async forget(server: string, issuer: string, redirectUri: string): Promise<void> {
      await keyed.delete(placeOf(server, issuer, redirectUri));
    },
  };
}

function placeOf(server: string, issuer: string, redirectUri: string): string {
  return `${server}/${digest(JSON.stringify([issuer, redirectUri]))}`;
}
