/** Telegram's Bot API through grammY, over our own connections, and what its refusals mean. */
import { Api, GrammyError, HttpError, type RawApi } from "grammy";
import type { UserFromGetMe } from "grammy/types";
import { createOutbound, MAX_REPLY_BYTES, type Outbound, OutboundError } from "../../kernel/kit/outbound.ts";
import { Fault, reason } from "../../kernel/plugin.ts";
import type { NotSent } from "../messaging/services.ts";
import { type TelegramConfig, TOKEN } from "./settings.ts";

export interface BotApi {
  call<Method extends keyof RawApi>(
    method: Method,
    payload: Parameters<RawApi[Method]>[0],
    signal: AbortSignal,
  ): Promise<Awaited<ReturnType<RawApi[Method]>>>;
  me(signal: AbortSignal): Promise<UserFromGetMe>;
  /** Brings a file whose path `getFile` told. */
  download(path: string, most: number, signal: AbortSignal): Promise<Uint8Array>;
}

/** Telegram answers a long poll within the time that it was asked to, and uploads take a while. */
const REQUEST_TIMEOUT_MS = 100_000;
const DOWNLOAD_TIMEOUT_MS = 60_000;

/** The operator named the server, so it may be anywhere. Connections are kept for all requests of the process. */
const outbound: Outbound = createOutbound({ privateHosts: "any" });

export function createBotApi({ token, apiUrl }: TelegramConfig): BotApi {
  const { raw } = new Api(token, {
    apiRoot: apiUrl,
    timeoutSeconds: REQUEST_TIMEOUT_MS / 1000,
    fetch: ((url: string, init: GrammyRequest) => request(new URL(url), init)) as never,
  });
  return {
    // Its type of a signal is that of an older package; the platform's own works.
    call: (method, payload, signal) => raw[method](payload as never, signal as never) as never,
    me: (signal) => raw.getMe(signal as never),
    async download(path, most, signal) {
      const url = new URL(`${apiUrl}/file/bot${token}/${path}`);
      const { status, body } = await outbound.send({
        url,
        timeoutMs: DOWNLOAD_TIMEOUT_MS,
        maxBytes: most,
        signal,
      });
      if (status !== 200) throw new Error(`Telegram did not hand over the file: status ${status}`);
      return body;
    },
  };
}

interface GrammyRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | AsyncIterable<Uint8Array>;
  /** Of a package that is older than the platform's own. */
  readonly signal: Pick<AbortSignal, "aborted" | "addEventListener">;
}

async function request(url: URL, { method, headers, body, signal }: GrammyRequest): Promise<Response> {
  const stop = new AbortController();
  if (signal.aborted) stop.abort();
  else signal.addEventListener("abort", () => stop.abort());
  const { connection: _, ...sent } = headers;
  const whole = typeof body === "string" ? body : await collect(body);
  return await outbound.fetch(
    url,
    { method, headers: sent, body: whole as BodyInit, signal: stop.signal },
    { maxBytes: MAX_REPLY_BYTES },
  );
}

/** Its parts are in memory anyway, and with a length the server can say at once that it is too much. */
async function collect(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Nothing was sent where the connection could not even be made. */
const UNCONNECTED = new Set([
  ...["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "ENETDOWN"],
  ...["UND_ERR_CONNECT_TIMEOUT", "ERR_TLS_CERT_ALTNAME_INVALID", "CERT_HAS_EXPIRED"],
]);

/** Says how a message was certainly not sent; undefined where Telegram may have taken it. */
export function notSent(error: unknown): NotSent | undefined {
  if (error instanceof GrammyError) {
    const { error_code: status, description, parameters } = error;
    // Above 499 its own machine failed, perhaps after it took the message.
    if (status >= 500) return undefined;
    if (status === 429)
      return {
        message: "Telegram asks to send more slowly.",
        ...(parameters.retry_after !== undefined && { retryMillis: parameters.retry_after * 1000 }),
      };
    // With a new token it can still be sent.
    if (isTokenRefused(error)) return { message: tokenRefused().message };
    return { message: `Telegram refused it: ${description}`, isFinal: true };
  }
  const failure = error instanceof HttpError ? error.error : error;
  if (!(failure instanceof OutboundError)) return undefined;
  if (failure.kind === "address" || UNCONNECTED.has(codeOf(failure.cause)))
    return { message: failure.message };
  return undefined;
}

function codeOf(error: unknown): string {
  const { code, errors } = Object(error) as { readonly code?: unknown; readonly errors?: readonly unknown[] };
  // All addresses of a host failed, each in its own way.
  return errors?.length ? codeOf(errors[0]) : String(code);
}

/** Telegram answers 404 to a token whose form is wrong, and 401 to one that is revoked. */
function isTokenRefused(error: unknown): boolean {
  return error instanceof GrammyError && (error.error_code === 401 || error.error_code === 404);
}

function tokenRefused(): Fault {
  return new Fault(
    "forbidden",
    "telegram_token_refused",
    `Telegram refuses the token: it was revoked or is wrong. Ask @BotFather for it (/mybots, API Token), then run "postern channel add telegram" or set ${TOKEN}.`,
  );
}

/** The error as an operator reads it, with what to do. */
export function explain(error: unknown): Error {
  if (isTokenRefused(error)) return tokenRefused();
  if (error instanceof GrammyError && error.error_code === 409)
    return new Fault(
      "unavailable",
      "telegram_conflict",
      "Another program receives this bot's messages. Stop it, or use another bot: each message goes to one of them only.",
    );
  if (error instanceof GrammyError)
    return new Fault(
      "unavailable",
      "telegram_failed",
      `Telegram answered ${error.error_code}: ${error.description}`,
    );
  const failure = error instanceof HttpError ? error.error : error;
  if (failure instanceof Fault) return failure;
  return new Fault("unavailable", "telegram_unreachable", `Telegram cannot be reached: ${reason(failure)}`, {
    cause: error,
  });
}
