/** What a tool's request may do, said a second time and plainly, from `capabilities/README.md`. The broker has to judge alike. */
import { BlockList, isIP } from "node:net";
import type { Asked, Credential, File, Host, Judgement, Sent, World } from "./case.ts";

class Refusal extends Error {}
function refuse(why: string): never {
  throw new Refusal(why);
}

const PAGE_HEADERS = "accept accept-language range if-none-match if-modified-since user-agent".split(" ");
const NEVER =
  "accept-encoding connection content-length expect host http2-settings keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade x-http-method x-http-method-override x-method-override x-original-url x-rewrite-url";
const BESIDE = /^(?:range|if-range|forwarded|x-(?:forwarded|original|rewrite|override|http-method)(?:-.*)?)$/;
/** What IANA lists as not reachable by everybody, and the address where a cloud keeps its credentials. */
const SPECIAL =
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3 2001::/23 2001:db8::/32 2002::/16 3fff::/20";
export const OWN_AGENT = "Postern";

/** Judges the requests of one tool, one after another. */
export function createModel(file: File, world: World): (asked: Asked) => Judgement {
  const { rate_limit: rate = {}, allowlist = [], credentials = {}, redirects = false } = file.http ?? {};
  const rules = allowlist.map(({ host, path_prefix, methods }) => {
    const base = readHost(host, file, world);
    return { ...base, isSet: typeof host !== "string", prefix: base.path + path_prefix, methods };
  });
  // What the operator agreed to counts as long as a rule gets that very host from a setting.
  const isNamed = (entry: string) =>
    rules.some(({ isSet, host, port }) => isSet && `${host}:${port}` === entry);
  const exceptions = [...world.privateHosts, ...world.agreed.filter(isNamed)];
  const isException = (url: URL) => exceptions.includes(`${url.hostname}:${portOf(url)}`);
  const taken: string[] = [];

  function count(limits: Readonly<Record<string, number>>): void {
    for (const [key, limit] of Object.entries(limits))
      if (taken.filter((other) => other === key).length >= limit) refuse(`the limit of ${key}`);
    taken.push(...Object.keys(limits));
  }

  function judgeOne({ user, ...asked }: Asked, mayBePrivate: boolean): Sent {
    const url = readUrl(asked.url);
    const isPrivate = () => mayBePrivate && isException(url);
    const reads = rules.some(({ host }) => host === "*");
    if (url.protocol === "http:" && !isPrivate() && reads && url.port === "") url.protocol = "https:";
    if ((url.protocol !== "https:" || url.port !== "") && !isPrivate()) refuse("neither https nor excepted");
    const method = asked.method.toUpperCase();
    const path = decode(url.pathname);
    const found = rules
      .filter(({ host, prefix }) => hostMatches(host, url.hostname) && covers(prefix, path))
      .filter(({ methods }) => methods.includes(method));
    if (found.length === 0) refuse("not in the allowlist");
    const headers = readHeaders(asked.headersJson);
    if (method === "MOVE" || method === "COPY") {
      const to = readUrl(headers["destination"] ?? refuse("no destination"));
      const isThere = rules.some(
        (rule) =>
          rule.methods.includes(method) &&
          hostMatches(rule.host, to.hostname) &&
          covers(rule.prefix, decode(to.pathname)),
      );
      if (to.origin !== url.origin || !isThere) refuse("its destination");
      headers["destination"] = to.href;
    }
    const isPage = found.every(({ host }) => host === "*");
    const body = asked.body || undefined;
    if (body !== undefined && (isPage || Buffer.byteLength(body) > 1024 * 1024)) refuse("the body");
    if (isPage && Object.keys(headers).some((name) => !PAGE_HEADERS.includes(name))) refuse("its headers");
    if (isPage) headers["user-agent"] = OWN_AGENT;
    const carried = [decode(url.href), body ?? "", ...Object.values(headers)];
    if (Object.values(world.secrets).some((value) => carried.some((text) => text.includes(value))))
      refuse("it holds a secret");
    if (isPage) count({ [`${user} at ${url.host}`]: 20 });
    const { requests_per_minute = 60, requests_per_hour = 500 } = rate;
    count({ [`${user} a minute`]: requests_per_minute, [`${user} an hour`]: requests_per_hour });
    const forHost = Object.values(credentials).filter(({ host_patterns }) =>
      host_patterns.some((host) => hostMatches(readHost(host, file, world).host, url.hostname)),
    );
    place(forHost, world.secrets, url, headers);
    const literal = url.hostname.replace(/^\[|\]$/g, "");
    const addresses = isIP(literal) > 0 ? [literal] : (world.addresses[url.hostname] ?? []);
    if (addresses.length === 0 || (!isPrivate() && !addresses.every(isPublic))) refuse("the address");
    return { method, url: url.href, headers, body };
  }

  return (first) => {
    const sent: Sent[] = [];
    let asked = first;
    let mayBePrivate = true;
    try {
      for (;;) {
        const last = judgeOne(asked, mayBePrivate);
        sent.push(last);
        const led = world.redirects[last.url];
        if (led === undefined) return { ok: true, sent };
        if (!redirects || sent.length > 5) refuse("a redirect");
        mayBePrivate &&= isException(new URL(last.url));
        const to = URL.parse(led.location, last.url) ?? refuse("no address");
        asked = redirected(asked, led.status, last, to);
      }
    } catch (error) {
      if (error instanceof Refusal || error instanceof SyntaxError) return { ok: false, sent };
      throw error;
    }
  };
}

