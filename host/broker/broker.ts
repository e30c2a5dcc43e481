/** The sole holder of secret and network: policy → leaks → limits → credentials → send → cap → scrub. No secret comes out. */
import { isUtf8 } from "node:buffer";
import type { AuthSetup, Capabilities, HttpCapabilities } from "../../capabilities/capabilities.ts";
import { CONNECTION_HEADERS, isRefusedBesideCredential } from "../../capabilities/headers.ts";
import { isRead } from "../../capabilities/methods.ts";
import { createDocumentReader, type DocumentReader, sniff } from "../../kernel/kit/files.ts";
import { limitWords, RATE_LIMIT_EXCEEDED } from "../../kernel/kit/http.ts";
import type { Log } from "../../kernel/kit/log.ts";
import {
  hostAndPort,
  MAX_REPLY_BYTES,
  type Outbound,
  OutboundError,
  type OutboundReply,
  type OutboundRequest,
  type PrivateHosts,
} from "../../kernel/kit/outbound.ts";
import type { LimitVerdict } from "../../kernel/kit/store.ts";
import { Fault } from "../../kernel/plugin.ts";
import type { Store } from "../../plugins/store/services.ts";
import { holderOf } from "../secrets/holder.ts";
import {
  type CredentialSource,
  createMatcherCache,
  credentialsFor,
  missingCredential,
  placeCredential,
  type ToolVersion,
} from "./credentials.ts";
import type {
  BrokeredCall,
  Grant,
  HeaderList,
  HttpResponse,
  ToolReply,
  ToolRequest,
  TrafficEntry,
} from "./grant.ts";
import { type AllowedRequest, exceptionsFor, Refused, rule } from "./policy.ts";
import { createLimiters, type Limiters } from "./rate-limits.ts";
import type { Tape } from "./recording.ts";
import { eitherMatcher, type SecretMatcher } from "./traces.ts";

export type Broker = ReturnType<typeof createBroker>;

export interface BrokerOptions {
  readonly network: Outbound;
  readonly source: CredentialSource;
  readonly privateHosts: PrivateHosts;
  readonly store: Store;
  readonly log: Log;
  readonly pdf?: DocumentReader;
}

const MAX_REQUESTS_A_CALL = 50;
// A tool may have all its requests under way together; fifty of the largest answers would take half a gigabyte.
const MAX_BYTES_AT_ONCE = 32 * 1024 * 1024;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const MAX_REDIRECTS = 5;
const NO_HOSTS: PrivateHosts = new Set();
const PDF_AS_TEXT = "application/vnd.postern.pdf+json";

/** One request, or one of the redirects that followed from it. */
interface Trail {
  readonly began: number;
  readonly method: string;
  readonly host: string;
  secrets: SecretMatcher;
  credentials: readonly string[];
  /** There once the request is over. */
  end?: Pick<TrafficEntry, "status" | "error" | "bytes" | "millis">;
}

/** One request of a tool with all its redirects. */
interface Journey {
  readonly signal: AbortSignal;
  trail: Trail;
}

/** Everything that the requests of one call share. */
interface OpenCall extends Required<BrokerOptions> {
  readonly limiters: Limiters;
  readonly secretsFor: (auth: AuthSetup | undefined) => Promise<SecretMatcher>;
  /** For values that are looked for in this call alone. */
  readonly ownSecretsFor: (values: readonly string[]) => Promise<SecretMatcher>;
  readonly grant: Grant;
  readonly tape: Tape | undefined;
  readonly exceptions: PrivateHosts;
  readonly trails: Trail[];
  readonly room: { left: number };
}

