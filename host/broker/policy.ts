/** Decides what a tool may ask the network for: the one request that may be sent, or why not. It opens no socket. */
import { isUtf8 } from "node:buffer";
import { type AllowRule, ANY_HOST, type HttpCapabilities } from "../../capabilities/capabilities.ts";
import { RESERVED_HEADERS } from "../../capabilities/headers.ts";
import { hostMatches, pathMatches } from "../../capabilities/match.ts";
import { hasDestination } from "../../capabilities/methods.ts";
import { MANIFEST } from "../../kernel/kit/files.ts";
import { hostAndPort, type PrivateHosts } from "../../kernel/kit/outbound.ts";
import { isRecord } from "../../kernel/kit/text.ts";
import type { ToolRequest } from "./grant.ts";

/** A request that passed, in the only form in which it may be sent. It holds no secret yet. */
export interface AllowedRequest {
  readonly method: string;
  /** Normalised; no user info, no fragment, no trailing dot in the host. */
  readonly url: URL;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | undefined;
  /** Allowed only because the tool may read any public web page. */
  readonly isAnyPage: boolean;
}

export type Ruling =
  | { readonly ok: true; readonly request: AllowedRequest }
  | { readonly ok: false; readonly error: string };

export const MAX_REQUEST_BYTES = 1024 * 1024;
const MAX_URL_CHARS = 16 * 1024;
const MAX_HEADER_CHARS = 8 * 1024;
const MAX_DECODINGS = 5;

/** Every server reads it as it stands: nothing is encoded, and no segment is made of dots. */
const PLAIN_PATH = /^[\w/~-]*$/;

/** The broker does not send a request, cannot, or gives no answer. The tool reads the message, which holds no secret. */
export class Refused extends Error {}

export function rule(
  http: HttpCapabilities | undefined,
  request: ToolRequest,
  privateHosts: PrivateHosts,
): Ruling {
  try {
    const mayReadAny = http?.allowlist.some(({ host }) => host === ANY_HOST) ?? false;
    const url = readUrl(request.url, privateHosts, mayReadAny);
    const method = request.method.toUpperCase();
    const isAnyPage = findRules(http, method, url).every(({ host }) => host === ANY_HOST);
    const given = readHeaders(request.headersJson);
    const headers = hasDestination(method)
      ? { ...given, destination: readDestination(http, method, url, given, privateHosts) }
      : given;
    const body = readBody(request);
    if (!isAnyPage) return { ok: true, request: { method, url, headers, body, isAnyPage } };
    if (body !== undefined)
      throw new Refused("A request for any public web page may not have a body: nothing was sent.");
    return { ok: true, request: { method, url, headers: pageHeaders(headers), body, isAnyPage } };
  } catch (error) {
    if (error instanceof Refused) return { ok: false, error: error.message };
    throw error;
  }
}

/** The operator's exceptions for all tools and for this installation. */
export function exceptionsFor(http: HttpCapabilities | undefined, privateHosts: PrivateHosts): PrivateHosts {
  if (http === undefined || http.privateHosts.length === 0) return privateHosts;
  return new Set([...privateHosts, ...http.privateHosts]);
}

const PAGE_HEADERS = new Set([
  ...["accept", "accept-language", "range", "if-none-match", "if-modified-since", "user-agent"],
]);
const MAX_PAGE_HEADER_CHARS = 500;
const USER_AGENT = `Postern/${MANIFEST.version} (a self-hosted agent that reads this page for a person)`;

/** Whatever else a tool could write into a header would reach a server that nobody chose. */
function pageHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  for (const [name, value] of Object.entries(headers)) {
    if (!PAGE_HEADERS.has(name))
      throw new Refused(
        `The header ${name} is not allowed in a request for any public web page; allowed: ${[...PAGE_HEADERS].slice(0, -1).join(", ")}.`,
      );
    if (value.length > MAX_PAGE_HEADER_CHARS)
      throw new Refused(`The header ${name} holds more than ${MAX_PAGE_HEADER_CHARS} characters.`);
  }
  return { ...headers, "user-agent": USER_AGENT };
}

