/** The web gateway: HTTP, WebSocket, sign-in and the browser page. Lends `web` to plugins that mount routes. */
import { definePlugin } from "../../kernel/plugin.ts";
import { NEEDS, readSettings, WANTS } from "./settings.ts";

// The server's code is read when the gateway starts: whoever starts before it does not wait for it.
export default definePlugin({
  name: "gateway",
  needs: NEEDS,
  wants: WANTS,
  provides: ["web"],
  configure: readSettings,
  diagnose: async ({ config }) => (await import("./diagnosis.ts")).diagnosePort(config),
  start: async (context) => (await import("./gateway.ts")).openGateway(context),
});
