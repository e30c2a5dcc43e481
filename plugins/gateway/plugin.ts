/** The web gateway: HTTP, WebSocket, sign-in and the browser page. Lends `web` to plugins that mount routes. */
import { definePlugin, type Web } from "../../kernel/plugin.ts";
import { diagnosePort } from "./diagnosis.ts";
import { buildDoor } from "./door.ts";
import { identityOf, mount } from "./route.ts";
import { healthRoutes } from "./routes/health.ts";
import { sessionRoutes } from "./routes/session.ts";
import { readSettings } from "./settings.ts";

// The kernel gives the whole service ten seconds to stop.
const GRACE_MILLIS = 3000;

export default definePlugin({
  name: "gateway",
  needs: ["kernel", "store", "agent", "threads", "jobs", "memory", "approvals", "chatLimit"],
  wants: ["tools"],
  provides: ["web"],
  configure: readSettings,
  diagnose: ({ config }) => diagnosePort(config),
  async start({ config, use, log, home, onStop, announce, tell }) {
    const door = buildDoor({ config, home, log, store: use.store, kernel: use.kernel });
    const routes = [...healthRoutes(use.kernel), ...sessionRoutes({ ...door, onRevoked: () => {} })];
    const isOpen = ({ audience }: { audience?: string }) => audience === "anyone";
    mount(door.app.open, routes.filter(isOpen));
    mount(
      door.app.router,
      routes.filter((route) => !isOpen(route)),
    );

    const listener = await door.listen();
    onStop(() => listener.close(GRACE_MILLIS));
    announce(listener.url);
    tell(
      door.freshToken === undefined
        ? `Open ${listener.url}/ and sign in with GATEWAY_AUTH_TOKEN`
        : `Open ${listener.url}/?token=${door.freshToken}`,
    );
    if (isExposed(config.host))
      tell(
        "The gateway is open to your network: put an HTTPS reverse proxy in front before it goes further.",
      );

    const web: Web = {
      router: door.app.router,
      user: (context) => identityOf(context).user,
      url: listener.url,
    };
    return { web };
  },
});

function isExposed(host: string): boolean {
  return !/^(127\.|::1$|localhost$)/.test(host);
}
