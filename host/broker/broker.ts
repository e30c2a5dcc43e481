/**
 * The sole holder of secret and network. For each request of a tool: policy → leaks → limits → credentials →
 * send → cap → scrub. What comes out of here, in a reply, an error or a record, holds no secret.
 */
import type { AuthSetup, Capabilities, HttpCapabilities } from "../../capabilities/capabilities.ts";
import { isRefusedBesideCredential } from "../../capabilities/headers.ts";
import {
  createMatcher,
  Fault,
  type LimitVerdict,
  type Log,
  limitWords,
  MAX_REPLY_BYTES,
  type Matcher,
  type Outbound,
  OutboundError,
  type OutboundReply,
  type OutboundRequest,
  type PrivateHosts,
  RATE_LIMIT_EXCEEDED,
  type Store,
} from "../../kernel/kit.ts";
import { type Holder, holderOf } from "../secrets/holder.ts";
import {
  type CredentialSource,
  credentialsFor,
  type MissingCredential,
  missingCredential,
  placeCredential,
  type ToolVersion,
} from "./credentials.ts";
import type { Answer, BrokeredCall, Grant, ToolReply, ToolRequest, TrafficEntry } from "./grant.ts";
import { type AllowedRequest, Refused, rule } from "./policy.ts";
import { createLimiters } from "./rate-limits.ts";
import type { Tape } from "./recording.ts";
import { readHeaders, scrubAnswer } from "./reply-headers.ts";

export interface Broker {
  /** Asked before a call, unless it plays a recording; a missing credential becomes an `unauthenticated` outcome. */
  missingCredential(tool: ToolVersion): Promise<MissingCredential | undefined>;
  /** The names that the tool may test for and that are set: `secret-exists` returns true for them. */
  existingSecrets(tool: ToolVersion): Promise<readonly string[]>;
  /** How much of the tool's rate limit this user has left; nothing where it may not use the network. */
  limits(tool: string, capabilities: Capabilities, user: string): Promise<LimitVerdict | undefined>;
  /** Opens one call. With a tape its exchanges are recorded, or played back without network and secrets. */
  open(grant: Grant, tape?: Tape): BrokeredCall;
  close(): Promise<void>;
}

export interface BrokerOptions {
  readonly network: Outbound;
  readonly source: CredentialSource;
  readonly privateHosts: PrivateHosts;
  /** Keeps the rate limits over a restart. */
  readonly store: Store;
  readonly log: Log;
}

const MAX_REQUESTS_A_CALL = 50;
// A tool may have all its requests under way together; fifty of the largest answers would take half a gigabyte.
const MAX_BYTES_AT_ONCE = 32 * 1024 * 1024;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

interface Trail {
  readonly began: number;
  readonly method: string;
  readonly host: string;
  secrets: Matcher;
  credentials: readonly string[];
  /** There once the request is over. */
  end?: Pick<TrafficEntry, "status" | "error" | "bytes" | "millis">;
}

