/** The API of skills, whichever plugin provides them. */
import { definePlugin } from "../../../kernel/plugin.ts";

export default definePlugin({
  name: "home-routes",
  kind: "part",
  needs: ["web"],
  wants: ["skills", "addedSkills"],
  configure: () => ({}),
  async start({ use, onStop }) {
    const { skillRoutes } = await import("./skills.ts");
    onStop(use.web.mount(skillRoutes(use)));
  },
});
