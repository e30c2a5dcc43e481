/** The MCP channel: our tools, the agent, skills and memory for any MCP host. Mounted on the gateway. */
import { definePlugin, Off } from "../../kernel/plugin.ts";
import { SERVICES } from "./parts.ts";
import { readSettings } from "./settings.ts";

export default definePlugin({
  name: "mcp",
  kind: "channel",
  needs: ["web", ...SERVICES],
  wants: ["mcpOffers"],
  commands: [
    {
      name: "mcp",
      about: "serve tools, the agent, skills and memory to an MCP host on standard input and output",
      everyPlugin: true,
      load: async () => (await import("./stdio.ts")).register,
    },
  ],
  tables: async () => (await import("./owned-tables.ts")).TABLES,
  configure(env) {
    const isOn = env.flag("MCP_ENABLED", true, "The MCP server on the gateway, at /mcp");
    const config = readSettings(env);
    return isOn ? config : new Off("MCP_ENABLED is false");
  },
  start: async (context) => (await import("./start.ts")).startChannel(context),
});
