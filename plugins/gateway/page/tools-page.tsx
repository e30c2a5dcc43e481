import { useEffect, useState } from "preact/hooks";
import { attempt } from "./app.ts";
import { Bar } from "./bar.tsx";
import { ask } from "./wire.ts";

interface Tool {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly grants: readonly string[];
  readonly writes: boolean;
}

interface Approvals {
  readonly remembered: Readonly<Record<string, "allow" | "deny">>;
}

export function ToolsPage() {
  const [tools, setTools] = useState<readonly Tool[]>();
  const [remembered, setRemembered] = useState<Approvals["remembered"]>({});

  const load = async () => {
    const found = await attempt(() => ask<{ tools: readonly Tool[] }>("GET", "/api/tools"));
    const approvals = await attempt(() => ask<Approvals>("GET", "/api/approvals"));
    if (found) setTools(found.tools);
    if (approvals) setRemembered(approvals.remembered);
  };
  useEffect(() => void load(), []);
  const forget = async (tool: string) => {
    await attempt(() => ask("DELETE", `/api/approvals/remembered/${tool}`));
    await load();
  };

  return (
    <>
      <Bar title="Tools" />
      <div class="page">
        <div>
          {tools?.length === 0 && (
            <p class="soft">No tools are installed. “postern tool install” adds one.</p>
          )}
          {tools?.map((tool) => (
            <article class="card" key={tool.name}>
              <h2>
                {tool.name} <span class="tag">{tool.version}</span>
                {tool.writes && <span class="tag">asks before it runs</span>}
              </h2>
              <span class="soft">{tool.description}</span>
              {tool.grants.length === 0 ? (
                <span>May do nothing outside its sandbox.</span>
              ) : (
                <ul>
                  {tool.grants.map((grant) => (
                    <li key={grant}>{grant}</li>
                  ))}
                </ul>
              )}
              {remembered[tool.name] && (
                <span class="row">
                  {remembered[tool.name] === "allow" ? "Always allowed by you." : "Always denied by you."}
                  <button type="button" onClick={() => void forget(tool.name)}>
                    Ask again
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