export function createBroker(options: BrokerOptions) {
  const { source, privateHosts, store, log, pdf = createDocumentReader() } = options;
  const limiters = createLimiters(store, "tool");
  const secretsFor = createMatcherCache(source.known);

  return {
    /** Asked before a call, unless it plays a recording; a missing credential becomes an `unauthenticated` outcome. */
    missingCredential: (tool: ToolVersion) => missingCredential(tool, source),
    /** The names that the tool may test for and that are set: `secret-exists` returns true for them. */
    async existingSecrets(tool: ToolVersion): Promise<readonly string[]> {
      const { secretNames, auth } = tool.capabilities;
      const holder = holderOf(tool);
      const found = await Promise.all(secretNames.map((name) => source.has(holder, name, auth)));
      return secretNames.filter((_, index) => found[index]);
    },
    /** How much of the tool's rate limit this user has left; undefined if it may not use the network. */
    limits: async (tool: string, { http }: Capabilities, user: string): Promise<LimitVerdict | undefined> =>
      http && limiters.find(tool, http.rateLimit).peek(user),
    async close(): Promise<void> {
      await pdf.close();
      await limiters.close();
    },
    /** Opens one call. With a tape its exchanges are recorded, or played back without network and secrets. */
    open(grant: Grant, tape?: Tape): BrokeredCall {
      const trails: Trail[] = [];
      const exceptions = exceptionsFor(grant.capabilities.http, privateHosts);
      const room = { left: MAX_BYTES_AT_ONCE };
      const ownSecretsFor = createMatcherCache(async (values: readonly string[]) => values);
      const call: OpenCall = {
        ...options,
        ...{ pdf, limiters, secretsFor, ownSecretsFor, grant, tape, exceptions, trails, room },
      };
      let attempts = 0;
      return {
        get traffic() {
          return trails.map(describeTrail);
        },
        async send(request, signal) {
          attempts++;
          if (attempts > MAX_REQUESTS_A_CALL)
            return {
              ok: false,
              error: `A call may send at most ${MAX_REQUESTS_A_CALL} requests; this one has.`,
            };
          return track(call, request, signal).catch((error) => ({
            ok: false,
            error: ourFault(log, grant, error),
          }));
        },
      };
    },
  };
}

/** Answers one request of a tool. What follows is its way out and back, from top to bottom. */
async function track(call: OpenCall, request: ToolRequest, signal: AbortSignal): Promise<ToolReply> {
  const { grant, log, secretsFor, trails } = call;
  const secrets = await secretsFor(grant.capabilities.auth);
  const journey: Journey = { signal, trail: begin(trails, request, secrets) };
  const reply = await attempt(call, request, journey)
    .then((answer) => readDocument(call, answer, journey))
    .then(
      (answer): ToolReply => ({ ok: true, ...answer }),
      (error: unknown): ToolReply => ({
        ok: false,
        error: isExpected(error) ? journey.trail.secrets.hide(error.message) : ourFault(log, grant, error),
      }),
    );
  end(journey.trail, {
    ...(reply.ok ? { status: reply.status } : { error: reply.error }),
    bytes: reply.ok ? reply.body.byteLength : 0,
  });
  return reply;
}

async function attempt(call: OpenCall, request: ToolRequest, journey: Journey): Promise<HttpResponse> {
  const { grant, tape, exceptions } = call;
  const { http } = grant.capabilities;
  const allowed = admit(http, request, exceptions, journey.trail);
  if (http === undefined) throw new Refused("The tool may not use the network.");
  if (tape?.type === "player") return tape.play(allowed);
  const timeoutMs = timeoutOf(request, http, grant);
  const isUpgraded = allowed.url.protocol === "https:" && !/^https:/i.test(request.url);
  const send = () =>
    follow(call, http, allowed, timeoutMs, journey, isUpgraded).catch((error: unknown) => {
      throw isExpected(error) ? new Refused(journey.trail.secrets.hide(error.message)) : error;
    });
  return tape === undefined ? send() : tape.record(allowed, send);
}

/** Policy, then leaks. */
function admit(
  http: HttpCapabilities | undefined,
  request: ToolRequest,
  hosts: PrivateHosts,
  { secrets }: Trail,
): AllowedRequest {
  const ruling = rule(http, request, hosts);
  if (!ruling.ok) throw new Refused(ruling.error);
  if (carries(ruling.request, secrets))
    throw new Refused(
      "The request carries the value of a secret: nothing was sent. Postern puts credentials in.",
    );
  return ruling.request;
}

