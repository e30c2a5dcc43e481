/** The API of memory, whichever plugin provides it. */
import { definePlugin } from "../../../kernel/plugin.ts";

export default definePlugin({
  name: "memory-routes",
  kind: "part",
  needs: ["memory", "web"],
  configure: () => ({}),
  async start({ use, onStop }) {
    const { memoryRoutes } = await import("./memory.ts");
    onStop(use.web.mount(memoryRoutes(use)));
  },
});
