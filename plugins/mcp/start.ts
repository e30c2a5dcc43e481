/** The channel on the gateway. The protocol's packages are large: they are loaded with the first request. */
import type { StartContext } from "../../kernel/plugin.ts";
import type { Endpoint } from "./http/endpoint.ts";
import type { ChannelSettings } from "./settings.ts";

const PATH = "/mcp";

type Needed =
  | "web"
  | "agent"
  | "threads"
  | "toolCalls"
  | "memory"
  | "skills"
  | "approvals"
  | "store"
  | "kernel";

export function startChannel({
  config,
  use,
  log,
  onStop,
  onDrain,
  announce,
}: StartContext<ChannelSettings, Needed, "mcpOffers">): void {
  const { web, kernel } = use;
  let opened: Promise<Endpoint> | undefined;
  const page = config.url === undefined ? web.url : new URL(config.url).origin;
  const open = (): Promise<Endpoint> => {
    opened ??= Promise.all([import("./http/endpoint.ts"), import("./server.ts")]).then(
      async ([{ createEndpoint }, { createServers }]) => {
        const servers = await createServers({ ...use, ...config, log, version: kernel.version, page });
        return createEndpoint({ servers, store: use.store, log });
      },
    );
    // What stopped it from opening may be fixed while the service runs.
    opened.catch(() => {
      opened = undefined;
    });
    return opened;
  };
  onStop(async () => void (await (await opened?.catch(() => undefined))?.close()));
  onDrain(async () => void (await (await opened?.catch(() => undefined))?.drain()));
  web.mountProtocol({
    path: PATH,
    title: "Postern",
    ...(config.url !== undefined && { resource: config.url }),
    handle: async (request, response, user) => (await open()).handle(request, response, user),
  });
  announce(web.url + PATH);
}
