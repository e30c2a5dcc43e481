/** The API of tasks. Without delegation it says that it is off. */
import { definePlugin } from "../../../kernel/plugin.ts";

export default definePlugin({
  name: "delegation-routes",
  kind: "part",
  needs: ["web"],
  wants: ["tasks"],
  configure: () => ({}),
  async start({ use, onStop }) {
    const { taskRoutes } = await import("./tasks.ts");
    onStop(use.web.mount(taskRoutes(use)));
  },
});
