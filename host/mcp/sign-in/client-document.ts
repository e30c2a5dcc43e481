/** Describes Postern to authorization servers, at registration and in the document that its client id points to. */

export interface ClientMetadata {
  readonly client_name: string;
  readonly redirect_uris: string[];
  readonly grant_types: string[];
  readonly response_types: string[];
  readonly application_type: "native" | "web";
}

export function clientMetadata(redirectUri: string): ClientMetadata {
  return {
    client_name: "Postern",
    redirect_uris: [redirectUri],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    application_type: redirectUri.startsWith("https:") ? "web" : "native",
  };
}

/** Returns the address of the document, beside the callback, and undefined where no authorization server could read it. */
export function clientDocumentUrl(redirectUri: string): string | undefined {
  return redirectUri.startsWith("https:") ? new URL("client", redirectUri).href : undefined;
}

/** A public client: it proves itself with PKCE. */
export function clientDocument(redirectUri: string): ClientMetadata & {
  readonly client_id: string;
  readonly token_endpoint_auth_method: "none";
} {
  return {
    client_id: clientDocumentUrl(redirectUri) ?? "",
    ...clientMetadata(redirectUri),
    token_endpoint_auth_method: "none",
  };
}
