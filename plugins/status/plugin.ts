/** How the service is doing as a whole. It knows many plugins, and none knows it. */
import { definePlugin } from "../../kernel/plugin.ts";

export default definePlugin({
  name: "status",
  kind: "part",
  needs: ["kernel", "store", "agent", "jobs", "web"],
  wants: ["tools", "modelCheck", "storeHealth"],
  configure: () => ({}),
  async start({ use, onStop }) {
    const { statusRoutes } = await import("./status.ts");
    onStop(use.web.mount(statusRoutes(use)));
  },
});