/** As browsers do it: a POST becomes a GET, and what signs somebody in stays where it was meant to go. */
function redirected(asked: Asked, status: number, from: Sent, to: URL): Asked {
  const method = asked.method.toUpperCase();
  const becomesGet = (status === 303 && method !== "HEAD") || (status < 303 && method === "POST");
  const headers = readHeaders(asked.headersJson);
  if (from.headers["user-agent"] === OWN_AGENT) headers["user-agent"] = OWN_AGENT;
  const dropped = new RegExp(
    `^(?:${becomesGet ? "content-.*" : ""}|${to.origin === new URL(from.url).origin ? "" : "authorization|cookie"})$`,
  );
  for (const name of Object.keys(headers)) if (dropped.test(name)) delete headers[name];
  const same = { user: asked.user, url: to.href, headersJson: JSON.stringify(headers) };
  return becomesGet ? { ...same, method: "GET", body: undefined } : { ...same, method, body: asked.body };
}

const portOf = (url: URL) => url.port || (url.protocol === "https:" ? "443" : "80");

function readHost(host: Host, { settings = [] }: File, world: World) {
  if (typeof host === "string") return { host: host.toLowerCase(), path: "", port: "" };
  const setting = settings.find(({ name }) => name === host.setting);
  const value = world.settings[host.setting] ?? setting?.default;
  if (value === undefined) return { host: "", path: "", port: "" };
  const url = new URL(setting?.format === "host" ? `https://${value}` : value);
  return { host: url.hostname, path: url.pathname.replace(/\/$/, ""), port: portOf(url) };
}

