/** The API of settings. */
import { definePlugin } from "../../../kernel/plugin.ts";

export default definePlugin({
  name: "store-routes",
  kind: "part",
  needs: ["settings", "web"],
  configure: () => ({}),
  async start({ use, onStop }) {
    const { settingRoutes } = await import("./settings.ts");
    onStop(use.web.mount(settingRoutes(use)));
  },
});
