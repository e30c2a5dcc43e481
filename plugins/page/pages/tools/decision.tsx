import { changeThen } from "../../state/app.ts";
import { text } from "../../text/text.ts";
import { Button } from "../../widgets/controls.tsx";

export type Remembered = Readonly<Record<string, "allow" | "deny">>;

interface DecisionProps {
  readonly tool: { readonly name: string; readonly fingerprint?: string };
  readonly asks: boolean;
  readonly remembered: "allow" | "deny" | undefined;
  onChanged(): void;
}

/** The remembered decision on a tool, with buttons to make or forget it. */
export function Decision({ tool: { name, fingerprint }, asks, remembered, onChanged }: DecisionProps) {
  const path = `/api/approvals/remembered/${name}`;
  const change = changeThen(onChanged);
  const decide = (decision: "allow" | "deny") => change("PUT", path, { decision, fingerprint });
  if (remembered)
    return (
      <span class="row">
        {text.tools.always[remembered]}
        <Button label={text.tools.askAgain} class="small" onClick={() => change("DELETE", path)} />
      </span>
    );
  if (!asks) return null;
  return (
    <span class="row">
      {text.tools.itAsks}
      <Button
        label={text.tools.alwaysAllow}
        class="small"
        aria-label={text.tools.alwaysAllowTool(name)}
        onClick={() => decide("allow")}
      />
      <Button
        label={text.tools.alwaysDeny}
        class="small"
        aria-label={text.tools.alwaysDenyTool(name)}
        onClick={() => decide("deny")}
      />
    </span>
  );
}
