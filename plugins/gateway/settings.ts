/** The settings of the gateway, and the services it uses. */
import { readTrustedProxies } from "../../kernel/kit/http.ts";
import { type Env, Off } from "../../kernel/plugin.ts";

export const NEEDS = ["kernel", "store", "accounts"] as const;
export const WANTS = ["telemetry"] as const;
export type Needed = (typeof NEEDS)[number];
export type Wanted = (typeof WANTS)[number];

const MIB = 2 ** 20;

/** §8: the largest body of a request. */
export const MAX_BODY_BYTES = 14 * MIB;
/** Before sign-in no request needs a long body. */
export const MAX_OPEN_BODY_BYTES = 64 * 1024;

export interface BodyLimits {
  readonly callerBytes: number;
  readonly allBytes: number;
  /** A caller may send this many bytes in a minute. */
  readonly minuteBytes: number;
}

/** Limits how much of the process's memory the bodies of requests may hold, by user. */
export const BODY_LIMITS: BodyLimits = {
  callerBytes: 64 * MIB,
  allBytes: 256 * MIB,
  minuteBytes: 1024 * MIB,
};
/** The same before sign-in, by address: nobody who has no token takes the room of those who have. */
export const OPEN_BODY_LIMITS: BodyLimits = { callerBytes: MIB, allBytes: 32 * MIB, minuteBytes: 64 * MIB };

const COUNTS = { min: 1, max: 1_000_000 };

export type GatewayConfig = Exclude<ReturnType<typeof readSettings>, Off>;

export function readSettings(env: Env) {
  const isOn = env.flag("GATEWAY_ENABLED", true, "The web gateway: browser page, JSON API, WebSocket");
  const config = {
    host: env.host("GATEWAY_HOST", "127.0.0.1", "Interface of the gateway; 0.0.0.0 opens it to the network"),
    port: env.port("GATEWAY_PORT", 3000, "Port of the gateway"),
    allowedOrigins: readOrigins(env),
    trustedProxies: readTrustedProxies(env),
    connectionsPerAddress: env.integer(
      "GATEWAY_CONNECTIONS_PER_ADDRESS",
      500,
      COUNTS,
      "Open connections to the gateway from one address",
    ),
    requestsPerUser: env.integer(
      "GATEWAY_REQUESTS_PER_USER",
      100,
      COUNTS,
      "Requests of one user that are answered at the same time",
    ),
  };
  return isOn ? config : new Off("GATEWAY_ENABLED is false");
}

function readOrigins(env: Env): readonly string[] {
  const name = "GATEWAY_ALLOWED_ORIGINS";
  const origins = env.list(name, "Origins beside the gateway's own whose pages may use it");
  if (origins.some((origin) => URL.parse(origin)?.origin !== origin))
    env.refuse(name, "origins such as https://chat.example.org, without a path, separated by commas");
  return origins;
}
