/** The API of chat channels. Without any it says that there are none. */
import { definePlugin } from "../../../kernel/plugin.ts";

export default definePlugin({
  name: "messaging-routes",
  kind: "part",
  needs: ["web"],
  wants: ["messaging", "settings"],
  configure: () => ({}),
  async start({ use, onStop }) {
    const { channelRoutes } = await import("./channels.ts");
    onStop(use.web.mount(channelRoutes(use)));
  },
});
