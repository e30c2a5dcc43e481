/** The channel's settings, and what they mean for who can post. */
import { readTrustedProxies } from "../../kernel/kit/http.ts";
import { hostAndPort, type PrivateHosts, parsePrivateHosts } from "../../kernel/kit/outbound.ts";
import type { Env } from "../../kernel/plugin.ts";

export const SECRET = "HTTP_WEBHOOK_SECRET";

export interface CallbackTarget {
  readonly url: URL;
  readonly privateHosts: PrivateHosts;
}

export function readSettings(env: Env) {
  return {
    host: env.host("HTTP_HOST", "0.0.0.0", "Host the webhook channel listens on"),
    port: env.port("HTTP_PORT", 8080, "The webhook channel's port"),
    secret: env.secret(SECRET, "Shared secret that callers send in X-Webhook-Secret or sign with"),
    rate: readRate(env),
    connectionsPerAddress: env.integer(
      "HTTP_CONNECTIONS_PER_ADDRESS",
      100,
      { min: 1, max: 1_000_000 },
      "Open connections to the webhook channel from one address",
    ),
    pairing: env.oneOf(
      "HTTP_PAIRING",
      ["optional", "required"],
      "optional",
      "Whether the webhook's users talk before an operator has paired them with an account",
    ),
    proxies: readTrustedProxies(env),
    callback: readCallback(env),
  };
}

export function readRate(env: Env): number {
  const bounds = { min: 1, max: 1_000_000 };
  return env.integer("HTTP_RATE_LIMIT", 60, bounds, "Webhook requests per minute and address");
}

function readCallback(env: Env): CallbackTarget | undefined {
  const given = env.url("HTTP_CALLBACK_URL", undefined, "Where completed webhook jobs are posted, signed");
  const listed = parsePrivateHosts(
    env.list("HTTP_CALLBACK_PRIVATE_HOSTS", "Private or plain http host:port,… that callbacks may reach"),
  );
  if (listed === undefined)
    env.refuse("HTTP_CALLBACK_PRIVATE_HOSTS", "host:port, several separated by commas");
  if (given === undefined) return undefined;
  const target = { url: new URL(given), privateHosts: listed ?? new Set<string>() };
  if (target.url.username || target.url.password)
    env.refuse("HTTP_CALLBACK_URL", "a URL without user and password");
  if (target.url.protocol !== "https:" && !target.privateHosts.has(hostAndPort(target.url)))
    env.refuse("HTTP_CALLBACK_URL", "an https URL, or one whose host:port is in HTTP_CALLBACK_PRIVATE_HOSTS");
  return target;
}

/** Without the shared secret, only integrations can post. */
export function describeNoSecret(integrations: number): string {
  const who = integrations === 1 ? "only the integration" : `only the ${integrations} integrations`;
  return integrations === 0
    ? `${SECRET} is not set: every request gets 401`
    : `${SECRET} is not set: ${who} can post`;
}
