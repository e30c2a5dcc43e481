/** Starts the gateway: the server, its routes and its sockets. */

import { type Route, type RouteDescription, routesOf } from "../../kernel/kit/http.ts";
import { SILENT } from "../../kernel/kit/log.ts";
import { isLoopback } from "../../kernel/kit/outbound.ts";
import { Type } from "../../kernel/kit/schema.ts";
import type { StartContext } from "../../kernel/plugin.ts";
import { describeApi } from "./api/openapi.ts";
import { healthRoutes, logRoutes, metricsRoutes } from "./routes/service.ts";
import { sessionRoutes } from "./routes/session.ts";
import { buildServer } from "./server.ts";
import type { MountedSocket, Web } from "./services.ts";
import type { GatewayConfig, Needed, Wanted } from "./settings.ts";
import { createMountedSockets } from "./socket/mounted-sockets.ts";
import { acceptSockets } from "./socket/upgrade.ts";

// What reads bodies is loaded after everything else has started.
const WARM_UP_AFTER_MS = 500;

const ROUTES = [healthRoutes, sessionRoutes, logRoutes, metricsRoutes];

// The kernel gives the whole service ten seconds to stop.
const GRACE_MS = 3000;

export async function openGateway({
  config,
  use,
  log,
  onStop,
  announce,
  tell,
}: StartContext<GatewayConfig, Needed, Wanted>): Promise<{ web: Web }> {
  const { kernel, accounts } = use;
  const { metrics } = use.telemetry ?? SILENT;
  const server = await buildServer({ config, log, accounts, metrics, kernel });
  const { app, signIn } = server;
  onStop(() => signIn.close());
  const sockets = createMountedSockets(server.authenticator);
  const recheck = async (): Promise<void> => {
    await Promise.all([sockets.recheck(), server.protocols.recheck()]);
  };
  onStop(accounts.followRevoked(recheck));
  const onRevoked = async (): Promise<void> => {
    await Promise.all([recheck(), accounts.tellRevoked()]);
  };
  metrics.gauge("postern_sockets", "Open sockets", sockets.count);
  metrics.gauge(
    "postern_body_bytes",
    "Bytes held for bodies and unsent answers",
    () => server.bodies.heldBytes,
  );

  const { mounts } = app;
  const parts = {
    ...use,
    ...server,
    metrics,
    onRevoked,
  };
  const routes: readonly Route[] = [
    ...ROUTES.flatMap((routesFrom) => routesFrom(parts)),
    routesOf("status")("GET /api/openapi.json", {
      summary: "Get this document",
      answer: Type.Record(Type.String(), Type.Unknown()),
      scoped: true,
      handle: () =>
        describeApi({ version: kernel.version, routes: mounts.described(), others: sockets.frames() }),
    }),
  ];
  const mountSocket = (socket: MountedSocket): (() => void) => {
    const undos = [mounts.mount([upgradeOnly(describeSocket(socket))]), sockets.mount(socket)];
    return () => {
      for (const undo of undos) undo();
    };
  };
  mounts.mount(routes);

  const listener = await server.listen();
  onStop(() => listener.close(GRACE_MS));
  acceptSockets(listener.server, {
    ...server,
    sockets,
    log,
    kernel,
    wasMounted: mounts.wasMounted,
  });
  onStop(async () => void (await sockets.close()));
  onStop(() => server.protocols.close());
  announce(listener.url + signIn.weaknesses);
  tell(
    signIn.linkToken === undefined
      ? `Open ${listener.url}/ and sign in with GATEWAY_AUTH_TOKEN`
      : `Open ${listener.url}/?token=${signIn.linkToken}`,
  );
  if (!isLoopback(config.host))
    tell(
      "The gateway is open to your network. Put an HTTPS reverse proxy in front before you expose it further.",
    );

  const warmUp = setInterval(() => {
    if (!kernel.isStarted) return;
    clearInterval(warmUp);
    void import("koa-body");
  }, WARM_UP_AFTER_MS);
  onStop(() => clearInterval(warmUp));

  const web: Web = {
    mount: mounts.mount,
    mountSocket,
    usersOf: sockets.usersOf,
    limitWrites: server.limitWritesBy,
    endRevoked: onRevoked,
    mountSite: app.mountSite,
    mountProtocol: (protocol) => server.protocols.mount(protocol, listener.url),
    originOf: (request) =>
      `${server.proxies.isHttps(request) ? "https" : "http"}://${server.proxies.host(request)}`,
    url: listener.url,
  };
  return { web };
}

/** A plain request to the path of a socket. */
const upgradeOnly = (description: RouteDescription): Route => ({
  ...description,
  handle: ({ context }) => context.throw(426),
});

function describeSocket({ path, tag, summary, scoped, query }: MountedSocket): RouteDescription {
  return {
    ...{ method: "get", path, tag, summary, scoped, query, status: 101 },
    refusals: {
      403: { means: "A foreign page asked", answer: "text/plain" },
      426: "The request is not a WebSocket upgrade",
      429: { means: "You have too many open sockets", answer: "text/plain" },
      503: { means: "Too many sockets are open", answer: "text/plain" },
    },
  };
}
