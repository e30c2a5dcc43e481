/** Slack's own client, on our way out of the process, and what its errors mean for a message. */
import { ErrorCode, type FetchFunction, WebClient } from "@slack/web-api";
import { createOutbound, hostAndPort, OutboundError } from "../../kernel/kit/outbound.ts";
import { Fault, type Log } from "../../kernel/plugin.ts";
import type { NotSent } from "../messaging/services.ts";
import { type APP_TOKEN, BOT_TOKEN, type SlackSettings } from "./settings.ts";

const REQUEST_TIMEOUT_MS = 20_000;
/** Slack says how long to wait; a proxy on the way may not. */
const DEFAULT_RETRY_SECS = 30;

/** The token is void, or may not do this: no further try helps before the operator has acted. */
const REFUSED_TOKENS = new Set([
  ...["invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive"],
  ...["missing_scope", "not_allowed_token_type", "team_access_not_granted", "no_permission"],
  ...["app_uninstalled", "org_login_required", "team_disabled", "user_removed_from_team"],
]);
/** The chat is gone, or this message can never be shown in it. */
const FINAL = new Set([
  ...["channel_not_found", "is_archived", "not_in_channel", "user_not_found", "cannot_dm_bot"],
  ...["msg_too_long", "no_text", "invalid_blocks", "invalid_arguments", "restricted_action"],
  ...["restricted_action_read_only_channel", "restricted_action_thread_only_channel", "thread_not_found"],
  ...["message_not_found", "cant_update_message", "edit_window_closed", "ekm_access_denied"],
]);
/** Slack says of these that a part of the work may have been done. */
const UNKNOWN = new Set(["internal_error", "fatal_error", "request_timeout", "service_unavailable"]);
const NOT_DIALLED = new Set([
  ...["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"],
]);

export type SlackClient = ReturnType<typeof createClient>;

export function createClient({ apiUrl }: SlackSettings, log: Log) {
  const outbound = createOutbound({ privateHosts: new Set([hostAndPort(apiUrl)]) });
  const logger = quietLogger(log);
  const fetchFor =
    (signal: AbortSignal): FetchFunction =>
    async (url, init) => {
      const request = { ...(init as RequestInit), signal };
      const answer = await outbound.fetch(new URL(url), request, { timeoutMs: REQUEST_TIMEOUT_MS });
      if (answer.status !== 429 || /^\d+$/.test(answer.headers.get("retry-after") ?? "")) return answer;
      // Slack's client does not count it as a limit without this.
      const headers = new Headers(answer.headers);
      headers.set("retry-after", String(DEFAULT_RETRY_SECS));
      return new Response(answer.body, { status: 429, headers });
    };
  return {
    outbound,
    fetchFor,
    /** One for each call: its client takes no signal for a single one. The token is one of the settings. */
    as: (token: string, signal: AbortSignal) =>
      new WebClient(token, {
        slackApiUrl: apiUrl.href,
        fetch: fetchFor(signal),
        // Messages wait in the outbox, which knows what may be sent again.
        retryConfig: { retries: 0 },
        rejectRateLimitedCalls: true,
        logger,
      }),
  };
}

/** Its lines hold what people wrote. */
export function quietLogger(log: Log) {
  const drop = () => {};
  return {
    debug: drop,
    info: drop,
    warn: (...words: unknown[]) => log.debug(words.join(" ")),
    error: (...words: unknown[]) => log.debug(words.join(" ")),
    setLevel: drop,
    setName: drop,
    getLevel: () => "warn" as never,
  };
}

interface SlackFailure {
  readonly code?: string;
  readonly data?: { readonly error?: string; readonly needed?: string };
  readonly retryAfter?: number;
  readonly statusCode?: number;
  readonly original?: Error;
}

/** Returns why Slack has certainly not done it; undefined where that is not known. */
export function whyNotDone(error: unknown): NotSent | undefined {
  const { code, retryAfter = DEFAULT_RETRY_SECS, statusCode = 0, original } = error as SlackFailure;
  if (code === ErrorCode.RateLimitedError)
    return { message: "Slack asks to send less.", retryMillis: retryAfter * 1000 };
  if (code === ErrorCode.HTTPError && statusCode >= 400 && statusCode < 500)
    return { message: `Slack answered ${statusCode}.` };
  if (code === ErrorCode.RequestError && original !== undefined && isNotDialled(original))
    return { message: original.message };
  const refusal = refusalOf(error);
  if (refusal === undefined || UNKNOWN.has(refusal)) return undefined;
  const fault = tokenFault(error, BOT_TOKEN);
  return fault
    ? { message: fault.message }
    : { message: `Slack refused the message: ${refusal}.`, isFinal: FINAL.has(refusal) };
}

/** Returns what the operator has to do where Slack does not take a token; undefined for every other error. */
export function tokenFault(error: unknown, name: typeof APP_TOKEN | typeof BOT_TOKEN): Fault | undefined {
  const refusal = refusalOf(error);
  if (refusal === undefined || !REFUSED_TOKENS.has(refusal)) return undefined;
  const { needed } = (error as SlackFailure).data ?? {};
  const what =
    refusal === "missing_scope"
      ? `lacks the scope ${needed ?? "it needs"}: add it to the app at Slack, install the app again`
      : `is not accepted (${refusal}): make a new one at Slack`;
  const message = `${name} ${what}, then run "postern channel add slack".`;
  return new Fault("forbidden", "slack_token_refused", message, { cause: error });
}

/** Slack's word for its refusal. A text that is none, such as a page of a proxy, says nothing. */
function refusalOf(error: unknown): string | undefined {
  const { code, data } = error as SlackFailure;
  return code === ErrorCode.PlatformError && /^[a-z_]{1,60}$/.test(data?.error ?? "")
    ? data?.error
    : undefined;
}

function isNotDialled(error: Error): boolean {
  if (error instanceof OutboundError && error.kind === "address") return true;
  return NOT_DIALLED.has(String((error.cause as NodeJS.ErrnoException | undefined)?.code));
}
