import { useEffect, useState } from "preact/hooks";
import { attempt } from "../app.ts";
import { Bar } from "../frame/bar.tsx";
import { useApp } from "../use-app.ts";
import { ask, type Tool } from "../wire.ts";
import { Grants } from "./grants.tsx";
import { InstallTool } from "./install-tool.tsx";
import { LimitsLeft } from "./limits-left.tsx";
import { Receipts } from "./receipts.tsx";
import { SwitchedOff } from "./switched-off.tsx";
import { ToolSetup } from "./tool-setup.tsx";

type Remembered = Readonly<Record<string, "allow" | "deny">>;

export function ToolsPage() {
  const { user } = useApp();
  const [tools, setTools] = useState<readonly Tool[]>();
  const [remembered, setRemembered] = useState<Remembered>({});
  const isOperator = user?.role === "operator";

  const load = async () => {
    const found = await attempt(() => ask<{ tools: readonly Tool[] }>("GET", "/api/tools"));
    const approvals = await attempt(() => ask<{ remembered: Remembered }>("GET", "/api/approvals"));
    if (found) setTools(found.tools);
    if (approvals) setRemembered(approvals.remembered);
  };
  useEffect(() => void load(), []);
  const forget = async (tool: string) => {
    await attempt(() => ask("DELETE", `/api/approvals/remembered/${tool}`));
    await load();
  };
  const remove = async (tool: string) => {
    if (!confirm(`Remove ${tool}? Its secrets stay, in case you install it again.`)) return;
    await attempt(() => ask("DELETE", `/api/tools/${tool}`));
    await load();
  };

  return (
    <>
      <Bar title="Tools" />
      <div class="page">
        <div>
          {isOperator && <InstallTool onInstalled={() => void load()} />}
          {tools?.length === 0 && <p class="soft">No tools are installed.</p>}
          {tools?.map((tool) => (
            <article class="card" key={tool.name}>
              <h2>
                {tool.name} <span class="tag">{tool.version}</span>
                {tool.switched_off && <span class="tag failed">switched off</span>}
                {tool.writes && <span class="tag">asks before it runs</span>}
              </h2>
              <p class="soft">{tool.description}</p>
              <SwitchedOff tool={tool} isOperator={isOperator} onEnabled={() => void load()} />
              <Grants of={tool.grants} />
              <LimitsLeft tool={tool.name} />
              {remembered[tool.name] && (
                <span class="row">
                  {remembered[tool.name] === "allow" ? "Always allowed by you." : "Always denied by you."}
                  <button type="button" onClick={() => void forget(tool.name)}>
                    Ask again
                  </button>
                </span>
              )}
              {isOperator && <ToolSetup tool={tool.name} />}
              <Receipts tool={tool.name} />
              {isOperator && (
                <span class="row">
                  <button type="button" class="danger" onClick={() => void remove(tool.name)}>
                    Remove {tool.name}
                  </button>
                </span>
              )}
            </article>
          ))}
        </div>
      </div>
    </>
  );
}
