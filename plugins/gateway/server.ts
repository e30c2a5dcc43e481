/** The listener with its sign-in, on which the routes and sockets are mounted. */

import {
  applyLimit,
  createOpenCount,
  createProxies,
  type Listener,
  listen,
  tooManyConnections,
} from "../../kernel/kit/http.ts";
import { SILENT } from "../../kernel/kit/log.ts";
import type { Kernel, Limiter, Log, Services } from "../../kernel/plugin.ts";
import type { Metrics } from "../telemetry/services.ts";
import { createApp, STARTING } from "./app.ts";
import { createBodyBudget } from "./middleware/body-budget.ts";
import { createPacing } from "./middleware/pace.ts";
import { createProtocols, type LimitRequests, type LimitWrites } from "./middleware/protocols.ts";
import { BODY_LIMITS, type GatewayConfig } from "./settings.ts";
import { createAuthenticator, createOriginCheck } from "./sign-in/authenticator.ts";

export type GatewayServer = Awaited<ReturnType<typeof buildServer>>;

// Longer than the idle time of common proxies: if we closed first, requests would get lost in between.
const KEEP_ALIVE_MS = 75_000;

export interface ServerParts {
  readonly config: GatewayConfig;
  readonly accounts: Services["accounts"];
  readonly metrics?: Metrics;
  readonly log: Log;
  readonly kernel: Pick<Kernel, "isStarted">;
}

export async function buildServer({ config, accounts, metrics = SILENT.metrics, log, kernel }: ServerParts) {
  const signIn = await accounts.openSignIn();
  const proxies = createProxies(config.trustedProxies);
  const isOwnOrigin = createOriginCheck(config.allowedOrigins, proxies);
  const authenticator = createAuthenticator(signIn, proxies);
  const { host, port, allowedOrigins, connectionsPerAddress: perAddress, requestsPerUser } = config;
  const { issuer } = signIn;
  const bodies = createBodyBudget(BODY_LIMITS);
  let writeLimit: Limiter | undefined;
  const limitWrites: LimitWrites = async (user, answer) => {
    // The plugin that sets the limit may be yet to start.
    if (writeLimit === undefined && !kernel.isStarted) throw STARTING;
    const verdict = await writeLimit?.take(user);
    // An accepted request gets its limit headers from the route.
    if (verdict?.ok === false) applyLimit(verdict, answer);
  };
  const shared = {
    authenticator,
    proxies,
    isOwnOrigin,
    allowedOrigins,
    bodies,
    pacing: createPacing(),
    limitWrites,
    limitRequests: createRequestLimit(requestsPerUser),
  };
  const protocols = createProtocols({ ...shared, host, issuer });
  const parts = { proxies, authenticator, isOwnOrigin, protocols, bodies };
  const app = createApp({ ...shared, protocols, log, metrics, kernel });
  return {
    ...parts,
    app,
    accounts,
    signIn,
    limitWritesBy(limiter: Limiter): () => void {
      writeLimit = limiter;
      return () => {
        if (writeLimit === limiter) writeLimit = undefined;
      };
    },
    async listen(): Promise<Listener> {
      const variables = { hostVariable: "GATEWAY_HOST", portVariable: "GATEWAY_PORT" };
      const listener = await listen(app.koa.callback(), {
        ...{ host, port, ...variables },
        connections: { perAddress, proxies },
      });
      listener.server.keepAliveTimeout = KEEP_ALIVE_MS;
      return listener;
    },
  };
}

function createRequestLimit(limit: number): LimitRequests {
  const count = createOpenCount(limit);
  return (user, response) => {
    if (!count.open(user, response)) throw tooManyConnections(limit);
  };
}
