/** The API of tools, their calls and MCP servers. Without a tool host it says so. */
import { definePlugin } from "../../kernel/plugin.ts";

export default definePlugin({
  name: "tools-routes",
  kind: "part",
  needs: ["web"],
  wants: ["tools", "toolAdmin", "mcpServers"],
  configure: () => ({}),
  async start({ use, onStop }) {
    const { mcpServerRoutes } = await import("./mcp-servers.ts");
    const { toolAdminRoutes } = await import("./tool-admin.ts");
    const { toolRoutes, receiptRoutes } = await import("./tools.ts");
    onStop(
      use.web.mount([
        ...mcpServerRoutes(use),
        ...toolAdminRoutes(use),
        ...toolRoutes(use),
        ...receiptRoutes(use),
      ]),
    );
  },
});
