/** The web gateway: HTTP and WebSocket. Offers `web` to plugins that mount routes. */

import { examinePort } from "../../kernel/kit/operations.ts";
import { definePlugin } from "../../kernel/plugin.ts";
import { NEEDS, readSettings, WANTS } from "./settings.ts";

export default definePlugin({
  name: "gateway",
  kind: "channel",
  needs: NEEDS,
  wants: WANTS,
  provides: ["web"],
  configure: readSettings,
  // The server's code is loaded when the gateway starts, so that plugins that start before it do not wait for it.
  start: async (context) => (await import("./gateway.ts")).openGateway(context),
  operations: {
    diagnose: async ({ config: { host, port }, running }) => [
      await examinePort({ name: "gateway", host, port, variables: "GATEWAY_PORT", running }),
    ],
  },
});
