/** The listener with its sign-in, on which the routes and sockets are mounted. */
import {
  createProxies,
  type Listener,
  listen,
  type Metrics,
  type Proxies,
  SILENT,
} from "../../kernel/kit.ts";
import type { Log, Services } from "../../kernel/plugin.ts";
import { type App, createApp } from "./app.ts";
import { type ServedPage, servePage } from "./middleware/page-files.ts";
import { createProtocols, type Protocols } from "./middleware/protocols.ts";
import type { GatewayConfig } from "./settings.ts";
import {
  type Authenticator,
  createAuthenticator,
  createOriginCheck,
  type OriginCheck,
  type SignIn,
} from "./sign-in/authenticator.ts";

export interface GatewayServer {
  readonly app: App;
  readonly page: ServedPage;
  readonly protocols: Protocols;
  readonly accounts: Services["accounts"];
  readonly signIn: SignIn;
  readonly authenticator: Authenticator;
  readonly isOwnOrigin: OriginCheck;
  readonly proxies: Proxies;
  listen(): Promise<Listener>;
}

// Longer than the idle time of common proxies: if we closed first, requests would get lost in between.
const KEEP_ALIVE_MS = 75_000;

export interface ServerParts {
  readonly config: GatewayConfig;
  readonly accounts: Services["accounts"];
  readonly metrics?: Metrics;
  readonly log: Log;
}

export async function buildServer({
  config,
  accounts,
  metrics = SILENT.metrics,
  log,
}: ServerParts): Promise<GatewayServer> {
  const signIn = await accounts.openSignIn();
  const proxies = createProxies(config.trustedProxies);
  const isOwnOrigin = createOriginCheck(config.allowedOrigins, proxies);
  const authenticator = createAuthenticator(signIn, proxies);
  const page = servePage();
  const { host, allowedOrigins } = config;
  const protocols = createProtocols({
    ...{ authenticator, proxies, isOwnOrigin, allowedOrigins, host },
    issuer: signIn.issuer,
  });
  const app = createApp({
    log,
    metrics,
    proxies,
    authenticator,
    isOwnOrigin,
    allowedOrigins,
    page,
    protocols,
  });
  return {
    app,
    page,
    protocols,
    accounts,
    signIn,
    authenticator,
    isOwnOrigin,
    proxies,
    async listen() {
      const listener = await listen(app.koa.callback(), {
        host: config.host,
        port: config.port,
        hostVariable: "GATEWAY_HOST",
        portVariable: "GATEWAY_PORT",
      });
      listener.server.keepAliveTimeout = KEEP_ALIVE_MS;
      return listener;
    },
  };
}
