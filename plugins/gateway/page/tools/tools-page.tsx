import { useEffect, useState } from "preact/hooks";
import { Bar } from "../frame/bar.tsx";
import { attempt } from "../state/app.ts";
import { useApp } from "../state/use-app.ts";
import { ask, type Tool } from "../state/wire.ts";
import type { Remembered } from "./decision.tsx";
import { Destinations } from "./destinations.tsx";
import { FindTool } from "./find-tool.tsx";
import { InstallTool } from "./install-tool.tsx";
import { Servers } from "./servers/servers.tsx";
import { ToolCard } from "./tool-card.tsx";

/** `shown`: the tool that a link leads to. */
export function ToolsPage({ shown }: { shown: string | undefined }) {
  const { user } = useApp();
  const [tools, setTools] = useState<readonly Tool[]>();
  const [remembered, setRemembered] = useState<Remembered>({});
  const [hasServers, setHasServers] = useState(false);
  const isOperator = user?.role === "operator";

  const load = async () => {
    const found = await attempt(() => ask<{ tools: readonly Tool[] }>("GET", "/api/tools"));
    const approvals = await attempt(() => ask<{ remembered: Remembered }>("GET", "/api/approvals"));
    if (approvals) setRemembered(approvals.remembered);
    if (found) setTools(found.tools);
  };
  useEffect(() => void load(), []);
  const isLoaded = tools !== undefined && hasServers;
  useEffect(() => {
    const card = isLoaded && shown ? document.getElementById(`tool-${shown}`) : null;
    card?.scrollIntoView();
    card?.focus();
  }, [isLoaded, shown]);
  const own = tools?.filter(({ server }) => !server);

  return (
    <>
      <Bar title="Tools" />
      <div class="page">
        <div>
          {isOperator && <InstallTool onInstalled={() => void load()} />}
          {isOperator && (
            <FindTool installed={(tools ?? []).map(({ name }) => name)} onInstalled={() => void load()} />
          )}
          {own?.length === 0 && <p class="soft">No tools are installed.</p>}
          {own?.map((tool) => (
            <ToolCard
              key={tool.name}
              tool={tool}
              remembered={remembered[tool.name]}
              isOperator={isOperator}
              onChanged={() => void load()}
            />
          ))}
          <Servers
            tools={tools ?? []}
            remembered={remembered}
            isOperator={isOperator}
            onChanged={() => void load()}
            onLoaded={() => setHasServers(true)}
          />
          <Destinations isOperator={isOperator} />
        </div>
      </div>
    </>
  );
}