function readUrl(text: string): URL {
  const parts = /^https?:\/\/[^/?#@]+(\/[^?#]*)?(?:[?#]|$)/i.exec(text);
  const url = URL.parse(text);
  if (parts === null || url === null || text.length > 16 * 1024) return refuse("no address");
  if (/[^!-~\u0080-\uffff]|\\/.test(text) || /%(?![\da-f]{2})/i.test(url.pathname)) refuse("the address");
  for (const segment of (parts[1] ?? "").split("/")) checkSegment(segment, 5);
  url.hash = "";
  url.hostname = url.hostname.replace(/\.$/, "");
  return url;
}

/** However often a server decodes it, up to five times, a segment stays one segment. */
function checkSegment(segment: string, times: number): void {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  if (/[/⁄∕⧸╱\\∖⧵⧹╲\ufffd\u0000-\u001f\u007f]|^[.。]{1,2}(?:;|$)/.test(segment)) refuse("the path");
  const decoded = decode(segment).normalize("NFKC");
  if (decoded === segment) return;
  if (times === 0) refuse("encoded too often");
  checkSegment(decoded, times - 1);
}

function decode(text: string): string {
  const bytes = Buffer.from(text).toString("latin1");
  const decoded = bytes.replace(/%[\da-f]{2}/gi, (code) => String.fromCharCode(Number(`0x${code.slice(1)}`)));
  return Buffer.from(decoded, "latin1").toString();
}

const covers = (prefix: string, path: string) =>
  path === prefix || path.startsWith(prefix.endsWith("/") ? prefix : `${prefix}/`);

function hostMatches(pattern: string, host: string): boolean {
  if (pattern.startsWith("*.")) return host.endsWith(pattern.slice(1)) && host !== pattern.slice(1);
  return pattern === "*" || host === pattern;
}

function readHeaders(json: string): Headers {
  const given: unknown = JSON.parse(json || "{}");
  if (typeof given !== "object" || given === null || Array.isArray(given)) return refuse("no headers");
  const headers = Object.entries(given).map(([name, value]) => [name.toLowerCase(), value] as const);
  for (const [name, value] of headers) {
    if (!/^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name) || NEVER.split(" ").includes(name)) refuse(`header ${name}`);
    if (typeof value !== "string" || !/^[\t -~\u0080-\u00ff]*$/.test(value)) refuse(`the value of ${name}`);
    if (headers.filter(([other]) => other === name).length > 1) refuse(`${name} twice`);
  }
  return headers.flat().join("").length > 8 * 1024 ? refuse("long headers") : Object.fromEntries(headers);
}

type Headers = Record<string, string>;
function place(credentials: readonly Credential[], secrets: World["secrets"], url: URL, headers: Headers) {
  const own = Object.keys(headers);
  const before = JSON.stringify([url, headers]);
  for (const { secret_name, location } of credentials) {
    const secret = secrets[secret_name] ?? refuse(`${secret_name} is not set`);
    const encoded = encodeURIComponent(secret);
    const { type, username, name = "", prefix = "", placeholder = "" } = location;
    const header = type === "header" ? name.toLowerCase() : "authorization";
    if (type === "query_param" ? url.searchParams.has(name) : type !== "url_path" && header in headers)
      refuse("the place of the credential is taken");
    if (type === "bearer") headers[header] = `Bearer ${secret}`;
    if (type === "basic")
      headers[header] = `Basic ${btoa(String.fromCharCode(...Buffer.from(`${username}:${secret}`)))}`;
    if (type === "header") headers[header] = prefix + secret;
    if (type === "query_param")
      url.search += `${url.search ? "&" : "?"}${encodeURIComponent(name)}=${encoded}`;
    if (type === "url_path") {
      const written = new RegExp(`%7[Bb]${placeholder.replace(/[{}]/g, "")}%7[Dd]`, "g");
      url.pathname = url.pathname.replace(written, encoded.replace(/%(?:3A|40|26|3D|2B|24|2C|3B)/g, decode));
    }
  }
  const isPlaced = before !== JSON.stringify([url, headers]);
  if (isPlaced && own.some((name) => BESIDE.test(name))) refuse("a header beside a credential");
}

const special = new BlockList();
for (const [address = "", bits] of SPECIAL.split(" ").map((range) => range.split("/")))
  special.addSubnet(address, Number(bits), isIP(address) === 4 ? "ipv4" : "ipv6");

function isPublic(address: string): boolean {
  if (isIP(address) === 4) return !special.check(address, "ipv4");
  return /^[23]/.test(address) && address.indexOf(":") === 4 && !special.check(address, "ipv6");
}
