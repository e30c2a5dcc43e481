/** The API of integrations. While the webhook channel is off it says so. */
import { definePlugin } from "../../../kernel/plugin.ts";

export default definePlugin({
  name: "webhook-routes",
  kind: "part",
  needs: ["web"],
  wants: ["integrations"],
  configure: () => ({}),
  async start({ use, onStop }) {
    const { integrationRoutes } = await import("./integrations.ts");
    onStop(use.web.mount(integrationRoutes(use)));
  },
});
