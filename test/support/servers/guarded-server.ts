/** An MCP server behind OAuth and its authorization server, both at one loopback address: PKCE, codes and tokens are checked. */
import { createHash, randomUUID } from "node:crypto";
import { request } from "node:http";
import { type Answering, openUpstream, type ReceivedRequest, type Upstream } from "./upstream.ts";

export interface GuardedServer {
  readonly port: number;
  readonly origin: string;
  readonly url: string;
  readonly requests: Upstream["requests"];
  /** By path, in place of the usual answer. */
  readonly instead: Map<string, Answering>;
  /** Merged into the metadata of the authorization server. */
  readonly metadata: Record<string, unknown>;
  readonly resource: Record<string, unknown>;
  readonly behaviour: {
    expiresIn: number | undefined;
    /** In the 401's challenge. */
    scope: string | undefined;
    /** What a request has to be signed in for. */
    needs: string | undefined;
    /** In the answer to the browser; the issuer where it is undefined, none where it is null. */
    iss: string | null | undefined;
    refuse: string | undefined;
  };
  /** Form of every token request. */
  tokenRequests(): URLSearchParams[];
  /** Ends all access tokens. */
  revoke(): void;
  /** Follows the address as a browser does, and answers where it is sent back to. */
  signIn(url: string): Promise<URL>;
  close(): Promise<void>;
}

const MCP_PATH = "/mcp";

interface Code {
  readonly challenge: string;
  readonly redirectUri: string;
  readonly client: string;
  readonly scope: string;
}

export async function openGuardedServer(answer?: Answering): Promise<GuardedServer> {
  const codes = new Map<string, Code>();
  const access = new Map<string, string>();
  const refreshable = new Map<string, string>();
  const instead: GuardedServer["instead"] = new Map();
  const metadata: GuardedServer["metadata"] = {};
  const resource: GuardedServer["resource"] = {};
  const behaviour: GuardedServer["behaviour"] = {
    expiresIn: 3600,
    scope: undefined,
    needs: undefined,
    iss: undefined,
    refuse: undefined,
  };
  let origin = "";
  const json = (response: Parameters<Answering>[1], body: unknown, status = 200) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));

  const usual: Record<string, Answering> = {
    [MCP_PATH](request, response) {
      const scope = access.get(request.headers.authorization?.replace(/^Bearer /, "") ?? "");
      const at = `resource_metadata="${origin}/.well-known/oauth-protected-resource${MCP_PATH}"`;
      if (scope === undefined) {
        const asked = behaviour.scope === undefined ? "" : `, scope="${behaviour.scope}"`;
        response.writeHead(401, { "www-authenticate": `Bearer ${at}${asked}` }).end();
      } else if (behaviour.needs !== undefined && !scope.split(" ").includes(behaviour.needs)) {
        const challenge = `Bearer error="insufficient_scope", scope="${behaviour.needs}", ${at}`;
        response.writeHead(403, { "www-authenticate": challenge }).end();
      } else if (answer !== undefined) answer(request, response);
      else json(response, { saw: request.headers.authorization });
    },
    [`/.well-known/oauth-protected-resource${MCP_PATH}`]: (_, response) =>
      json(response, { resource: `${origin}${MCP_PATH}`, authorization_servers: [origin], ...resource }),
    "/.well-known/oauth-authorization-server": (_, response) =>
      json(response, {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ["code"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none", "client_secret_basic"],
        authorization_response_iss_parameter_supported: true,
        ...metadata,
      }),
    "/register": (request, response) =>
      json(response, { ...JSON.parse(request.body), client_id: randomUUID() }, 201),
    "/authorize"(request, response) {
      const ask = new URL(request.path, origin).searchParams;
      const back = new URL(ask.get("redirect_uri") ?? "");
      back.searchParams.set("state", ask.get("state") ?? "");
      const iss = behaviour.iss === undefined ? origin : behaviour.iss;
      if (iss !== null) back.searchParams.set("iss", iss);
      if (behaviour.refuse !== undefined) back.searchParams.set("error", behaviour.refuse);
      else {
        const code = randomUUID();
        codes.set(code, {
          challenge: ask.get("code_challenge") ?? "",
          redirectUri: ask.get("redirect_uri") ?? "",
          client: ask.get("client_id") ?? "",
          scope: ask.get("scope") ?? "",
        });
        back.searchParams.set("code", code);
      }
      response.writeHead(302, { location: back.href }).end();
    },
    "/token"(request, response) {
      const scope = redeem(new URLSearchParams(request.body), clientOf(request));
      if (scope === undefined) {
        json(response, { error: "invalid_grant" }, 400);
        return;
      }
      const [token, refresh] = [`access-${randomUUID()}`, `refresh-${randomUUID()}`];
      access.set(token, scope);
      refreshable.set(refresh, scope);
      json(response, {
        access_token: token,
        token_type: "Bearer",
        refresh_token: refresh,
        scope,
        ...(behaviour.expiresIn !== undefined && { expires_in: behaviour.expiresIn }),
      });
    },
  };

  /** The scope of what is given out for it; each is good once. */
  function redeem(form: URLSearchParams, client: string): string | undefined {
    const token = form.get("refresh_token") ?? "";
    if (form.get("grant_type") === "refresh_token") {
      const scope = refreshable.get(token);
      refreshable.delete(token);
      return scope;
    }
    const code = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const isRight =
      code?.challenge === challenge &&
      code.redirectUri === form.get("redirect_uri") &&
      code.client === client;
    return isRight ? code.scope : undefined;
  }

  const upstream = await openUpstream((request, response) => {
    const path = request.path.replace(/\?.*$/, "");
    const handle = instead.get(path) ?? usual[path];
    if (handle === undefined) response.writeHead(404).end();
    else handle(request, response);
  });
  origin = `http://127.0.0.1:${upstream.port}`;
  return {
    port: upstream.port,
    origin,
    url: `${origin}${MCP_PATH}`,
    requests: upstream.requests,
    instead,
    metadata,
    resource,
    behaviour,
    tokenRequests: () =>
      upstream.requests.filter(({ path }) => path === "/token").map(({ body }) => new URLSearchParams(body)),
    revoke: () => access.clear(),
    async signIn(url) {
      const { headers } = await fetch(url, { redirect: "manual" });
      return new URL(headers.get("location") ?? "");
    },
    close: upstream.close,
  };
}

/** Hands what may pass on to a server without a guard, and its answers back as they come. */
export function passOn(url: string): Answering {
  return ({ method, headers, body }, response) => {
    const { host: _, ...rest } = headers;
    const asked = request(url, { method, headers: rest }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.on("error", () => response.destroy()).pipe(response);
    });
    asked.on("error", () => response.destroy()).end(body);
    response.on("close", () => asked.destroy());
  };
}

function clientOf({ headers, body }: ReceivedRequest): string {
  const basic = /^Basic (.*)$/.exec(headers.authorization ?? "")?.[1];
  if (basic === undefined) return new URLSearchParams(body).get("client_id") ?? "";
  return decodeURIComponent(Buffer.from(basic, "base64").toString().split(":")[0] ?? "");
}