/** Sends a request and, if the file says so, what it is redirected to, each ruled on like a first one. */
async function follow(
  call: OpenCall,
  rules: HttpCapabilities,
  first: AllowedRequest,
  timeoutMs: number,
  journey: Journey,
  isUpgraded: boolean,
): Promise<HttpResponse> {
  const { grant, exceptions, room } = call;
  const ends = performance.now() + timeoutMs;
  let request = first;
  let hosts = exceptions;
  let from: string | undefined;
  for (let count = 0; ; count++) {
    const refusal = await grant.checkAddress?.({ url: request.url.href, ...(from && { from }) });
    if (refusal !== undefined) throw new Refused(refusal);
    await takePlace(call, rules, request);
    const left = count === 0 ? timeoutMs : Math.max(1, Math.ceil(ends - performance.now()));
    const bounds = { signal: journey.signal, timeoutMs: left, room, privateHosts: hosts };
    const reply = await sendLive(call, rules, request, bounds, journey.trail);
    const location = locationOf(reply);
    if (location === undefined) {
      const { status, headers, body } = reply;
      const given = { status, headers: readHeaders(headers), body };
      const answer = await scrub(given, journey.trail.secrets, request.url.host);
      if (count === 0 && !isUpgraded) return answer;
      return { ...answer, url: journey.trail.secrets.hide(request.url.href) };
    }
    if (!rules.redirects) throw redirected(request.url, reply.status, location);
    if (count === MAX_REDIRECTS)
      throw new Refused(`${first.url.host} redirects more than ${MAX_REDIRECTS} times.`);
    // A public server must not lead to the operator's private hosts, however far the way.
    if (!exceptions.has(hostAndPort(request.url))) hosts = NO_HOSTS;
    const next = redirect(request, reply.status, location);
    end(journey.trail, { status: reply.status, bytes: 0 });
    journey.trail = begin(call.trails, next, journey.trail.secrets);
    from = request.url.href;
    request = admit(rules, next, hosts, journey.trail);
  }
}

async function takePlace(
  { limiters, grant: { tool, user } }: OpenCall,
  http: HttpCapabilities,
  { url, isAnyPage }: AllowedRequest,
): Promise<void> {
  // A tool gets nothing but a text, so the code that others get beside theirs comes first in it.
  const refuse = (verdict: LimitVerdict, where: string) => {
    if (!verdict.ok) throw new Refused(`${RATE_LIMIT_EXCEEDED}${where}: ${limitWords(verdict)}`);
  };
  if (isAnyPage) refuse(await limiters.findForHosts(tool).take(`${user} ${url.host}`), ` at ${url.host}`);
  refuse(await limiters.find(tool, http.rateLimit).take(user), "");
}

async function sendLive(
  { network, secretsFor, ownSecretsFor, grant, source }: OpenCall,
  rules: HttpCapabilities,
  request: AllowedRequest,
  bounds: Pick<OutboundRequest, "timeoutMs" | "signal" | "room" | "privateHosts">,
  trail: Trail,
): Promise<OutboundReply> {
  const { filled, names, values } = await fill(source, grant, rules, request);
  trail.credentials = names;
  if (names.length > 0) {
    const { auth } = grant.capabilities;
    // A token may have been refreshed just now.
    trail.secrets = await secretsFor(auth);
    const known = await source.known(auth);
    const own = values.filter((value) => !known.includes(value));
    if (own.length > 0) trail.secrets = eitherMatcher(trail.secrets, await ownSecretsFor(own));
  }
  const sending = { ...bounds, maxBytes: MAX_REPLY_BYTES, isRepeatable: isRead(filled.method) };
  return traced(grant, filled, (told) => network.send({ ...told, ...sending }));
}

async function fill(
  source: CredentialSource,
  grant: Grant,
  http: HttpCapabilities,
  request: AllowedRequest,
): Promise<{ filled: AllowedRequest; names: readonly string[]; values: readonly string[] }> {
  const holder = holderOf({ ...grant, name: grant.tool });
  let filled = request;
  const names: string[] = [];
  const values: string[] = [];
  for (const credential of credentialsFor(http, request.url)) {
    const { secretName } = credential;
    const value = await source.value(holder, secretName, grant.capabilities.auth);
    if (value === undefined)
      throw new Refused(`The credential \`${secretName}\` is not set: nothing was sent.`);
    const placed = placeCredential(filled, credential, value);
    if (placed !== filled) {
      names.push(secretName);
      values.push(value);
    }
    filled = placed;
  }
  const header =
    names.length === 0 ? undefined : Object.keys(request.headers).find(isRefusedBesideCredential);
  if (header !== undefined)
    throw new Refused(
      `The header ${header} is not allowed in a request that carries \`${names[0]}\`: nothing was sent. It could make the server act on another request, or send the credential back in parts.`,
    );
  return { filled, names, values };
}

