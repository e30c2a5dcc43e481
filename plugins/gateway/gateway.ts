/** Starts the gateway: the server, its routes and its sockets. */
import {
  isLoopback,
  type MountedSocket,
  type RouteDescription,
  SILENT,
  Type,
  type Web,
} from "../../kernel/kit.ts";
import type { JsonSchema, StartContext } from "../../kernel/plugin.ts";
import { describeApi } from "./api/openapi.ts";
import { identityOf, mount, type Route, route } from "./route.ts";
import { accountRoutes } from "./routes/accounts.ts";
import { approvalRoutes } from "./routes/approvals.ts";
import { attachmentRoutes } from "./routes/attachments.ts";
import { chatRoutes } from "./routes/chat.ts";
import { jobRoutes } from "./routes/jobs.ts";
import { memoryRoutes } from "./routes/memory.ts";
import { routineRoutes } from "./routes/routines.ts";
import { healthRoutes, logRoutes, statusRoutes } from "./routes/service.ts";
import { sessionRoutes } from "./routes/session.ts";
import { settingRoutes } from "./routes/settings.ts";
import { threadRoutes } from "./routes/threads.ts";
import { destinationRoutes } from "./routes/tools/destinations.ts";
import { mcpServerRoutes } from "./routes/tools/mcp-servers.ts";
import { receiptRoutes } from "./routes/tools/receipts.ts";
import { callbackOn, toolAdminRoutes } from "./routes/tools/tool-admin.ts";
import { toolRoutes } from "./routes/tools/tools.ts";
import { usageRoutes } from "./routes/usage.ts";
import { webhookRoutes } from "./routes/webhooks.ts";
import { buildServer } from "./server.ts";
import type { GatewayConfig, Needed, Wanted } from "./settings.ts";
import { SocketFrame } from "./socket/frame.ts";
import { createMountedSockets } from "./socket/mounted.ts";
import { createSockets } from "./socket/sockets.ts";
import { acceptSockets, SOCKET_PATH } from "./socket/upgrade.ts";

// The page is bundled after everything else has started: nobody opens it at once.
const WARM_UP_AFTER_MS = 500;

const MODEL_TESTS = { limit: 10, seconds: 60 };

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
  const { kernel, agent, threads, jobs, memory, approvals, tools } = use;
  const { chatLimit } = agent;
  const { metrics } = use.telemetry ?? SILENT;
  const { accounts } = use;
  const server = await buildServer({ config, log, accounts, metrics });
  const { app, signIn } = server;
  onStop(() => signIn.close());
  const sockets = createSockets(agent, server.authenticator);
  const mounted = createMountedSockets(server.authenticator);
  const { follow } = sockets;
  const recheck = async (): Promise<void> => {
    await Promise.all([sockets.recheck(), mounted.recheck(), server.protocols.recheck()]);
  };
  onStop(accounts.followRevoked(recheck));
  const onRevoked = async (): Promise<void> => {
    await Promise.all([recheck(), accounts.tellRevoked()]);
  };
  metrics.gauge("postern_sockets", "Open sockets", () => sockets.count + mounted.count);
  metrics.gauge("postern_streams", "Users whose events are kept for a socket", () => sockets.streams);

  const testLimit = use.store.limiter({ name: "model-test", windows: [MODEL_TESTS], isKept: false });
  onStop(() => testLimit.close());
  const redirectUri = callbackOn(server.proxies);
  const described: RouteDescription[] = [SOCKET];
  const describe = () => describeApi({ version: kernel.version, routes: described, others: [SocketFrame] });
  const routes: readonly Route[] = [
    ...healthRoutes(kernel),
    ...sessionRoutes({ ...server, onRevoked }),
    ...statusRoutes({
      ...{ kernel, agent, jobs, tools, metrics, node: use.store.node },
      usersOnline: () => sockets.users,
      storeHealth: use.storeHealth,
    }),
    ...chatRoutes({ agent, threads, attachments: use.attachments, chatLimit, follow }),
    ...threadRoutes(threads, agent),
    ...attachmentRoutes(use.attachments),
    ...jobRoutes(jobs, chatLimit),
    ...routineRoutes(use.routines, accounts),
    ...memoryRoutes(memory),
    ...approvalRoutes({ agent, approvals, identities: use.identities, tools, follow }),
    ...destinationRoutes(use.destinations),
    ...toolRoutes(tools, use.toolAdmin),
    ...toolAdminRoutes(use.toolAdmin, redirectUri),
    ...mcpServerRoutes(use.mcpServers, redirectUri),
    ...receiptRoutes(use.toolAdmin),
    ...settingRoutes({ settings: use.settings, modelCheck: use.modelCheck, testLimit }),
    ...logRoutes(kernel, use.store.node),
    ...usageRoutes(threads, use.toolAdmin),
    ...webhookRoutes({ accounts, identities: use.identities, integrations: use.integrations }),
    ...accountRoutes({ accounts, agent, toolCalls: use.toolCalls, onRevoked }),
    documentRoute(describe),
  ];
  described.push(...routes);
  mount(app.open, routes.filter(isOpen));
  mount(
    app.router,
    routes.filter((definition) => !isOpen(definition)),
  );
  app.router.get(SOCKET_PATH, (context) => context.throw(426));

  const listener = await server.listen();
  onStop(() => listener.close(GRACE_MS));
  acceptSockets(listener.server, { ...server, sockets, mounted, log });
  onStop(() => sockets.close());
  onStop(() => mounted.close());
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

  const warmUp = setTimeout(() => {
    void import("koa-body");
    server.page.warmUp().catch((error) => log.error({ error }, "bundling the page failed"));
  }, WARM_UP_AFTER_MS);
  onStop(() => clearTimeout(warmUp));

  const web: Web = {
    router: app.router,
    describe: (more) => void described.push(...more),
    mountSocket(socket) {
      mounted.mount(socket);
      app.router.get(socket.path, (context) => context.throw(426));
      described.push(describeSocket(socket));
    },
    mountProtocol: (protocol) => server.protocols.mount(protocol, listener.url),
    user: (context) => identityOf(context).user,
    url: listener.url,
  };
  return { web };
}

function isOpen({ audience }: Route): boolean {
  return audience === "anyone";
}

const SOCKET: RouteDescription = {
  ...describeSocket({
    path: SOCKET_PATH,
    tag: "chat",
    summary: "Open a WebSocket that streams every turn of this user as `SocketFrame`s",
  }),
  query: Type.Object({
    stream: Type.Optional(Type.String({ description: "The `stream` of the `hello` frame before the drop" })),
    after: Type.Optional(Type.Integer({ description: "The `id` of the last frame seen in it" })),
  }),
};

function documentRoute(describe: () => JsonSchema): Route {
  return route({
    method: "get",
    path: "/api/openapi.json",
    tag: "status",
    summary: "Get this document",
    answer: Type.Record(Type.String(), Type.Unknown()),
    handle: describe,
  });
}

function describeSocket({
  path,
  tag,
  summary,
}: Pick<MountedSocket, "path" | "tag" | "summary">): RouteDescription {
  return {
    ...{ method: "get", path, tag, summary, status: 101 },
    refusals: {
      403: { means: "A foreign page asked", answer: "text/plain" },
      426: "The request is not a WebSocket upgrade",
      429: { means: "You have too many open sockets", answer: "text/plain" },
      503: { means: "Too many sockets are open", answer: "text/plain" },
    },
  };
}
