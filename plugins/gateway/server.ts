/** The listener with its sign-in, before any route of substance: what the rest of the gateway is mounted on. */

import { createProxies, type Listener, listen, type Proxies, SILENT } from "../../kernel/kit.ts";
import type { Kernel, Log, Metrics, Store } from "../../kernel/plugin.ts";
import { type App, createApp } from "./app.ts";
import { type Accounts, createAccounts } from "./auth/accounts.ts";
import { type Authenticator, createAuthenticator, type OperatorToken } from "./auth/identity.ts";
import { createOriginCheck, type OriginCheck } from "./auth/origin.ts";
import { MIGRATIONS } from "./auth/tables.ts";
import { createThrottle } from "./auth/throttle.ts";
import { provisionOperatorToken, shareOperatorTokens } from "./auth/tokens/operator-token.ts";
import { digestOf, newSecret } from "./auth/tokens/secret.ts";
import { type ServedPage, servePage } from "./middleware/page-files.ts";
import { createProtocols, type Protocols } from "./middleware/protocols.ts";
import type { GatewayConfig } from "./settings.ts";

export interface GatewayServer {
  readonly app: App;
  readonly page: ServedPage;
  readonly protocols: Protocols;
  readonly accounts: Accounts;
  readonly authenticator: Authenticator;
  readonly isOwnOrigin: OriginCheck;
  readonly proxies: Proxies;
  /** Made afresh at this start, where the operator set none. */
  readonly freshToken: string | undefined;
  listen(): Promise<Listener>;
}

// Longer than the idle time of common proxies: they must be the ones to close, or requests get lost in between.
const KEEP_ALIVE_MILLIS = 75_000;

export interface ServerParts {
  readonly config: GatewayConfig;
  readonly home: string;
  readonly store: Store;
  readonly kernel: Kernel;
  readonly metrics?: Metrics;
  readonly log: Log;
}

export async function buildServer({
  config,
  home,
  store,
  kernel,
  metrics = SILENT.metrics,
  log,
}: ServerParts): Promise<GatewayServer> {
  const freshToken = config.authToken === undefined ? newSecret("") : undefined;
  const operatorTokens: OperatorToken[] = [
    named(config.operatorToken ?? (await provisionOperatorToken(home, store))),
    // Sessions opened by the link of an earlier start stay, though that link has expired.
    freshToken === undefined
      ? named(config.authToken as string)
      : { source: "operator:link", token: freshToken },
  ];
  for (const { token } of operatorTokens) kernel.mask.add(token);
  await shareOperatorTokens(store, operatorTokens);

  const accounts = await createAccounts(store);
  const proxies = createProxies(config.trustedProxies);
  const isOwnOrigin = createOriginCheck(config.allowedOrigins, proxies);
  // Few have an identity provider; the others need not read the code for one.
  const oidc =
    config.oidc && (await import("./auth/oidc.ts")).createOidcCheck(config.oidc, store.keyed("oidc"));
  const authenticator = createAuthenticator({
    operatorTokens,
    accounts,
    ...(oidc && { oidc }),
    throttle: createThrottle(await store.tables("gateway", MIGRATIONS)),
    proxies,
    log,
  });
  const page = servePage();
  const { host, allowedOrigins } = config;
  const protocols = createProtocols({
    ...{ authenticator, proxies, isOwnOrigin, allowedOrigins, host, log },
    issuer: config.oidc?.issuer,
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
    authenticator,
    isOwnOrigin,
    proxies,
    freshToken,
    async listen() {
      const listener = await listen(app.koa.callback(), {
        host: config.host,
        port: config.port,
        hostVariable: "GATEWAY_HOST",
        portVariable: "GATEWAY_PORT",
      });
      listener.server.keepAliveTimeout = KEEP_ALIVE_MILLIS;
      return listener;
    },
  };
}

/** A changed token has another name, so that sessions made from the old one end. */
function named(token: string): OperatorToken {
  return { source: `operator:${digestOf(digestOf(token)).slice(0, 16)}`, token };
}
