/** The API of skills, whichever plugin provides them. */
import { createTextThreads } from "../../../kernel/kit/concurrency.ts";
import { definePlugin } from "../../../kernel/plugin.ts";

export default definePlugin({
  name: "home-routes",
  kind: "part",
  needs: ["web"],
  wants: ["skills", "addedSkills", "packages", "tools"],
  configure: () => ({}),
  async start({ use, onStop }) {
    const { skillRoutes } = await import("./skills.ts");
    const { skillChangeRoutes } = await import("./skill-changes.ts");
    const threads = createTextThreads();
    onStop(threads.close);
    onStop(use.web.mount([...skillRoutes(use), ...skillChangeRoutes(use, threads)]));
  },
});
