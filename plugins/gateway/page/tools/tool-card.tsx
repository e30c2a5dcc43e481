import { confirmed } from "../frame/dialog.tsx";
import { attempt } from "../state/app.ts";
import { ask, type Tool } from "../state/wire.ts";
import { Decision } from "./decision.tsx";
import { Grants } from "./grants.tsx";
import { LimitsLeft } from "./limits-left.tsx";
import { Receipts } from "./receipts.tsx";
import { SwitchedOff } from "./switched-off.tsx";
import { ToolSetup } from "./tool-setup.tsx";

interface ToolCardProps {
  readonly tool: Tool;
  readonly remembered: "allow" | "deny" | undefined;
  readonly isOperator: boolean;
  onChanged(): void;
}

/** An installed tool: what it may do, what it needs, and what was decided on it. */
export function ToolCard({ tool, remembered, isOperator, onChanged }: ToolCardProps) {
  const { name } = tool;
  const remove = async () => {
    const words = "Its secrets stay, in case you install it again.";
    if (!(await confirmed({ title: `Remove ${name}?`, words, yes: "Remove", danger: true }))) return;
    await attempt(() => ask("DELETE", `/api/tools/${name}`));
    onChanged();
  };
  return (
    <article class="card" id={`tool-${name}`} aria-label={name} tabIndex={-1}>
      <h2>
        {name} <span class="tag">{tool.version}</span>
        {tool.switched_off && <span class="tag failed">switched off</span>}
        {tool.writes && !remembered && <span class="tag">asks before it runs</span>}
      </h2>
      <p class="soft">{tool.description}</p>
      <SwitchedOff tool={tool} isOperator={isOperator} onEnabled={onChanged} />
      {tool.origin && (
        <p class="soft">
          From {tool.origin.reference}
          {tool.origin.signer ? `, signed by ${tool.origin.signer}` : ""}
        </p>
      )}
      <Grants of={tool.grants} />
      <LimitsLeft tool={name} />
      <Decision tool={tool} asks={tool.writes} remembered={remembered} onChanged={onChanged} />
      {isOperator && <ToolSetup tool={name} />}
      <Receipts tool={name} />
      {isOperator && (
        <span class="row">
          <button type="button" class="danger" onClick={() => void remove()}>
            Remove {name}
          </button>
        </span>
      )}
    </article>
  );
}
