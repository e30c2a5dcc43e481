/** The API of jobs and routines, whichever plugin provides them. */
import { definePlugin } from "../../../kernel/plugin.ts";

export default definePlugin({
  name: "jobs-routes",
  kind: "part",
  needs: ["accounts", "agent", "jobs", "routines", "web"],
  configure: () => ({}),
  async start({ use, onStop }) {
    const { jobRoutes } = await import("./jobs.ts");
    const { routineRoutes } = await import("./routines.ts");
    onStop(use.web.mount([...jobRoutes(use), ...routineRoutes(use)]));
  },
});
