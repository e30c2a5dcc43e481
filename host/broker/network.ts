/** The one way out: dials only addresses that were checked, verifies TLS, follows nothing, reads no more than its cap. */
import { Agent, errors } from "undici";
import { AddressRefused, createConnector, type Lookup, type PrivateHosts, reason } from "../../kernel/kit.ts";
import { exchange, type Room, Unanswered } from "./exchange.ts";
import type { HeaderList } from "./grant.ts";
import { type AllowedRequest, Refused } from "./policy.ts";
import { readHeaders } from "./reply-headers.ts";

export interface WireReply {
  readonly status: number;
  /** Where the answer points to, if anywhere; it is never followed here. */
  readonly location: string | undefined;
  readonly headers: HeaderList;
  readonly body: Uint8Array;
}

export interface SendBounds {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Answers that are read side by side share it. */
  readonly room?: Room;
}

export interface Network {
  /** Throws `Refused`. */
  send(request: AllowedRequest, bounds: SendBounds): Promise<WireReply>;
  close(): Promise<void>;
}

export interface NetworkOptions {
  readonly privateHosts: PrivateHosts;
  readonly lookup?: Lookup;
}

export const MAX_REPLY_HEADER_BYTES = 16 * 1024;

const READS = new Set(["GET", "HEAD"]);
const LOST = new Set(["UND_ERR_SOCKET", "ECONNRESET", "EPIPE"]);

export function createNetwork({ privateHosts, lookup }: NetworkOptions): Network {
  const connect = createConnector({ privateHosts, lookup, allowH2: false });
  const agent = new Agent({
    connect,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: MAX_REPLY_HEADER_BYTES,
  });

  return {
    async send(request, { timeoutMs, signal, room }) {
      const { method, url } = request;
      // Not AbortSignal.timeout and AbortSignal.any: they cost more than sending does.
      const stop = new AbortController();
      const cancel = () => stop.abort(CANCELLED);
      const timer = setTimeout(() => stop.abort(TIMED_OUT), timeoutMs);
      if (signal.aborted) cancel();
      else signal.addEventListener("abort", cancel, { once: true });
      try {
        const sendOnce = () => exchange(agent, request, stop.signal, room);
        // A server may close a kept connection just as it is used again: nothing was answered, so reading asks anew.
        const reply = await sendOnce().catch((error: unknown) => {
          if (READS.has(method) && isLost(error)) return sendOnce();
          throw error;
        });
        const { location } = reply.headers;
        return {
          status: reply.status,
          location: Array.isArray(location) ? location[0] : location,
          headers: readHeaders(reply.headers),
          body: reply.body,
        };
      } catch (error) {
        throw explain(error instanceof Unanswered ? error.cause : error, url.host, timeoutMs);
      } finally {
        clearTimeout(timer);
        signal.removeEventListener("abort", cancel);
      }
    },
    close: () => agent.destroy(),
  };
}

const CANCELLED = new Error("the call is over");
const TIMED_OUT = new Error("the time is up");

function isLost(error: unknown): boolean {
  return (
    error instanceof Unanswered &&
    !error.hasBegun &&
    LOST.has(String((error.cause as NodeJS.ErrnoException | undefined)?.code))
  );
}

/** A sentence for what undici or the connector said. */
export function explain(error: unknown, host: string, timeoutMs: number): Refused {
  if (error instanceof Refused) return error;
  if (error instanceof AddressRefused) {
    return new Refused(
      `${error.message}, which tools may not reach. An operator can except hosts in TOOLS_PRIVATE_HOSTS.`,
    );
  }
  if (error === CANCELLED) return new Refused("The call was cancelled.");
  if (error === TIMED_OUT)
    return new Refused(`${host} gave no complete answer within ${timeoutMs / 1000} seconds.`);
  if (error instanceof errors.HeadersOverflowError) {
    return new Refused(
      `${host} answered with more than ${MAX_REPLY_HEADER_BYTES} bytes of headers, which is the most a tool may read.`,
    );
  }
  return new Refused(`The request to ${host} failed: ${reason(error)}`, { cause: error });
}
