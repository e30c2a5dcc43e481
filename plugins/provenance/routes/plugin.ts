/** The API of trusted destinations. Without provenance it says that it is off. */
import { definePlugin } from "../../../kernel/plugin.ts";

export default definePlugin({
  name: "provenance-routes",
  kind: "part",
  needs: ["web"],
  wants: ["destinations"],
  configure: () => ({}),
  async start({ use, onStop }) {
    const { destinationRoutes } = await import("./destinations.ts");
    onStop(use.web.mount(destinationRoutes(use)));
  },
});
