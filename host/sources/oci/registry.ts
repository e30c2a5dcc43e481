/** A client of the OCI protocol, made for each thing done at a registry: it keeps the token, and whether there is TLS. */

import { hostAndPort, type OutboundReply, type PrivateHosts } from "../../../kernel/kit/outbound.ts";
import { visibleLine } from "../../../kernel/kit/text.ts";
import { Fault } from "../../../kernel/plugin.ts";
import { type DownloadRequest, type Downloads, isPlainServer } from "../download.ts";
import type { Login } from "./logins.ts";
import { readJson } from "./manifest.ts";

export type RegistryRequest = Omit<DownloadRequest, "authorization">;

export type Registry = ReturnType<typeof openRegistry>;

export interface RegistryOptions {
  readonly registry: string;
  readonly repository: string;
  readonly access: "pull" | "pull,push";
  readonly downloads: Downloads;
  readonly privateHosts: PrivateHosts;
  /** Asked once, and only where the registry wants to know who it is. */
  readonly login: () => Promise<KnownLogin>;
}

export interface KnownLogin {
  readonly login?: Login;
  /** The command that keeps it, which is not run. */
  readonly helper?: string;
}

const MAX_TOKEN_BYTES = 256 * 1024;
const MAX_ERROR_BYTES = 64 * 1024;
/** Maps names that people use to the hosts that serve the protocol. */
const HOSTS = new Map([["docker.io", "registry-1.docker.io"]]);

export function openRegistry(options: RegistryOptions) {
  const { registry, repository, access, downloads, privateHosts } = options;
  const host = HOSTS.get(registry) ?? registry;
  let base: URL | undefined;
  let authorization: string | undefined;
  let helper: string | undefined;

  const sendPlain = async (path: string | URL, request: DownloadRequest): Promise<OutboundReply> => {
    const on = (root: URL) =>
      typeof path === "string"
        ? downloads.send(new URL(`v2/${path}`, root), request)
        : downloads.send(path, { ...request, namedBy: root });
    if (base !== undefined) return on(base);
    const secure = new URL(`https://${host}/`);
    try {
      const answer = await on(secure);
      base = secure;
      return answer;
    } catch (error) {
      const plain = new URL(`http://${host}/`);
      // Only an answer that is no TLS at all, of a host that the operator excepted: a broken connection is not one.
      if (!privateHosts.has(hostAndPort(plain)) || !isPlainServer(error)) throw error;
      base = plain;
      return on(plain);
    }
  };

  async function authorize(
    challenge: Challenge,
    signal: AbortSignal | undefined,
  ): Promise<string | undefined> {
    const known = await options.login();
    const { login } = known;
    helper = known.helper;
    if (challenge.scheme === "basic")
      return login === undefined || login.isIdentityToken === true ? undefined : basic(login);
    const realm = URL.parse(challenge.realm);
    if (realm === null) throw refused(registry, "names no valid address for its tokens");
    const scope = challenge.scope ?? (repository === "" ? "" : `repository:${repository}:${access}`);
    const { service = "" } = challenge;
    const bounds = { maxBytes: MAX_TOKEN_BYTES, namedBy: base, signal };
    const form = { grant_type: "refresh_token", service, scope, client_id: "postern" };
    const answer =
      login?.isIdentityToken === true
        ? await downloads.send(realm, {
            ...bounds,
            method: "POST",
            headers: { "content-type": "application/x-www-form-urlencoded" },
            body: new URLSearchParams({ ...form, refresh_token: login.password }).toString(),
          })
        : await downloads.send(withQuery(realm, { service, scope }), {
            ...bounds,
            authorization: login && basic(login),
          });
    if (answer.status === 401 || answer.status === 403) return undefined;
    const { token, access_token } = answer.status === 200 ? (readJson(answer.body) ?? {}) : {};
    const given = token ?? access_token;
    if (typeof given !== "string" || !/^[!-~]{1,65536}$/.test(given))
      throw refused(registry, `gave no token (${realm.host} answered ${answer.status})`);
    return `Bearer ${given}`;
  }

  return {
    locate: (location: string): URL | undefined =>
      location === "" ? undefined : (URL.parse(location, base) ?? undefined),
    /** `path` comes after `/v2/`, or is a whole address that the registry named itself. */
    async send(path: string | URL, request: RegistryRequest): Promise<OutboundReply> {
      // Before credentials: an address of another origin, which uploads may have, gets none.
      const mayKnow = typeof path === "string" || path.origin === base?.origin;
      const first = await sendPlain(path, { ...request, authorization: mayKnow ? authorization : undefined });
      if (first.status !== 401 || !mayKnow) return first;
      const challenge = readChallenge(first.headers["www-authenticate"]?.toString());
      if (challenge === undefined)
        throw refused(registry, "wants a way of signing in that Postern does not know");
      authorization = await authorize(challenge, request.signal);
      if (authorization === undefined) throw unauthorized(registry, helper);
      const second = await sendPlain(path, { ...request, authorization });
      if (second.status === 401) throw unauthorized(registry, helper);
      return second;
    },
  };
}

