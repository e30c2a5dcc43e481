/** The API of the agent: chat, threads, attachments, approvals, usage, and the socket that streams turns. */
import { definePlugin } from "../../../kernel/plugin.ts";

export default definePlugin({
  name: "agent-routes",
  kind: "part",
  needs: [
    "agent",
    "threads",
    "attachments",
    "approvals",
    "identities",
    "store",
    "storage",
    "settings",
    "web",
  ],
  wants: ["tools", "toolAdmin", "telemetry"],
  configure: () => ({}),
  start: async (context) => (await import("./start.ts")).startRoutes(context),
});
