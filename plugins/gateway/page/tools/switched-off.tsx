import { attempt } from "../state/app.ts";
import { ask, type Tool } from "../state/wire.ts";

interface SwitchedOffProps {
  tool: Tool;
  isOperator: boolean;
  onEnabled(): void;
}

/** Why calls of a tool are refused, and the way back for whoever may take it. */
export function SwitchedOff({ tool: { name, switched_off: off }, isOperator, onEnabled }: SwitchedOffProps) {
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