export function unexpected(registry: string, what: string, { status, body }: OutboundReply): Fault {
  if (status === 404) return new Fault("missing", "no_such_tool", `${what} does not exist at ${registry}.`);
  if (status === 403)
    return new Fault("forbidden", "registry_forbidden", `${registry} does not let you do this with ${what}.`);
  if (status === 429) {
    const message = `${registry} has had too many requests; try again later.`;
    return new Fault("limited", "registry_limited", message);
  }
  const said = saidBy(body);
  return refused(registry, `answered ${status} for ${what}${said === "" ? "" : `: ${said}`}`);
}

function saidBy(body: Uint8Array): string {
  const errors = body.length > MAX_ERROR_BYTES ? undefined : readJson(body)?.["errors"];
  const [first] = Array.isArray(errors) ? errors : [];
  const message = (first as { readonly message?: unknown } | undefined)?.message;
  return typeof message === "string" ? visibleLine(message.slice(0, 200)) : "";
}

function unauthorized(registry: string, helper: string | undefined): Fault {
  const kept =
    helper === undefined
      ? ""
      : ` Docker's file leaves its sign-in to the command ${visibleLine(helper)}, which Postern does not run.`;
  const message = `${registry} wants you to sign in, or does not accept your sign-in.${kept} Run: postern registry login ${registry}`;
  return new Fault("unauthenticated", "registry_sign_in", message);
}

export function refused(registry: string, why: string): Fault {
  return new Fault("unavailable", "registry_answer", `${registry} ${why}.`);
}

function basic({ username, password }: Login): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

function withQuery(url: URL, params: Readonly<Record<string, string>>): URL {
  const full = new URL(url);
  for (const [name, value] of Object.entries(params)) if (value !== "") full.searchParams.set(name, value);
  return full;
}

export type Challenge =
  | { readonly scheme: "basic" }
  | {
      readonly scheme: "bearer";
      readonly realm: string;
      readonly service?: string | undefined;
      readonly scope?: string | undefined;
    };

const MAX_CHARS = 4096;
/** `name="value"` or `name=value`, each right behind the last one: what follows may be another challenge. */
const PARAM = /[^\w-]*([\w-]+)=(?:"((?:[^"\\]|\\.)*)"?|([^,]*))/gsy;

/** The first challenge that can be met; undefined where there is none. */
function readChallenge(header = ""): Challenge | undefined {
  if (header.length > MAX_CHARS) return undefined;
  const space = header.indexOf(" ");
  const scheme = (space === -1 ? header : header.slice(0, space)).toLowerCase();
  if (scheme === "basic") return { scheme };
  if (scheme !== "bearer" || space === -1) return undefined;
  const params = new Map<string, string>();
  for (const [, name = "", quoted, plain = ""] of header.slice(space + 1).matchAll(PARAM))
    if (!params.has(name.toLowerCase()))
      params.set(name.toLowerCase(), (quoted?.replace(/\\(.)/gs, "$1") ?? plain).trim());
  const realm = params.get("realm");
  if (realm === undefined) return undefined;
  return { scheme, realm, service: params.get("service"), scope: params.get("scope") };
}
