/** The API of files, whichever plugin provides them. Without a workspace it says that it is off. */
import { createTextThreads } from "../../../kernel/kit/concurrency.ts";
import { definePlugin } from "../../../kernel/plugin.ts";

export default definePlugin({
  name: "workspace-routes",
  kind: "part",
  needs: ["attachments", "web"],
  wants: ["workspace"],
  configure: () => ({}),
  async start({ use, onStop }) {
    const { workspaceRoutes } = await import("./files.ts");
    const threads = createTextThreads();
    onStop(threads.close);
    onStop(use.web.mount(workspaceRoutes({ ...use, threads })));
  },
});
