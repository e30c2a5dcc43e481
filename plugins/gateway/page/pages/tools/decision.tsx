import { attempt } from "../../state/app.ts";
import { ask } from "../../state/wire.ts";

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
  const change = async (work: () => Promise<unknown>) => {
    await attempt(work);
    onChanged();
  };
  const decide = (decision: "allow" | "deny") => change(() => ask("PUT", path, { decision, fingerprint }));
  if (remembered)
    return (
      <span class="row">
        {remembered === "allow" ? "Always allowed by you." : "Always denied by you."}
        <button type="button" onClick={() => void change(() => ask("DELETE", path))}>
          Ask again
        </button>
      </span>
    );
  if (!asks) return null;
  return (
    <span class="row">
      It asks before it runs.
      <button type="button" aria-label={`Always allow ${name}`} onClick={() => void decide("allow")}>
        Always allow
      </button>
      <button type="button" aria-label={`Always deny ${name}`} onClick={() => void decide("deny")}>
        Always deny
      </button>
    </span>
  );
}
