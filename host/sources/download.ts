/**
 * Requests to where tools come from. Each goes through the rule for addresses, ends at its cap and in its time, and follows a
 * redirect without the credentials where that leads to another host.
 */

import { hostAndPort } from "../../kernel/kit.ts";
import { Fault, reason } from "../../kernel/plugin.ts";
import { type CheckedFetch, createCheckedFetch } from "../broker/checked-fetch.ts";
import type { NetworkOptions } from "../broker/network.ts";
import { Refused } from "../broker/policy.ts";

export interface DownloadRequest {
  readonly method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH";
  readonly headers?: Readonly<Record<string, string>>;
  /** The value of the header; it does not go to another origin. */
  readonly authorization?: string | undefined;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly maxBytes: number;
  /** The server that named the address, where no person did: a public one must not lead to the operator's exceptions. */
  readonly namedBy?: URL | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told how much has come so far. */
  readonly onBytes?: (count: number) => void;
}

export interface Downloaded {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
}

export interface Downloads {
  /** Throws a fault that says in a sentence why there was no answer. */
  send(url: URL, request: DownloadRequest): Promise<Downloaded>;
  close(): Promise<void>;
}

export interface DownloadOptions extends NetworkOptions {
  /** How long a server may send nothing. */
  readonly stallMillis?: number;
  /** For the whole answer, however steadily it comes. */
  readonly maxDownloadMs?: number;
}

const STALL_MILLIS = 30_000;
const MAX_DOWNLOAD_MS = 10 * 60_000;
const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

export function createDownloads(options: DownloadOptions): Downloads {
  const { privateHosts, lookup, stallMillis = STALL_MILLIS, maxDownloadMs = MAX_DOWNLOAD_MS } = options;
  const anywhere = createCheckedFetch({ privateHosts, lookup });
  // A public server must not lead us to what the operator excepted for tools.
  const publicOnly = createCheckedFetch({ privateHosts: new Set(), lookup });

  async function sendOnce(fetch: CheckedFetch, url: URL, request: DownloadRequest): Promise<Downloaded> {
    const { method = "GET", headers, authorization, body, maxBytes, signal, onBytes } = request;
    const stop = new AbortController();
    const give = (why: string) => () => stop.abort(new Refused(`${url.host} ${why}.`));
    const stalled = give(`sent nothing for ${stallMillis / 1000} seconds`);
    let stall = setTimeout(stalled, stallMillis);
    const longest = setTimeout(give(`took longer than ${maxDownloadMs / 1000} seconds`), maxDownloadMs);
    try {
      const response = await fetch(
        url,
        {
          method,
          headers: { ...headers, ...(authorization !== undefined && { authorization }) },
          body,
          signal: signal === undefined ? stop.signal : AbortSignal.any([stop.signal, signal]),
        },
        { maxBytes, answersRedirects: true },
      );
      const chunks: Uint8Array[] = [];
      let count = 0;
      for await (const chunk of response.body ?? []) {
        clearTimeout(stall);
        stall = setTimeout(stalled, stallMillis);
        count += chunk.length;
        // Only each event of a stream is capped, and a server can call any answer a stream.
        if (count > maxBytes)
          throw new Refused(
            `${url.host} answered with more than ${maxBytes} bytes, which is the most that is read.`,
          );
        chunks.push(chunk);
        onBytes?.(count);
      }
      return { status: response.status, headers: response.headers, body: Buffer.concat(chunks, count) };
    } catch (error) {
      if (stop.signal.aborted) throw stop.signal.reason;
      throw error;
    } finally {
      clearTimeout(stall);
      clearTimeout(longest);
    }
  }

  return {
    async send(url, request) {
      const { authorization, namedBy, ...others } = request;
      let isPublic = false;
      let isSame = true;
      // Neither comes back: not the exceptions after a public server, not the credentials after another origin.
      const follow = (to: URL, by: URL | undefined) => {
        isPublic ||= by !== undefined && !privateHosts.has(hostAndPort(by));
        isSame &&= to.origin === url.origin;
        return sendOnce(isPublic ? publicOnly : anywhere, to, {
          ...others,
          ...(isSame && { authorization }),
        });
      };
      try {
        let answer = await follow(url, namedBy);
        let at = url;
        for (let count = 0; isRedirect(request, answer); count++) {
          if (count === MAX_REDIRECTS)
            throw new Refused(`${url.host} redirects more than ${MAX_REDIRECTS} times.`);
          const to = URL.parse(answer.headers.get("location") ?? "", at);
          if (to === null) throw new Refused(`${at.host} redirects to what is not a URL.`);
          answer = await follow(to, at);
          at = to;
        }
        return answer;
      } catch (error) {
        throw failed(url, error);
      }
    },
    async close() {
      await Promise.all([anywhere.close(), publicOnly.close()]);
    },
  };
}

/** Anything but reading is not sent a second time. */
function isRedirect({ method = "GET" }: DownloadRequest, { status }: Downloaded): boolean {
  return REDIRECTS.has(status) && (method === "GET" || method === "HEAD");
}

/** True where the other end does not speak TLS at all. */
export function isPlainServer(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  if (code === "EPROTO" || (code?.startsWith("ERR_SSL_") ?? false))
    return /wrong version number|packet length too long|http request/i.test(error.message);
  return isPlainServer(error.cause);
}

function failed(url: URL, error: unknown): unknown {
  if (error instanceof Fault || (error instanceof Error && error.name === "AbortError")) return error;
  const sentence = isPlainServer(error)
    ? `${url.host} does not speak TLS. Plain http works only where TOOLS_PRIVATE_HOSTS names its host:port.`
    : error instanceof Refused
      ? error.message
      : `The request to ${url.host} failed: ${reason(error)}`;
  return new Fault("unavailable", "tool_download", sentence, { cause: error });
}

export interface GetOptions {
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly accept?: string;
  /** The server that named the address, where no person did. */
  readonly namedBy?: URL | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** One file of a server, whole; anything but that is a fault. `what`: for messages, for example "npm:weather". */
export async function getFile(
  downloads: Downloads,
  url: string,
  what: string,
  { maxBytes, timeoutMs, accept = "*/*", namedBy, signal }: GetOptions,
): Promise<Uint8Array> {
  const place = URL.parse(url);
  if (place === null)
    throw new Fault("invalid", "tool_download", `${what} is said to be at what is not a URL.`);
  const timeout = AbortSignal.timeout(timeoutMs);
  const answer = await downloads
    .send(place, {
      headers: { accept },
      maxBytes,
      namedBy,
      signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
    })
    .catch((error: unknown) => {
      if (!timeout.aborted || signal?.aborted === true) throw error;
      throw new Fault(
        "unavailable",
        "tool_download",
        `${place.host} did not send ${what} within ${timeoutMs / 1000} seconds.`,
        { cause: error },
      );
    });
  if (answer.status === 404)
    throw new Fault("missing", "not_found", `${what} does not exist at ${place.host}.`);
  if (answer.status !== 200)
    throw new Fault("unavailable", "tool_download", `${place.host} answered ${answer.status} for ${what}.`);
  return answer.body;
}