export function createBroker({ network, source, privateHosts, store, log }: BrokerOptions): Broker {
  const limiters = createLimiters(store, "tool");
  const secretsFor = createMatcherCache(source);

  async function takePlace({ tool, user }: Grant, http: HttpCapabilities): Promise<void> {
    const verdict = await limiters.find(tool, http.rateLimit).take(user);
    if (verdict.ok) return;
    // A tool gets nothing but a text, so the code that others get beside theirs comes first in it.
    throw new Refused(`${RATE_LIMIT_EXCEEDED}: ${limitWords(verdict)}`);
  }

  async function fill(request: AllowedRequest, holder: Holder, grant: Grant, http: HttpCapabilities) {
    let filled = request;
    const names: string[] = [];
    for (const credential of credentialsFor(http, request.url)) {
      const { secretName } = credential;
      const value = await source.value(holder, secretName, grant.capabilities.auth);
      if (value === undefined)
        throw new Refused(`The credential \`${secretName}\` is not set: nothing was sent.`);
      const placed = placeCredential(filled, credential, value);
      if (placed !== filled) names.push(secretName);
      filled = placed;
    }
    const header =
      names.length === 0 ? undefined : Object.keys(request.headers).find(isRefusedBesideCredential);
    if (header !== undefined)
      throw new Refused(
        `The header ${header} is not allowed in a request that carries \`${names[0]}\`: nothing was sent. It could make the server act on another request, or send the credential back in parts.`,
      );
    return { filled, names };
  }

  function ourFault(error: unknown, tool: string): string {
    log.error({ error, tool }, "a request of a tool failed inside the broker");
    return "Postern could not send the request; its log says why.";
  }

  return {
    missingCredential: (tool) => missingCredential(tool, source),
    async existingSecrets(tool) {
      const { secretNames, auth } = tool.capabilities;
      const holder = holderOf(tool);
      const found = await Promise.all(secretNames.map((name) => source.has(holder, name, auth)));
      return secretNames.filter((_, index) => found[index]);
    },
    limits: async (tool, { http }, user) => http && limiters.find(tool, http.rateLimit).peek(user),
    close: limiters.close,
    open(grant, tape) {
      const { http, auth } = grant.capabilities;
      const holder = holderOf({ ...grant, name: grant.tool });
      const trails: Trail[] = [];
      const room = { left: MAX_BYTES_AT_ONCE };
      let attempts = 0;

      async function sendLive(
        request: AllowedRequest,
        rules: HttpCapabilities,
        bounds: Pick<OutboundRequest, "timeoutMs" | "signal" | "room">,
        trail: Trail,
      ): Promise<Answer> {
        const { filled, names } = await fill(request, holder, grant, rules);
        trail.credentials = names;
        // A token may have been refreshed just now.
        if (names.length > 0) trail.secrets = await secretsFor(auth);
        const { status, headers, body } = await traced(grant, filled, (told) =>
          network.send({ ...told, ...bounds, maxBytes: MAX_REPLY_BYTES }),
        );
        if (REDIRECTS.has(status) && headers.location !== undefined)
          throw redirected(request.url, status, headers.location);
        const scrubbed = await scrubAnswer({ status, headers: readHeaders(headers), body }, trail.secrets);
        if (scrubbed !== undefined) return scrubbed;
        throw new Refused(
          `The answer of ${request.url.host} holds the value of a secret in another form, so it was withheld.`,
        );
      }

      async function attempt(request: ToolRequest, signal: AbortSignal, trail: Trail): Promise<Answer> {
        const ruling = rule(http, request, privateHosts);
        if (!ruling.ok) throw new Refused(ruling.error);
        if (http === undefined) throw new Refused("The tool may not use the network.");
        const allowed = ruling.request;
        if (carries(allowed, trail.secrets)) {
          throw new Refused(
            "The request carries the value of a secret: nothing was sent. Postern puts credentials in.",
          );
        }
        if (tape?.type === "player") return tape.play(allowed);
        await takePlace(grant, http);
        const bounds = { signal, timeoutMs: timeoutOf(request, http, grant), room };
        const send = () =>
          sendLive(allowed, http, bounds, trail).catch((error: unknown) => {
            throw isExpected(error) ? new Refused(trail.secrets.hide(error.message)) : error;
          });
        return tape === undefined ? send() : tape.record(allowed, send);
      }

      async function track(request: ToolRequest, signal: AbortSignal): Promise<ToolReply> {
        const began = performance.now();
        const secrets = await secretsFor(auth);
        const { method } = request;
        const host = URL.parse(request.url)?.host ?? "";
        const trail: Trail = { began, method, host, secrets, credentials: [] };
        // Now, not with the reply: the call may end before there is one, and its receipt must still tell.
        trails.push(trail);
        const reply = await attempt(request, signal, trail).then(
          (answer): ToolReply => ({ ok: true, ...answer }),
          (error: unknown): ToolReply => ({
            ok: false,
            error: isExpected(error) ? trail.secrets.hide(error.message) : ourFault(error, grant.tool),
          }),
        );
        trail.end = {
          ...(reply.ok ? { status: reply.status } : { error: reply.error }),
          bytes: reply.ok ? reply.body.byteLength : 0,
          millis: millisSince(began),
        };
        return reply;
      }

      return {
        get traffic() {
          return trails.map(describeTrail);
        },
        async send(request, signal) {
          attempts++;
          if (attempts > MAX_REQUESTS_A_CALL) {
            return {
              ok: false,
              error: `A call may send at most ${MAX_REQUESTS_A_CALL} requests; this one has.`,
            };
          }
          return track(request, signal).catch((error) => ({ ok: false, error: ourFault(error, grant.tool) }));
        },
      };
    },
  };
}

function describeTrail({ began, method, host, secrets, credentials, end }: Trail): TrafficEntry {
  const unended = { error: "The call ended before an answer came.", bytes: 0, millis: millisSince(began) };
  return {
    method: secrets.hide(method).slice(0, 16),
    host: secrets.hide(host).slice(0, 255),
    ...(end ?? unended),
    credentials,
  };
}

function millisSince(began: number): number {
  return Math.round(performance.now() - began);
}

function redirected(from: URL, status: number, location: string): Refused {
  const target = URL.parse(location, from.href)?.host ?? "something that is no URL";
  return new Refused(
    `${from.host} answered ${status} with a redirect to ${target}, and redirects are not followed. Ask that address itself, if the capabilities allow it.`,
  );
}

function isExpected(error: unknown): error is Error {
  return error instanceof Refused || error instanceof OutboundError || error instanceof Fault;
}

function carries({ url, headers, body }: AllowedRequest, secrets: Matcher): boolean {
  const texts = [url.href, ...Object.entries(headers).flat()];
  return texts.some((text) => secrets.finds(text)) || (body !== undefined && secrets.finds(body));
}

/** Whichever ends first: what the tool asked for, what its capabilities say, the call itself. */
function timeoutOf({ timeoutMs }: ToolRequest, http: HttpCapabilities, { deadline }: Grant): number {
  const left = deadline - Date.now();
  if (left <= 0) throw new Refused("The time of the call is up.");
  return Math.max(1, Math.min(timeoutMs ?? Number.POSITIVE_INFINITY, http.timeoutSecs * 1000, left));
}

/** Building the search takes longer than using it, and secrets change seldom. */
function createMatcherCache(source: CredentialSource): (auth: AuthSetup | undefined) => Promise<Matcher> {
  let last: { readonly values: readonly string[]; readonly secrets: Matcher } | undefined;
  return async (auth) => {
    const values = await source.known(auth);
    const isSame =
      last?.values.length === values.length && values.every((value, at) => value === last?.values[at]);
    if (last === undefined || !isSame) last = { values, secrets: createMatcher(values) };
    return last.secrets;
  };
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
