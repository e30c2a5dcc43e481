/** How Postern introduces itself to authorization servers: when it registers, and in the document that its client id points to. */

/** RFC 7591's words. */
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

/** Where the gateway serves the document, beside the callback. Undefined where nobody else could read it. */
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
