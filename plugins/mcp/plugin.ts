/** The MCP channel: our tools, the agent, skills, memory and files for any MCP host. Mounted on the gateway. */
import { definePlugin, Off } from "../../kernel/plugin.ts";
import type { Endpoint } from "./http/endpoint.ts";
import { readSettings, SERVICES, WANTED } from "./parts.ts";

const PATH = "/mcp";

export default definePlugin({
  name: "mcp",
  kind: "channel",
  needs: ["web", ...SERVICES],
  wants: WANTED,
  configure(env) {
    const isOn = env.flag("MCP_ENABLED", true, "The MCP server on the gateway, at /mcp");
    const config = readSettings(env);
    return isOn ? config : new Off("MCP_ENABLED is false");
  },

  start({ config, use, log, onStop, onDrain, announce }) {
    const { web, kernel, store } = use;
    const page = config.url === undefined ? web.url : new URL(config.url).origin;
    let opened: Promise<Endpoint> | undefined;
    async function open(): Promise<Endpoint> {
      const [{ createEndpoint }, { createServers }] = await Promise.all([
        import("./http/endpoint.ts"),
        import("./server/server.ts"),
      ]);
      const servers = await createServers({ ...use, ...config, log, version: kernel.version, page });
      return createEndpoint({ servers, store, log });
    }
    /** Opened with the first request, since the protocol's packages are large, and again after a failure. */
    function endpoint(): Promise<Endpoint> {
      opened ??= open();
      opened.catch(() => {
        opened = undefined;
      });
      return opened;
    }
    onStop(async () => void (await (await opened?.catch(() => undefined))?.close()));
    onDrain(async () => void (await (await opened?.catch(() => undefined))?.drain()));
    const unmount = web.mountProtocol({
      path: PATH,
      title: "Postern",
      resource: config.url,
      scoped: true,
      handle: async (request, response, user) => (await endpoint()).handle(request, response, user),
    });
    onStop(unmount);
    announce(web.url + PATH);
  },
  operations: {
    commands: [
      {
        name: "mcp",
        group: "Tools",
        about: "serve tools, the agent, skills and memory to an MCP host on standard input and output",
        everyPlugin: true,
        load: async () => (await import("./stdio.ts")).register,
      },
    ],
    async tables() {
      const [tasks, states] = await Promise.all([
        import("./tasks/rows.ts"),
        import("./elicitation/used-states.ts"),
      ]);
      return [
        {
          owner: tasks.OWNER,
          migrations: tasks.MIGRATIONS,
          personal: ["mcp_tasks"],
          keeps: tasks.KEEPS,
        },
        { owner: states.OWNER, migrations: states.MIGRATIONS },
      ];
    },
  },
});