async function readDocument(
  { grant, pdf }: OpenCall,
  answer: HttpResponse,
  { signal, trail }: Journey,
): Promise<HttpResponse> {
  if (!grant.capabilities.http?.pdfAsText || !isPdf(answer)) return answer;
  const document = await pdf.readPages(grant.user, answer.body, signal);
  const others = answer.headers.filter(([name]) => !name.startsWith("content-"));
  const headers = [...others, ["content-type", PDF_AS_TEXT] as const];
  const body = Buffer.from(JSON.stringify(document));
  // The text was packed, so it could not be searched for secrets until now.
  return scrub({ ...answer, headers, body }, trail.secrets, trail.host);
}

function ourFault(log: Log, { tool }: Grant, error: unknown): string {
  log.error({ error, tool }, "a request of a tool failed inside the broker");
  return "Postern could not send the request; its log says why.";
}

/** Notes a request now, not with its reply: the call may end before there is one, and its receipt must still show it. */
function begin(trails: Trail[], { method, url }: ToolRequest, secrets: SecretMatcher): Trail {
  const host = URL.parse(url)?.host ?? "";
  const trail: Trail = { began: performance.now(), method, host, secrets, credentials: [] };
  trails.push(trail);
  return trail;
}

function describeTrail({ began, method, host, secrets, credentials, end }: Trail): TrafficEntry {
  const unended = { error: "The call ended before an answer came.", bytes: 0, millis: millisSince(began) };
  return {
    method: secrets.hide(method).slice(0, 16),
    ...(!isRead(method.toUpperCase()) && { writes: true }),
    host: secrets.hide(host).slice(0, 255),
    ...(end ?? unended),
    credentials,
  };
}

function millisSince(began: number): number {
  return Math.round(performance.now() - began);
}

function end(trail: Trail, how: Pick<TrafficEntry, "status" | "error" | "bytes">): void {
  trail.end = { ...how, millis: millisSince(trail.began) };
}

/** Undefined where the reply is no redirect. Servers write it in UTF-8, and it comes with one character for each byte. */
function locationOf({ status, headers }: OutboundReply): string | undefined {
  const location = REDIRECTS.has(status) ? headers.location : undefined;
  if (location === undefined) return undefined;
  const bytes = Buffer.from(location, "latin1");
  return isUtf8(bytes) ? bytes.toString() : location;
}

/** Servers get the type wrong, and some documents begin with other bytes. */
function isPdf({ status, headers, body }: HttpResponse): boolean {
  const type = headers.find(([name]) => name === "content-type")?.[1] ?? "";
  const isFound = status >= 200 && status <= 299 && body.byteLength > 0;
  return isFound && (sniff(body) === "application/pdf" || /^application\/pdf\s*(;|$)/i.test(type));
}

const SIGN_IN_HEADERS = new Set(["authorization", "cookie"]);

/** The next request, as browsers would send it; it is ruled on like one that the tool wrote. */
function redirect(request: AllowedRequest, status: number, location: string): ToolRequest {
  const to = URL.parse(location, request.url);
  if (to === null) throw new Refused(`${request.url.host} redirects to something that is no URL.`);
  const { method } = request;
  const becomesGet = (status === 303 && method !== "HEAD") || (status < 303 && method === "POST");
  const isElsewhere = to.origin !== request.url.origin;
  const headers = Object.entries(request.headers).filter(
    ([name]) => !(isElsewhere && SIGN_IN_HEADERS.has(name)) && !(becomesGet && name.startsWith("content-")),
  );
  return {
    method: becomesGet ? "GET" : method,
    url: to.href,
    headersJson: JSON.stringify(Object.fromEntries(headers)),
    body: becomesGet ? undefined : request.body,
    timeoutMs: undefined,
  };
}

