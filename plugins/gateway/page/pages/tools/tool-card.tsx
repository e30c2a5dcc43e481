import { useEffect, useState } from "preact/hooks";
import { attempt } from "../../state/app.ts";
import { ask, type Tool, type ToolLimits } from "../../state/wire.ts";
import { confirmed } from "../../widgets/dialog.tsx";
import { Grants } from "../../widgets/grants.tsx";
import { Decision } from "./decision.tsx";
import { Receipts } from "./receipts.tsx";
import { ToolSetup } from "./tool-setup.tsx";

interface ToolCardProps {
  readonly tool: Tool;
  readonly remembered: "allow" | "deny" | undefined;
  readonly isOperator: boolean;
  onChanged(): void;
}

/** An installed tool: what it may do, what it needs, and the remembered decision. */
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

/** How much of a tool's rate limit is used up. */
function LimitsLeft({ tool }: { tool: string }) {
  const [limits, setLimits] = useState<ToolLimits | null>(null);
  useEffect(() => {
    void attempt(() => ask<{ limits: ToolLimits | null }>("GET", `/api/tools/${tool}/limits`)).then((found) =>
      setLimits(found?.limits ?? null),
    );
  }, [tool]);
  if (!limits) return null;
  const { limit, window_secs: window, remaining, reset_secs: seconds } = limits;
  return (
    <span class="soft">
      {limit - remaining} of {limit} requests per {window === 3600 ? "hour" : "minute"} used
      {remaining === limit ? "" : `; ${remaining === 0 ? "next request" : "one more"} in ${seconds} s`}.
    </span>
  );
}

interface SwitchedOffProps {
  tool: Tool;
  isOperator: boolean;
  onEnabled(): void;
}

/** Why a tool is switched off, and a button for operators to switch it on. */
function SwitchedOff({ tool: { name, switched_off: off }, isOperator, onEnabled }: SwitchedOffProps) {
  if (!off) return null;
  const enable = async () => {
    await attempt(() => ask("POST", `/api/tools/${name}/enable`));
    onEnabled();
  };
  return (
    <section class="trouble" aria-label={`${name} is switched off`}>
      <span>
        Switched off since <time dateTime={off.at}>{new Date(off.at).toLocaleString()}</time>. {off.why}
      </span>
      {isOperator ? (
        <span class="row">
          <button type="button" onClick={() => void enable()}>
            Switch on
          </button>
        </span>
      ) : (
        <span class="soft">The operator can switch it on again.</span>
      )}
    </section>
  );
}