/** The rule for every URL that somebody else gives us; throws `Refused`. With `upgrades` plain http becomes https. */
export function readUrl(text: string, privateHosts: PrivateHosts, upgrades = false): URL {
  if (text.length > MAX_URL_CHARS) throw new Refused(`The URL is longer than ${MAX_URL_CHARS} characters.`);
  // Looked at before parsing: a URL parser drops or rewrites exactly the characters that fool the next reader.
  if (/[^!-~\u0080-\uffff]|\\/.test(text))
    throw new Refused(
      "The URL holds a space, a control character or a backslash; write them percent-encoded.",
    );
  const parts = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/([^/?#]*)([^?#]*)/.exec(text);
  const [, scheme = "", authority = "", path = ""] = parts ?? [];
  const url = URL.parse(text);
  if (parts === null || url === null) throw new Refused(`${quote(text)} is not an absolute URL.`);
  if (!/^https?$/i.test(scheme)) throw new Refused(`The scheme ${scheme}: is not allowed; only https is.`);
  // A parser skips further slashes, and then reads the host out of what we took for the path.
  if (authority === "") throw new Refused(`${quote(text)} names no host after its two slashes.`);
  if (authority.includes("@") || url.username !== "" || url.password !== "")
    throw new Refused("The URL holds user information before the host, which is not allowed.");
  if (!PLAIN_PATH.test(path)) checkSegments(path);
  // Each of these writes the whole URL anew.
  if (text.includes("#")) url.hash = "";
  if (url.hostname.endsWith(".")) url.hostname = url.hostname.slice(0, -1);
  if (privateHosts.has(hostAndPort(url))) return url;
  if (upgrades && url.protocol === "http:" && url.port === "") url.protocol = "https:";
  if (url.protocol !== "https:")
    throw new Refused(
      `Plain http to ${url.host} is not allowed; use https. An operator can except hosts in TOOLS_PRIVATE_HOSTS.`,
    );
  if (url.port !== "")
    throw new Refused(
      `Port ${url.port} of ${url.hostname} is not allowed; only 443 is. An operator can except hosts in TOOLS_PRIVATE_HOSTS.`,
    );
  return url;
}

/** Encoded separators and dot segments mean one path to us and another to some servers: no prefix holds for them. */
function checkSegments(path: string): void {
  for (const segment of path.split("/")) {
    const flat = decodeFully(segment);
    if (/[/\\]/.test(flat))
      throw new Refused(
        "The path holds an encoded slash or backslash, or a character that some servers read as one, which is not allowed.",
      );
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    if (/[\u0000-\u001f\u007f]/.test(flat))
      throw new Refused("The path holds an encoded control character, which is not allowed.");
    // Some servers cut a segment at its first ";" before they look at it.
    if (/^\.{1,2}$/.test(flat.split(";")[0] ?? ""))
      throw new Refused('The path holds a "." or ".." segment, which is not allowed.');
  }
}

// Unicode's compatibility form leaves these alone, and some servers still read them as an ASCII character.
const LOOKALIKES: readonly (readonly [RegExp, string])[] = [
  [/[\u2044\u2215\u29f8\u2571]/g, "/"],
  [/[\u2216\u29f5\u29f9\u2572]/g, "\\"],
  [/\u3002/g, "."],
];

/** As the last of several servers would read it: each decodes once, or makes ASCII of fullwidth dots and slashes. */
function decodeFully(segment: string): string {
  let flat = segment;
  for (let round = 0; round <= MAX_DECODINGS; round++) {
    const bytes = Buffer.from(
      Buffer.from(flat)
        .toString("latin1")
        .replace(/%([0-9A-Fa-f]{2})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16))),
      "latin1",
    );
    if (!isUtf8(bytes))
      throw new Refused(
        "The path holds bytes that are not UTF-8 once it is decoded. Some servers read them as dots or slashes, so no path_prefix holds for them; percent-encode the path's UTF-8.",
      );
    const decoded = LOOKALIKES.reduce(
      (text, [pattern, ascii]) => text.replace(pattern, ascii),
      bytes.toString().normalize("NFKC"),
    );
    if (decoded === flat) return flat;
    flat = decoded;
  }
  throw new Refused(`The path is percent-encoded too many times; ${MAX_DECODINGS} are allowed.`);
}