/** Refuses an answer that still shows a secret to a reader who looks for one: the tool must not get it. */
async function scrub(answer: HttpResponse, secrets: SecretMatcher, host: string): Promise<HttpResponse> {
  const scrubbed = replaceSecrets(answer, secrets);
  const written = Buffer.from(scrubbed.headers.flat().join("\n"), "latin1");
  if ((await secrets.discloses(scrubbed.body)) || (await secrets.discloses(written)))
    throw new Refused(
      `The answer of ${host} holds the value of a secret in another form, so it was withheld.`,
    );
  return scrubbed;
}

function redirected(from: URL, status: number, location: string): Refused {
  const target = URL.parse(location, from.href)?.host ?? "something that is no URL";
  return new Refused(
    `${from.host} answered ${status} with a redirect to ${target}, and redirects are not followed. Ask that address itself, if the capabilities allow it, or set "redirects": true in its capabilities file.`,
  );
}

function isExpected(error: unknown): error is Error {
  return error instanceof Refused || error instanceof OutboundError || error instanceof Fault;
}

function carries({ url, headers, body }: AllowedRequest, secrets: SecretMatcher): boolean {
  const texts = [url.href, ...Object.entries(headers).flat()];
  return texts.some((text) => secrets.finds(text)) || (body !== undefined && secrets.finds(body));
}

/**
 * Whichever ends first: what the tool asked for, or what its capabilities say. The end of the call aborts the request as well; if
 * the request ended by itself at that moment, the tool could still return in time and a call that timed out would look well.
 */
function timeoutOf({ timeoutMs }: ToolRequest, http: HttpCapabilities, { deadline }: Grant): number {
  if (Date.now() >= deadline) throw new Refused("The time of the call is up.");
  return Math.max(1, Math.min(timeoutMs ?? Number.POSITIVE_INFINITY, http.timeoutSecs * 1000));
}

async function traced(
  { trace }: Grant,
  request: AllowedRequest,
  send: (request: AllowedRequest) => Promise<OutboundReply>,
): Promise<OutboundReply> {
  if (trace === undefined) return send(request);
  const { method, url, headers } = request;
  const span = trace.span.child(method, {
    kind: "client",
    attributes: {
      "http.request.method": method,
      "server.address": url.hostname,
      "server.port": Number(url.port || (url.protocol === "https:" ? 443 : 80)),
      "url.scheme": url.protocol.slice(0, -1),
    },
  });
  const { traceparent } = span;
  const isTold = traceparent !== undefined && trace.tellsHost(url.hostname);
  try {
    const reply = await send(isTold ? { ...request, headers: { ...headers, traceparent } } : request);
    span.set({ "http.response.status_code": reply.status });
    span.end(reply.status >= 400 ? String(reply.status) : undefined);
    return reply;
  } catch (error) {
    span.end("network");
    throw error;
  }
}

/** A cookie that is set after a server saw a credential is as good as the credential, and in no list of secrets. */
const COOKIES = ["set-cookie", "set-cookie2"];

/** The body is already decoded: a tool that read these would decode it again, or wait for other bytes. */
const ENCODING = ["content-encoding", "content-length"];

/** As undici gives them: names in lower case, one character for each byte. */
function readHeaders(given: Readonly<Record<string, string | string[] | undefined>>): HeaderList {
  const named = String(given["connection"] ?? "").toLowerCase();
  const hidden = new Set([
    ...CONNECTION_HEADERS,
    ...COOKIES,
    ...named.split(",").map((name) => name.trim()),
    ...(isEncoded(given["content-encoding"]) ? ENCODING : []),
  ]);
  return Object.entries(given).flatMap(([name, value]) =>
    value === undefined || hidden.has(name) ? [] : [value].flat().map((one) => [name, one] as const),
  );
}

function replaceSecrets({ headers, body, ...about }: HttpResponse, secrets: SecretMatcher): HttpResponse {
  const scrubbed = secrets.scrub(body);
  const isSame = scrubbed === body;
  const clean = (text: string) => Buffer.from(secrets.scrub(Buffer.from(text, "latin1"))).toString("latin1");
  return {
    ...about,
    headers: headers
      // A name with the mark in it would be no name.
      .filter(([name]) => clean(name) === name && (isSame || name !== "content-length"))
      .map(([name, value]) => [name, clean(value)]),
    body: scrubbed,
  };
}

function isEncoded(encoding: string | string[] | undefined): boolean {
  return encoding !== undefined && String(encoding).trim().toLowerCase() !== "identity";
}
