/** A real OAuth 2 authorization server on loopback: PKCE and redirect URI checked, codes used once, tokens rotated. */
import { createHash, randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { openUpstream, type ReceivedRequest } from "./upstream.ts";

export interface AuthorizationServer {
  readonly port: number;
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
  /** Every token request's parameters. */
  readonly tokenRequests: readonly URLSearchParams[];
  /** What the next answers look like. */
  readonly behaviour: {
    expiresIn: number | undefined;
    refuse: string | undefined;
    issuesRefreshTokens: boolean;
  };
  /** Signs in like a browser would: follows the address, and answers where the server sends it back to. */
  signIn(url: string): Promise<URL>;
  close(): Promise<void>;
}

interface PendingCode {
  readonly challenge: string;
  readonly redirectUri: string;
  readonly clientId: string;
}

export async function openAuthorizationServer(client: {
  readonly id: string;
  readonly secret?: string;
}): Promise<AuthorizationServer> {
  const codes = new Map<string, PendingCode>();
  const refreshTokens = new Set<string>();
  const tokenRequests: URLSearchParams[] = [];
  const behaviour: AuthorizationServer["behaviour"] = {
    expiresIn: 3600,
    refuse: undefined,
    issuesRefreshTokens: true,
  };

  function authorize(url: URL, response: ServerResponse): void {
    const ask = url.searchParams;
    const back = new URL(ask.get("redirect_uri") ?? "");
    back.searchParams.set("state", ask.get("state") ?? "");
    if (behaviour.refuse !== undefined) back.searchParams.set("error", behaviour.refuse);
    else if (
      ask.get("response_type") === "code" &&
      ask.get("code_challenge_method") === "S256" &&
      ask.get("client_id") === client.id
    ) {
      const code = randomUUID();
      codes.set(code, {
        challenge: ask.get("code_challenge") ?? "",
        redirectUri: ask.get("redirect_uri") ?? "",
        clientId: client.id,
      });
      back.searchParams.set("code", code);
      back.searchParams.set("iss", `${url.origin}/realm`);
    } else back.searchParams.set("error", "invalid_request");
    response.writeHead(302, { location: back.href }).end();
  }

  function redeem(ask: URLSearchParams): boolean {
    if (ask.get("client_id") !== client.id) return false;
    if ((ask.get("client_secret") ?? undefined) !== client.secret) return false;
    if (ask.get("grant_type") === "refresh_token")
      return refreshTokens.delete(ask.get("refresh_token") ?? "");
    const pending = codes.get(ask.get("code") ?? "");
    codes.delete(ask.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(ask.get("code_verifier") ?? "")
      .digest("base64url");
    return pending?.challenge === challenge && pending.redirectUri === ask.get("redirect_uri");
  }

  function answerToken({ body }: ReceivedRequest, response: ServerResponse): void {
    const ask = new URLSearchParams(body);
    tokenRequests.push(ask);
    const json = (status: number, value: object) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
    if (behaviour.refuse !== undefined || !redeem(ask)) {
      const description = `refused ${ask.get("client_secret")} ${ask.get("refresh_token")}`;
      json(400, { error: behaviour.refuse ?? "invalid_grant", error_description: description });
      return;
    }
    const refresh = `refresh-${randomUUID()}`;
    if (behaviour.issuesRefreshTokens) refreshTokens.add(refresh);
    json(200, {
      access_token: `access-${randomUUID()}`,
      token_type: "Bearer",
      id_token: "not.a.jwt",
      ...(behaviour.expiresIn !== undefined && { expires_in: behaviour.expiresIn }),
      ...(behaviour.issuesRefreshTokens && { refresh_token: refresh }),
    });
  }

  const server = await openUpstream((request, response) => {
    const url = new URL(request.path, `http://id.test:${server.port}`);
    if (url.pathname === "/authorize") authorize(url, response);
    else if (url.pathname === "/token" && request.method === "POST") answerToken(request, response);
    else response.writeHead(404).end();
  });
  return {
    port: server.port,
    authorizationUrl: `http://id.test:${server.port}/authorize?prompt=consent`,
    tokenUrl: `http://id.test:${server.port}/token`,
    tokenRequests,
    behaviour,
    async signIn(url) {
      const here = url.replace("id.test", "127.0.0.1");
      const response = await fetch(here, { redirect: "manual" });
      return new URL(response.headers.get("location") ?? "");
    },
    close: server.close,
  };
}