/** The rules that allow it, at least one; throws `Refused`. */
function findRules(http: HttpCapabilities | undefined, method: string, url: URL): readonly AllowRule[] {
  const rules = (http?.allowlist ?? []).filter(({ host, methods }) => methods.length > 0 && host !== "");
  const forHost = rules.filter(({ host }) => hostMatches(host, url.hostname));
  if (forHost.length === 0) {
    const known = [...new Set(rules.map(({ host }) => host))];
    throw new Refused(
      `The host ${url.hostname} is not in the tool's allowlist (${known.join(", ") || "which is empty"}).`,
    );
  }
  const path = decodePath(url);
  const forPath = forHost.filter(({ pathPrefix }) => pathMatches(pathPrefix, path));
  if (forPath.length === 0) {
    const known = [...new Set(forHost.map(({ pathPrefix }) => pathPrefix))];
    throw new Refused(
      `The path ${quote(url.pathname)} of ${url.hostname} is not allowed; allowed: ${known.join(", ")}.`,
    );
  }
  const found = forPath.filter(({ methods }) => methods.includes(method));
  if (found.length === 0) {
    const known = [...new Set(forPath.flatMap(({ methods }) => methods))];
    throw new Refused(
      `${quote(method)} is not allowed at ${url.hostname}${url.pathname}; allowed: ${known.join(", ")}.`,
    );
  }
  return found;
}

/** What is moved or copied ends up at a second address, which is held against the same rules and is on the same server. */
function readDestination(
  http: HttpCapabilities | undefined,
  method: string,
  url: URL,
  { destination }: Readonly<Record<string, string>>,
  privateHosts: PrivateHosts,
): string {
  if (destination === undefined) throw new Refused(`A ${method} needs the header Destination.`);
  const to = readUrl(destination, privateHosts);
  if (to.origin !== url.origin)
    throw new Refused(`A ${method} must stay on ${url.host}; its Destination is on ${to.host}.`);
  findRules(http, method, to);
  return to.href;
}

function decodePath(url: URL): string {
  try {
    return decodeURIComponent(url.pathname);
  } catch {
    throw new Refused("The path holds a percent sign that begins no character.");
  }
}

function readHeaders(json: string): Record<string, string> {
  const given = parseHeaders(json);
  const headers = new Map<string, string>();
  let chars = 0;
  for (const [name, value] of Object.entries(given)) {
    const key = name.toLowerCase();
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(key)) throw new Refused(`${quote(name)} is no name for a header.`);
    if (typeof value !== "string") throw new Refused(`The value of the header ${name} is not a string.`);
    if (!/^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value))
      throw new Refused(
        `The value of the header ${name} holds a line break or another character headers cannot carry.`,
      );
    if (RESERVED_HEADERS.has(key))
      throw new Refused(`The header ${name} is set by Postern and cannot be given.`);
    if (headers.has(key)) throw new Refused(`The header ${name} is given twice.`);
    headers.set(key, value);
    chars += key.length + value.length;
  }
  if (chars > MAX_HEADER_CHARS)
    throw new Refused(`The headers hold more than ${MAX_HEADER_CHARS} characters.`);
  return Object.fromEntries(headers);
}

function parseHeaders(json: string): object {
  let headers: unknown;
  try {
    headers = JSON.parse(json === "" ? "{}" : json);
  } catch {
    throw new Refused("The headers are not JSON.");
  }
  if (!isRecord(headers)) throw new Refused("The headers are not a JSON object of names and values.");
  return headers;
}

function readBody({ body }: ToolRequest): Uint8Array | undefined {
  if (body === undefined || body.byteLength === 0) return undefined;
  if (body.byteLength > MAX_REQUEST_BYTES)
    throw new Refused(`The body has ${body.byteLength} bytes; at most ${MAX_REQUEST_BYTES} are allowed.`);
  return body;
}

function quote(text: string): string {
  return JSON.stringify(text.length > 200 ? `${text.slice(0, 199)}…` : text);
}
