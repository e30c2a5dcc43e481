import { useEffect, useState } from "preact/hooks";
import { attempt } from "../../../state/app.ts";
import { ask, type McpServer, type Tool } from "../../../state/wire.ts";
import type { Remembered } from "../decision.tsx";
import { AddServer } from "./add-server.tsx";
import { ServerCard } from "./server-card.tsx";

interface ServersProps {
  readonly tools: readonly Tool[];
  readonly remembered: Remembered;
  readonly isOperator: boolean;
  /** Called when the tools may have changed. */
  onChanged(): void;
  /** Called when the servers are shown. */
  onLoaded(): void;
}

/** The MCP servers whose tools the agent may use. */
export function Servers({ isOperator, onChanged, onLoaded, ...rest }: ServersProps) {
  const [servers, setServers] = useState<readonly McpServer[]>([]);
  const load = async () => {
    const found = await attempt(() => ask<{ servers: readonly McpServer[] }>("GET", "/api/mcp/servers"));
    if (found) setServers(found.servers);
    onLoaded();
  };
  useEffect(() => void load(), []);
  const changed = () => {
    void load();
    onChanged();
  };
  if (servers.length === 0 && !isOperator) return null;
  return (
    <>
      <h2>MCP servers</h2>
      {isOperator && <AddServer onAdded={changed} />}
      {servers.map((server) => (
        <ServerCard key={server.name} server={server} isOperator={isOperator} onChanged={changed} {...rest} />
      ))}
    </>
  );
}
