/** The gateway at work: the door, the routes and the sockets behind it. */
import type { StartContext, Web } from "../../kernel/plugin.ts";
import { buildDoor } from "./door.ts";
import { describeApi } from "./openapi.ts";
import { identityOf, mount, type Route, route } from "./route.ts";
import { accountRoutes } from "./routes/accounts.ts";
import { approvalRoutes } from "./routes/approvals.ts";
import { chatRoutes } from "./routes/chat.ts";
import { healthRoutes } from "./routes/health.ts";
import { jobRoutes } from "./routes/jobs.ts";
import { logRoutes } from "./routes/logs.ts";
import { memoryRoutes } from "./routes/memory.ts";
import { receiptRoutes } from "./routes/receipts.ts";
import { sessionRoutes } from "./routes/session.ts";
import { statusRoutes } from "./routes/status.ts";
import { threadRoutes } from "./routes/threads.ts";
import { toolAdminRoutes } from "./routes/tool-admin.ts";
import { toolRoutes } from "./routes/tools.ts";
import type { GatewayConfig, Needed, Wanted } from "./settings.ts";
import { createHub } from "./socket/hub.ts";
import { acceptSockets, SOCKET_PATH } from "./socket/upgrade.ts";

// Everything else starts first: nobody opens the page within the first moments.
const WARM_UP_AFTER_MILLIS = 500;

// The kernel gives the whole service ten seconds to stop.
const GRACE_MILLIS = 3000;

export async function openGateway({
  config,
  use,
  log,
  home,
  onStop,
  announce,
  tell,
}: StartContext<GatewayConfig, Needed, Wanted>): Promise<{ web: Web }> {
  const { kernel, agent, threads, jobs, memory, approvals, chatLimit, tools } = use;
  const door = await buildDoor({ config, home, log, store: use.store, kernel });
  const { app, metrics } = door;
  const hub = createHub(agent, door.doorkeeper, log);
  const { follow, recheck: onRevoked } = hub;
  metrics.gauge("postern_sockets", "Open sockets", () => hub.sockets);
  metrics.gauge("postern_streams", "Users whose events are kept for a socket", () => hub.streams);
  metrics.gauge("postern_jobs_queued", "Jobs that wait", () => jobs.counts().queued);
  metrics.gauge("postern_jobs_running", "Jobs that run", () => jobs.counts().running);

  const routes: readonly Route[] = [
    ...healthRoutes(kernel),
    ...sessionRoutes({ ...door, onRevoked }),
    ...statusRoutes({ kernel, agent, jobs, tools, metrics, usersOnline: () => hub.users }),
    ...chatRoutes({ agent, threads, chatLimit, follow }),
    ...threadRoutes(threads),
    ...jobRoutes(jobs),
    ...memoryRoutes(memory),
    ...approvalRoutes({ agent, approvals, follow }),
    ...toolRoutes(tools, use.toolAdmin),
    ...toolAdminRoutes(use.toolAdmin, door.proxies),
    ...receiptRoutes(use.toolAdmin),
    ...logRoutes(kernel),
    ...accountRoutes({ accounts: door.accounts, onRevoked }),
    documentRoute(() => describeApi(kernel.version, routes)),
  ];
  mount(app.open, routes.filter(isOpen));
  mount(
    app.router,
    routes.filter((definition) => !isOpen(definition)),
  );
  app.router.get(SOCKET_PATH, (context) => context.throw(426));

  const listener = await door.listen();
  onStop(() => listener.close(GRACE_MILLIS));
  acceptSockets(listener.server, { ...door, hub, log });
  onStop(() => hub.close());
  announce(listener.url);
  tell(
    door.freshToken === undefined
      ? `Open ${listener.url}/ and sign in with GATEWAY_AUTH_TOKEN`
      : `Open ${listener.url}/?token=${door.freshToken}`,
  );
  if (!/^(127\.|::1$|localhost$)/.test(config.host))
    tell("The gateway is open to your network: put an HTTPS reverse proxy in front before it goes further.");

  const warmUp = setTimeout(() => {
    void import("koa-body");
    door.page.warmUp().catch((error) => log.error({ error }, "the page cannot be bundled"));
  }, WARM_UP_AFTER_MILLIS);
  onStop(() => clearTimeout(warmUp));

  const web: Web = {
    router: app.router,
    user: (context) => identityOf(context).user,
    url: listener.url,
  };
  return { web };
}

function isOpen({ audience }: Route): boolean {
  return audience === "anyone";
}

function documentRoute(describe: () => object): Route {
  return route({
    method: "get",
    path: "/api/openapi.json",
    tag: "status",
    summary: "This API, described",
    answer: { type: "object" },
    handle: describe,
  });
}
