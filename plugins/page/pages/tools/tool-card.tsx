import { changeThen, findQuietly } from "../../state/app.ts";
import { useLoaded } from "../../state/use-app.ts";
import type { Setup, Tool, ToolLimits } from "../../state/wire.ts";
import { text } from "../../text/text.ts";
import { CompactCard } from "../../widgets/card.tsx";
import { Button } from "../../widgets/controls.tsx";
import { confirmed } from "../../widgets/dialog.tsx";
import { Grants } from "../../widgets/grants.tsx";
import { toast } from "../../widgets/toast.tsx";
import { missingIn, setupPath, ToolSetup } from "../../widgets/tool-setup.tsx";
import { Decision } from "./decision.tsx";
import { Receipts } from "./receipts.tsx";
import { iconOf, plainName } from "./tool-names.ts";

const words = text.tools;

interface ToolCardProps {
  readonly tool: Tool;
  readonly remembered: "allow" | "deny" | undefined;
  readonly isOperator: boolean;
  /** True if the address names it. */
  readonly isShown: boolean;
  onChanged(): void;
}

/** An installed tool on one line; below it what it may do, what it needs, and the remembered decision. */
export function ToolCard({ tool, remembered, isOperator, isShown, onChanged }: ToolCardProps) {
  const { name, origin } = tool;
  const change = changeThen(onChanged);
  // Only the operator may give what all users share; everyone may give their own.
  const [own, loadOwn] = useLoaded<Setup>(`${setupPath(name, true)}/setup`, findQuietly);
  const [setup, load] = useLoaded<Setup>(
    `${setupPath(name, false)}/setup`,
    isOperator ? findQuietly : nothing,
  );
  const missing = own ? missingIn(own) : [];
  const loadAll = async () => {
    await Promise.all([load(), loadOwn()]);
  };
  const remove = async () => {
    const question = { title: words.removeTitle(name), words: words.removeWords, yes: text.basics.remove };
    if (!(await confirmed({ ...question, danger: true }))) return;
    if (await change("DELETE", `/api/tools/${name}`)) toast(words.removed(name));
  };
  const enable = async () => {
    if (await change("POST", `/api/tools/${name}/enable`)) toast(words.switchedOn(name));
  };
  return (
    <CompactCard
      id={`tool-${name}`}
      label={name}
      isOpen={isShown}
      title={plainName(name)}
      icon={iconOf(name)}
      note={tool.description}
      tags={
        <>
          <code class="soft">{name}</code>
          <span class="tag">{tool.version}</span>
          {tool.switched_off && <span class="tag failed">{words.switchedOff}</span>}
          {missing.length > 0 && <span class="tag waiting">{words.needs(missing)}</span>}
          {tool.writes && !remembered && <span class="tag">{words.asks}</span>}
        </>
      }
      warning={<SwitchedOff tool={tool} isOperator={isOperator} onEnable={enable} />}
    >
      {missing.length > 0 && <p class="soft">{words.needsWords}</p>}
      <Grants of={tool.grants} />
      <LimitsLeft tool={name} />
      {origin && (
        <p class="soft">
          {origin.signer ? words.signedBy(origin.reference, origin.signer) : words.from(origin.reference)}
        </p>
      )}
      <Decision tool={tool} asks={tool.writes} remembered={remembered} onChanged={onChanged} />
      {setup && <ToolSetup tool={name} isOwn={false} setup={setup} load={loadAll} />}
      {own && <ToolSetup tool={name} isOwn setup={own} load={loadAll} />}
      <Receipts tool={name} />
      {isOperator && (
        <span class="row">
          <Button label={words.removeTool(name)} class="small danger" onClick={remove} />
        </span>
      )}
    </CompactCard>
  );
}

const nothing = async () => undefined;

/** How much of a tool's rate limit is used up. */
function LimitsLeft({ tool }: { tool: string }) {
  const [{ limits } = {}] = useLoaded<{ limits: ToolLimits | null }>(`/api/tools/${tool}/limits`);
  if (!limits) return null;
  const { limit, window_secs: window, remaining, reset_secs: seconds } = limits;
  const used = words.limit(limit - remaining, limit, window === 3600);
  const next = remaining === 0 ? words.nextIn(seconds) : words.oneMoreIn(seconds);
  return <span class="soft">{remaining === limit ? `${used}.` : `${used}; ${next}.`}</span>;
}

interface SwitchedOffProps {
  tool: Tool;
  isOperator: boolean;
  onEnable(): unknown;
}

/** Why a tool is switched off, and a button for operators to switch it on. */
function SwitchedOff({ tool: { name, switched_off: off }, isOperator, onEnable }: SwitchedOffProps) {
  if (!off) return null;
  return (
    <section class="trouble" aria-label={words.offTitle(name)}>
      <span>{words.offSince(off.at, off.why)}</span>
      {isOperator ? (
        <span class="row">
          <Button label={words.switchOn} onClick={onEnable} />
        </span>
      ) : (
        <span class="soft">{words.offForUser}</span>
      )}
    </section>
  );
}
