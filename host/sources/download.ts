/** Requests to where tools come from. Each has the tools' rule for addresses, a cap and a deadline, and follows redirects. */
import {
  type Outbound,
  OutboundError,
  type OutboundReply,
  type OutboundRequest,
} from "../../kernel/kit/outbound.ts";
import { Fault, reason } from "../../kernel/plugin.ts";
import { Refused, readUrl } from "../broker/policy.ts";

export interface DownloadRequest
  extends Pick<
    OutboundRequest,
    "headers" | "authorization" | "body" | "maxBytes" | "namedBy" | "signal" | "onBytes"
  > {
  readonly method?: "GET" | "HEAD" | "POST" | "PUT" | "PATCH";
}

export type Downloads = ReturnType<typeof createDownloads>;

export interface DownloadOptions {
  readonly network: Outbound;
  readonly stallMs?: number;
  /** The deadline of the whole answer, however steadily it comes. */
  readonly maxDownloadMs?: number;
  /** The same for what is short, such as a token or a manifest: a server that drips it never stalls. */
  readonly maxShortMs?: number;
}

const STALL_MS = 30_000;
const MAX_DOWNLOAD_MS = 10 * 60_000;
const MAX_SHORT_MS = 60_000;
const MAX_SHORT_BYTES = 1024 * 1024;
const MAX_REDIRECTS = 5;

export function createDownloads({
  network,
  stallMs = STALL_MS,
  maxDownloadMs = MAX_DOWNLOAD_MS,
  maxShortMs = MAX_SHORT_MS,
}: DownloadOptions) {
  return {
    /** Throws a fault that says in a sentence why there was no answer, or the reason of the caller's signal. */
    async send(url: URL, request: DownloadRequest): Promise<OutboundReply> {
      // An upload may take long although the answer is short.
      const isShort = request.body === undefined && request.maxBytes <= MAX_SHORT_BYTES;
      try {
        return await network.send({
          ...request,
          url,
          stallMs,
          timeoutMs: isShort ? Math.min(maxShortMs, maxDownloadMs) : maxDownloadMs,
          redirects: MAX_REDIRECTS,
          admit: readUrl,
        });
      } catch (error) {
        request.signal?.throwIfAborted();
        throw failed(url, error);
      }
    },
  };
}

/** True where the other end does not speak TLS at all. */
export function isPlainServer(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as NodeJS.ErrnoException;
  if (code === "EPROTO" || (code?.startsWith("ERR_SSL_") ?? false))
    return /wrong version number|packet length too long|http request/i.test(error.message);
  return isPlainServer(error.cause);
}

function failed(url: URL, error: unknown): Fault {
  const sentence = isPlainServer(error)
    ? `${url.host} does not speak TLS. Plain http works only where TOOLS_PRIVATE_HOSTS names its host:port.`
    : error instanceof Refused || error instanceof OutboundError
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
      const message = `${place.host} did not send ${what} within ${timeoutMs / 1000} seconds.`;
      throw new Fault("unavailable", "tool_download", message, { cause: error });
    });
  if (answer.status === 404)
    throw new Fault("missing", "not_found", `${what} does not exist at ${place.host}.`);
  if (answer.status !== 200)
    throw new Fault("unavailable", "tool_download", `${place.host} answered ${answer.status} for ${what}.`);
  return answer.body;
}

const EVERY_MS = 1000;

export function progressOf(
  what: string,
  size: number | undefined,
  progress: (line: string) => void,
): (count: number) => void {
  let last = performance.now();
  return (count) => {
    const now = performance.now();
    if (now - last < EVERY_MS) return;
    last = now;
    progress(`${what}: ${megabytes(count)}${size === undefined ? "" : ` of ${megabytes(size)}`} MB`);
  };
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
